"""Ownership of trials: taking them, losing them, giving them back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from scenarios.events import AttemptFailed, Event, Noted
from scenarios.lifecycle import budget
from scenarios.lifecycle.record import NewEvent, as_row, note, unstored
from scenarios.lifecycle.withdrawal import end_unheld
from scenarios.models import Run, Trial, TrialEvent
from scenarios.voice_capacity import VoiceRoom

LEASE_S = 30.0
MAX_ATTEMPTS = 3
# A lane beats every second; a trial silent for this long will soon be free, so lanes stay to take it.
SILENT_S = 5.0

Status = Trial.Status
# A trial without a lease: to be called, unless people stopped the run, or (its record is complete) to be scored.
WAITING = Q(status=Status.SCORING, lease=None) | Q(
    status=Status.QUEUED, run__paused_at=None, run__cancel_requested_at=None
)
HELD = Q(status__in=(Status.RUNNING, Status.SCORING), lease__isnull=False)


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
    config: Mapping[str, Any] = field(compare=False, repr=False)
    # The call was held already and its record is complete: only scoring is left.
    only_scoring: bool = False


def claim(width: int, voice: VoiceRoom | None = None) -> list[Claim]:
    """Take up to ``width`` waiting trials, oldest run first; of voice calls as many as ``voice`` has room for.

    Paused and cancelled runs are passed over; no run gets more calls at once than its own limit. Trials whose lease
    ran out are given back first.
    """
    expire_leases()
    taken: list[Claim] = []
    waiting = Trial.objects.filter(WAITING, run=OuterRef("pk"))
    for run in Run.objects.filter(Exists(waiting)).order_by("launched_at", "pk"):
        if len(taken) >= width:
            break
        places = width - len(taken)
        found = _take(run, places if voice is None else voice.fit(run.config, places))
        if voice is not None:
            voice.take(run.config, sum(not one.only_scoring for one in found))
        taken += found
    return taken


def pending() -> int:
    """Return how many trials a lane could take now or soon (those whose lane has fallen silent)."""
    silent = HELD & Q(heartbeat_at__lt=timezone.now() - timedelta(seconds=SILENT_S))
    return Trial.objects.filter(silent | WAITING).count()


def is_held(claim: Claim) -> bool:
    """Return whether the lease is still this claim's."""
    return Trial.objects.filter(pk=claim.trial_id, lease=claim.lease).exists()


def expire_leases() -> int:
    """Give back the trials whose lane has died; the third loss ends a trial as ``infra_error``."""
    stale = Trial.objects.filter(HELD, heartbeat_at__lt=timezone.now() - timedelta(seconds=LEASE_S))
    lost = 0
    for run_id in sorted(set(stale.values_list("run_id", flat=True))):
        with transaction.atomic():
            run = Run.objects.select_for_update().get(pk=run_id)
            gone = [
                trial.pk
                for trial in stale.filter(run=run).select_for_update(skip_locked=True).order_by("pk")
                if _lose(run, trial)
            ]
            budget.charge(run_id, run.config, *gone)
            lost += len(gone)
    return lost


def release(claim: Claim, events: Sequence[NewEvent] = ()) -> bool:
    """Give the trial back (site stopping): the attempt does not count. False when the lease was lost already."""
    freed: dict[str, Any] = {"lease": None, "heartbeat_at": None, "attempts": F("attempts") - 1}
    with transaction.atomic():
        budget.lock(claim.run_id, claim.config)
        done = fenced(claim, events, was=[Status.SCORING], **freed) or (
            fenced(claim, events, was=[Status.RUNNING], status=Status.QUEUED, **freed)
        )
        budget.charge(claim.run_id, claim.config, claim.trial_id)
    return done


def fenced(
    claim: Claim,
    events: Sequence[NewEvent],
    *,
    was: Sequence[str] = (),
    closing: Event | None = None,
    **changes: Any,
) -> bool:
    """Change a trial that this claim holds and append its last events, or neither: the compare-and-swap of a lane.

    ``closing`` is one more event, numbered here.
    """
    with transaction.atomic():
        rows = Trial.objects.filter(pk=claim.trial_id, lease=claim.lease, status__in=was or Status.values)
        last_seq = rows.select_for_update().values_list("last_seq", flat=True).first()
        if last_seq is None:
            return False
        fresh = [as_row(claim.trial_id, event) for event in unstored(last_seq, events)]
        last_seq += len(fresh)
        TrialEvent.objects.bulk_create(fresh)
        done = bool(rows.update(**changes, last_seq=last_seq))
        if closing is not None:
            note(Trial.objects.filter(pk=claim.trial_id), closing)
    return done


def _take(run: Run, width: int) -> list[Claim]:
    lease = uuid4()
    is_open = run.paused_at is None and run.cancel_requested_at is None
    free = Trial.objects.filter(lease=None, status__in=[Status.SCORING, *([Status.QUEUED] if is_open else [])])
    with transaction.atomic():
        places = max(0, min(width, _free_places(run)))
        found = free.filter(run=run).select_for_update(skip_locked=True).order_by("position").values_list("pk")
        now = timezone.now()
        ours = free.filter(pk__in=[pk for (pk,) in found[:places]])
        if not ours.update(lease=lease, heartbeat_at=now, attempts=F("attempts") + 1):
            return []
        mine = Trial.objects.filter(lease=lease)
        mine.filter(status=Status.QUEUED).update(status=Status.RUNNING, started_at=now)
    return [_claim_of(run, trial) for trial in mine.select_related("scenario").order_by("position")]


def _free_places(run: Run) -> int:
    """Return how many more calls the run may hold; locks the run, so that two lanes cannot both see the last place."""
    limit = run.config.get("limits", {}).get("concurrency")
    if limit is None:
        return 2**31
    Run.objects.select_for_update().get(pk=run.pk)
    return int(limit) - Trial.objects.filter(HELD, run=run).count()


def _claim_of(run: Run, trial: Trial) -> Claim:
    assert trial.lease is not None
    return Claim(
        trial_id=trial.pk,
        run_id=run.pk,
        scenario=trial.scenario.name,
        number=trial.number,
        lease=trial.lease,
        attempt=trial.attempts,
        last_seq=trial.last_seq,
        config=run.config,
        only_scoring=trial.status == Status.SCORING,
    )


def _lose(run: Run, trial: Trial) -> bool:
    """Take a trial from the lane that fell silent. The caller has locked both rows."""
    message = f"its worker gave no sign of life for {LEASE_S:.0f} s"
    is_final = trial.attempts >= MAX_ATTEMPTS
    freed = Trial.objects.filter(pk=trial.pk, lease=trial.lease)
    waits_as = trial.status if trial.status == Status.SCORING else Status.QUEUED
    if not freed.update(status=waits_as, lease=None, heartbeat_at=None):
        return False
    if trial.status == Status.SCORING:
        note([trial], Noted(level="warning", text=f"Scoring was interrupted: {message}."))
    else:
        note([trial], AttemptFailed(error="lease_lost", message=message, will_retry=not is_final))
    rows = Trial.objects.filter(pk=trial.pk)
    if trial.cancel_requested or run.cancel_requested_at:
        end_unheld(rows, "cancelled", "cancelled by a person")
    elif is_final:
        end_unheld(rows, "infra_error", f"{message}, {trial.attempts} times", error_kind="lease_lost")
    return True
