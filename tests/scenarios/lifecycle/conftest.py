"""Events and claims for tests of the lifecycle."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from scenarios import lifecycle
from scenarios.lifecycle import Claim, NewEvent
from scenarios.models import Trial, TrialEvent
from scenarios.scoring.results import Decision, Outcome


def event(seq: int, kind: str = "note", side: str = "", data: dict[str, Any] | None = None) -> NewEvent:
    return NewEvent(seq=seq, at_ms=10 * seq, kind=kind, side=side, data=data or {}, created_at=timezone.now())


def decision(outcome: Outcome = "pass", **fields: Any) -> Decision:
    passed = ["clean_exit"] if outcome == "pass" else []
    defaults: dict[str, Any] = {
        "reason": f"it is {outcome}",
        "success_breakdown": {"passed": passed, "failed": [], "not_applicable": [], "excluded": [], "undecided": []},
        "is_successful": outcome == "pass",
        "is_task_successful": outcome == "pass",
        "by_inaction": False,
        "insufficient_agent_turns": False,
    }
    return Decision(outcome=outcome, **{**defaults, **fields})


def silence(*trial_ids: int, seconds: float = lifecycle.LEASE_S + 1) -> None:
    """Let the lanes of these trials have been silent for so long."""
    Trial.objects.filter(pk__in=trial_ids).update(heartbeat_at=timezone.now() - timedelta(seconds=seconds))


def sequence(trial_id: int) -> list[int]:
    return list(TrialEvent.objects.filter(trial=trial_id).order_by("seq").values_list("seq", flat=True))


def kinds(trial_id: int) -> list[str]:
    return list(TrialEvent.objects.filter(trial=trial_id).order_by("seq").values_list("kind", flat=True))


@pytest.fixture
def take(db: None) -> Callable[[], Claim]:
    """Return a claimer of exactly one trial."""

    def claim_one() -> Claim:
        (claim,) = lifecycle.claim(1)
        return claim

    return claim_one
