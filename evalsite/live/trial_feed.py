"""Calls as they happen: each watched trial's events past each viewer's last one, in order and without a gap."""

import logging
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Q

from evalsite.live.fragments import Fragment, fragment
from evalsite.live.hub import Viewer, message
from evalsite.reviewed import newest_reviews
from scenarios.models import Trial, TrialEvent

log = logging.getLogger(__name__)

# Rows that one viewer gets in one tick: a late one catches up in steps and does not hold up the others.
STEP = 200
# Characters of rows in one message; a row alone is far below that, since long values come on demand.
MESSAGE_SIZE = 256_000
# Rendered rows kept for viewers that join a moment later.
REMEMBERED = 2_000
# How often calls that have ended are looked at for new reviews.
REVIEWS_S = 0.5
# One writer numbers a trial's events, so a hole is a batch that is being committed; after this long it is a loss.
GAP_S = 2.0


class State(NamedTuple):
    """What a page says above the transcript."""

    status: str
    outcome: str
    reason: str
    last_seq: int
    # The newest ruling of a person on a claim of a call that has ended; 0: none.
    reviewed: int = 0

    @property
    def is_ended(self) -> bool:
        return self.status in Trial.ENDED


@dataclass(frozen=True)
class Batch:
    """Rows after some seq as one message; the same text goes to everybody who stands there."""

    text: str
    last: int


class TrialFeed:
    """Watches the trials that somebody looks at: two queries a tick for all of them.

    Of those that have ended it also asks, every ``REVIEWS_S``, whether somebody has ruled on their claims since.
    """

    period_s = 0.0

    def __init__(self) -> None:
        self._reviewed: dict[int, int] = {}
        self._asked_at = -REVIEWS_S
        self._rendered: OrderedDict[tuple[int, int], Fragment] = OrderedDict()
        self._holes: dict[tuple[int, int], float] = {}

    def poll(self, viewers: Sequence[Viewer]) -> None:
        """Push new events, then what became of the trial."""
        states = self.states({viewer.subject for viewer in viewers})
        behind = {
            (viewer.subject, viewer.sent)
            for viewer in viewers
            if viewer.subject in states and viewer.sent < states[viewer.subject].last_seq and not viewer.is_full
        }
        batches = self._read(behind) if behind else {}
        for viewer in viewers:
            batch = batches.get((viewer.subject, viewer.sent))
            if batch is not None and not viewer.is_full:
                viewer.push(batch.text)
                viewer.sent = batch.last
            tell_state(viewer, states.get(viewer.subject))

    def states(self, trials: Iterable[int]) -> dict[int, State]:
        """Return the state of each trial that exists."""
        states = read_states(set(trials))
        ended = {pk for pk, state in states.items() if state.is_ended}
        now = time.monotonic()
        if ended - self._reviewed.keys() or (ended and now > self._asked_at + REVIEWS_S):
            self._reviewed, self._asked_at = dict.fromkeys(ended, 0) | newest_reviews(ended), now
        return {
            pk: state._replace(reviewed=self._reviewed[pk]) if pk in ended else state for pk, state in states.items()
        }

    def _read(self, behind: set[tuple[int, int]]) -> dict[tuple[int, int], Batch]:
        wanted = Q()
        for trial, sent in behind:
            wanted |= Q(trial_id=trial, seq__gt=sent, seq__lte=sent + STEP)
        events: dict[int, list[TrialEvent]] = {}
        for event in TrialEvent.objects.filter(wanted).order_by("trial_id", "seq"):
            events.setdefault(event.trial_id, []).append(event)
        batches = {}
        for trial, sent in behind:
            rows = self._unbroken(trial, sent, [event for event in events.get(trial, []) if event.seq > sent][:STEP])
            if rows:
                fragments = self._fragments(rows)
                content: dict[str, Any] = {"rows": fragments}
                if rows[0].seq > sent + 1:
                    content["lost"] = rows[0].seq - 1
                batches[trial, sent] = Batch(message("events", **content), fragments[-1]["seq"])
        return batches

    def _fragments(self, rows: Iterable[TrialEvent]) -> list[Fragment]:
        """Return as many rows as one message takes, at least one."""
        fragments: list[Fragment] = []
        size = 0
        for event in rows:
            rendered = self._fragment(event)
            size += len(rendered["html"]) + len(rendered["mark"])
            if fragments and size > MESSAGE_SIZE:
                break
            fragments.append(rendered)
        return fragments

    def _unbroken(self, trial: int, sent: int, rows: Iterable[TrialEvent]) -> list[TrialEvent]:
        """Return the rows up to the first hole; a hole that stays is passed over, and said so in the log."""
        unbroken: list[TrialEvent] = []
        for event in rows:
            before = unbroken[-1].seq if unbroken else sent
            if event.seq != before + 1:
                if unbroken or time.monotonic() < self._holes.setdefault((trial, sent), time.monotonic() + GAP_S):
                    break
                log.warning("events %d to %d of trial %d are missing", before + 1, event.seq - 1, trial)
            unbroken.append(event)
        if unbroken:
            self._holes.pop((trial, sent), None)
        return unbroken

    def _fragment(self, event: TrialEvent) -> Fragment:
        key = (event.trial_id, event.seq)
        if key not in self._rendered:
            self._rendered[key] = fragment(event)
            if len(self._rendered) > REMEMBERED:
                self._rendered.popitem(last=False)
        return self._rendered[key]


def read_states(trials: set[int]) -> dict[int, State]:
    """Return the state of each trial that exists."""
    rows = Trial.objects.filter(pk__in=trials).values_list("pk", "status", "outcome", "outcome_reason", "last_seq")
    return {pk: State(status, outcome, reason, last) for pk, status, outcome, reason, last in rows}


def tell_state(viewer: Viewer, state: State | None) -> None:
    """Tell a viewer of a changed status once; of the end only when it has every event."""
    if state is None:
        if viewer.told != "gone":
            viewer.push(message("gone"))
            viewer.told = "gone"
        return
    if state.is_ended and viewer.sent < state.last_seq:
        return
    told = (state.status, state.outcome, state.reason, state.reviewed)
    if viewer.told != told:
        viewer.push(
            message(
                "state",
                status=state.status,
                outcome=state.outcome,
                reason=state.reason,
                ended=state.is_ended,
                last_seq=state.last_seq,
                reviewed=state.reviewed,
            )
        )
        viewer.told = told
