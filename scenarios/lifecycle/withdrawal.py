"""Ending trials that no lane holds: withdrawn, overspent, or out of attempts."""

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from scenarios.events import TrialFinished
from scenarios.lifecycle.record import note
from scenarios.models import Trial
from scenarios.scoring.results import Outcome

STATUS_OF: dict[Outcome, str] = {
    "cancelled": Trial.Status.CANCELLED,
    "over_budget": Trial.Status.CANCELLED,
    "infra_error": Trial.Status.ERROR,
}


def status_of(outcome: Outcome) -> str:
    """Return the final status that goes with an outcome."""
    return STATUS_OF.get(outcome, Trial.Status.DONE)


def end_unheld(trials: QuerySet[Trial], outcome: Outcome, reason: str, **changes: Any) -> int:
    """End waiting trials with an outcome and its event; inside a transaction. Returns how many it ended."""
    waiting = trials.filter(lease=None, status__in=(Trial.Status.QUEUED, Trial.Status.SCORING))
    rows = list(waiting.select_for_update().only("pk", "last_seq").order_by("pk"))
    note(rows, TrialFinished(outcome=outcome, reason=reason))
    waiting.update(
        status=status_of(outcome),
        outcome=outcome,
        other_outcome=outcome,
        outcome_reason=reason[:300],
        ended_at=timezone.now(),
        **changes,
    )
    return len(rows)
