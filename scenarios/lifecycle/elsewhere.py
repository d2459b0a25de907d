"""Trials that were held elsewhere: they come with their end, and no lane ever takes them."""

from typing import Any

from scenarios.lifecycle.withdrawal import status_of
from scenarios.models import Run, Trial
from scenarios.scoring.results import Outcome


def held_elsewhere(run: Run, scenario_id: int, number: int, outcome: Outcome, reason: str, **facts: Any) -> Trial:
    """Return an unsaved trial that has ended with an outcome that others gave it; ``facts`` are columns of its own."""
    return Trial(
        run=run,
        scenario_id=scenario_id,
        number=number,
        status=status_of(outcome),
        outcome=outcome,
        other_outcome=outcome,
        outcome_reason=reason[:300],
        attempts=1,
        **facts,
    )
