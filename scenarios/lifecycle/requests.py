"""What people ask for: cancel, hang up, pause, resume, try again, score again. All are safe to repeat."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from scenarios.lifecycle import budget
from scenarios.lifecycle.claims import HELD, Status
from scenarios.lifecycle.withdrawal import end_unheld
from scenarios.models import Run, Trial
from scenarios.scoring.results import OUTCOMES, REPEATABLE

CANCELLED = "cancelled by a person"


def request_cancel(run: Run, person: Any) -> int:
    """Withdraw waiting trials and ask running ones to stop; returns how many were still open.

    Two people at once: the first one's name stays.
    """
    with transaction.atomic():
        # First, so that no lane claims and no failed attempt is queued again behind our back.
        Run.objects.filter(pk=run.pk, cancel_requested_at=None).update(
            cancel_requested_at=timezone.now(), cancelled_by=person
        )
    with transaction.atomic():
        withdrawn = end_unheld(run.trials.all(), "cancelled", CANCELLED)
        asked = _flag(run.trials.filter(HELD), cancel_requested=True)
    run.refresh_from_db()
    return withdrawn + asked


def request_trial_cancel(trial: Trial) -> bool:
    """Cancel one trial of a run that goes on; False when it had ended already."""
    rows = Trial.objects.filter(pk=trial.pk)
    with transaction.atomic():
        done = end_unheld(rows, "cancelled", CANCELLED) or _flag(rows.filter(HELD), cancel_requested=True)
    return bool(done)


def request_hang_up(trial: Trial, person: Any) -> bool:
    """Ask the lane to end one running call; the call is scored as tainted. False when nobody is speaking."""
    running = Trial.objects.filter(pk=trial.pk, status=Status.RUNNING, lease__isnull=False)
    return bool(running.filter(hang_up_requested=False).update(hang_up_requested=True, hang_up_by=person)) or (
        running.exists()
    )


def pause(run: Run) -> None:
    """Claim no more trials of this run; running calls go on to their end."""
    Run.objects.filter(pk=run.pk, paused_at=None).update(paused_at=timezone.now())
    run.refresh_from_db(fields=["paused_at"])


def resume(run: Run) -> None:
    """Let lanes claim trials of this run again (the caller wakes them)."""
    Run.objects.filter(pk=run.pk).update(paused_at=None)
    run.refresh_from_db(fields=["paused_at"])


def rerun(run: Run, outcomes: Sequence[str]) -> int:
    """Queue ended trials with one of these outcomes again; their record goes on in the same sequence.

    Passed and failed trials are refused: trying failures until they pass is no measurement. A cancelled run is open
    again.
    """
    _check(outcomes)
    if ruled := sorted(set(outcomes) - REPEATABLE):
        raise ValueError(f"trials that passed or failed cannot be run again ({', '.join(ruled)}): launch a new run")
    _check_held_here(run)
    if budget.is_spent(Run.objects.get(pk=run.pk)):
        raise ValueError("the run has spent its cap on money: launch a new run with a higher one")
    with transaction.atomic():
        Run.objects.filter(pk=run.pk).update(cancel_requested_at=None, cancelled_by=None)
        ended = run.trials.filter(status__in=Trial.ENDED, outcome__in=outcomes)
        count = _reopen(ended, status=Status.QUEUED)
    run.refresh_from_db()
    return count


def rescore(run: Run, outcomes: Sequence[str] = ("judge_error", "unscored")) -> int:
    """Let lanes score held calls with one of these outcomes again from their records; earlier scorings stay."""
    _check(outcomes)
    _check_held_here(run)
    with transaction.atomic():
        return _reopen(run.trials.filter(status=Status.DONE, outcome__in=outcomes), status=Status.SCORING)


def _check(outcomes: Sequence[str]) -> None:
    if unknown := sorted(set(outcomes) - set(OUTCOMES)):
        raise ValueError(f"unknown outcome {', '.join(map(repr, unknown))}; known: {', '.join(OUTCOMES)}")


def _check_held_here(run: Run) -> None:
    if run.imported_from_id is not None:
        raise ValueError("its calls were held elsewhere and imported: launch a run of your own, or import again")


def _reopen(trials: QuerySet[Trial], *, status: str) -> int:
    """Make ended trials wait again, with all their attempts before them."""
    return trials.update(
        status=status,
        lease=None,
        heartbeat_at=None,
        attempts=0,
        outcome="",
        other_outcome="",
        outcome_reason="",
        judged_outcome="",
        judged_other_outcome="",
        judged_reason="",
        overruled_count=0,
        fault="",
        error_kind="",
        ended_at=None,
        cancel_requested=False,
        hang_up_requested=F("hang_up_requested") if status == Status.SCORING else False,
    )


def _flag(trials: QuerySet[Trial], **flag: bool) -> int:
    """Set a flag on rows locked by primary key, as lanes lock theirs: no deadlock."""
    pks = [pk for (pk,) in trials.select_for_update().order_by("pk").values_list("pk")]
    return Trial.objects.filter(pk__in=pks).update(**flag)
