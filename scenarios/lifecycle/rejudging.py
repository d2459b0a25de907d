"""Saving another judge's rulings on a call that has ended: a new scoring beside the old ones, which stay."""

from collections.abc import Sequence

from django.db import transaction

from scenarios.events import Noted, OutcomeRevised
from scenarios.lifecycle.endings import JudgeWork, store_scoring
from scenarios.lifecycle.record import note
from scenarios.lifecycle.rulings import settle
from scenarios.models import Judging, Trial
from scenarios.scoring.results import Decision, SignalResult
from scenarios.storable import storable


def save_rejudged(
    trial_id: int, decision: Decision, results: Sequence[SignalResult], judged: JudgeWork, *, text: str
) -> bool:
    """Add a scoring to an ended call and let it count; people's rulings on its claims hold for it too.

    ``judged`` names its batch. False when the call is not scored any more (somebody holds it again) or the batch's
    ruling on it is stored already, so saving can be repeated. ``text`` is noted in the call's record.
    """
    with transaction.atomic():
        rows = Trial.objects.filter(pk=trial_id)
        trial = rows.select_for_update().get()
        stored = Judging.objects.filter(trial=trial, batch=judged.columns["batch_id"])
        if trial.status != Trial.Status.DONE or stored.exists():
            return False
        store_scoring(trial_id, decision, results, judged)
        rows.update(
            outcome=decision.outcome,
            other_outcome=decision.other_outcome or decision.outcome,
            outcome_reason=storable(decision.reason)[:300],
            judged_outcome="",
            judged_other_outcome="",
            judged_reason="",
            overruled_count=0,
            breakdown=decision.success_breakdown,
            by_inaction=decision.by_inaction,
        )
        note(rows.all(), Noted(level="info", text=text))
        if decision.outcome != trial.outcome:
            note(rows.all(), OutcomeRevised(before=trial.outcome, outcome=decision.outcome, reason=decision.reason))
        settle([trial_id])
    return True
