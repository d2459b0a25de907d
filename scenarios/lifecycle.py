"""Every change of a trial's state. The only writer of status, lease, attempts, last_seq and outcome.

``queued -> running -> scoring -> done``; from running or scoring back to queued (lease lost, attempts left), to
cancelled, or to error. All transitions are compare-and-swap updates, so they work alike on SQLite and PostgreSQL, and
two people or two lanes doing the same thing at once is harmless.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from scenarios.models import Run, Trial
from scenarios.scoring.results import Decision, SignalResult

LEASE_S = 30.0
MAX_ATTEMPTS = 3


@dataclass(frozen=True)
class Claim:
    """Ownership of one trial by one lane: everything the lane needs without asking the database again."""

    trial_id: int
    run_id: int
    scenario: str
    number: int
    lease: UUID
    attempt: int
    last_seq: int
    config: Mapping[str, Any]


@dataclass(frozen=True)
class NewEvent:
    """An event that is numbered but not stored yet; has the shape that scoring reads (StoredEvent)."""

    seq: int
    at_ms: int
    kind: str
    side: str  # "" when the event belongs to neither
    data: Mapping[str, Any]
    created_at: datetime


@dataclass
class FlushReport:
    """What a flush found out: leases that are gone, and what people asked for."""

    lost: set[int] = field(default_factory=set)
    cancelled: set[int] = field(default_factory=set)
    hung_up: dict[int, str] = field(default_factory=dict)  # trial id -> username


def claim(lane: UUID, width: int) -> list[Claim]:
    """Take up to ``width`` queued trials, or running ones whose heartbeat is older than the lease.

    Paused and cancelled runs are passed over. A trial that has used up its attempts ends as an error instead.
    """
    raise NotImplementedError


def flush(batches: Mapping[Claim, Sequence[NewEvent]]) -> FlushReport:
    """Append events of all the lane's trials in one transaction fenced by their leases; renew the heartbeats."""
    raise NotImplementedError


def begin_scoring(claim: Claim) -> bool:
    """Move running -> scoring; False when the lease is lost."""
    raise NotImplementedError


def finish(claim: Claim, decision: Decision, results: Sequence[SignalResult], **facts: Any) -> bool:
    """Store signals and verdicts and move to done, all or nothing; False when the lease is lost."""
    raise NotImplementedError


def fail_attempt(claim: Claim, error_kind: str, message: str, *, retry: bool = True) -> bool:
    """Give the trial back to the queue, or end it as ``infra_error`` when its attempts are used up."""
    raise NotImplementedError


def release(claim: Claim) -> None:
    """Give the trial back untouched (site stopping): the attempt does not count."""
    raise NotImplementedError


def cancel_trial(claim: Claim, outcome: str = "cancelled") -> bool:
    """End a running trial that somebody cancelled."""
    raise NotImplementedError


def request_cancel(run: Run, person: Any) -> int:
    """Withdraw queued trials and ask running ones to stop; returns how many were still open. Safe to repeat."""
    raise NotImplementedError


def request_hang_up(trial: Trial, person: Any) -> bool:
    """Ask the lane to end one running call; the call is scored as tainted."""
    raise NotImplementedError


def pause(run: Run) -> None:
    """Claim no more trials of this run; running calls go on to their end."""
    raise NotImplementedError


def resume(run: Run) -> None:
    """Let lanes claim trials of this run again."""
    raise NotImplementedError


def rerun(run: Run, outcomes: Sequence[str]) -> int:
    """Queue ended trials with one of these outcomes again; their record goes on in the same sequence."""
    raise NotImplementedError
