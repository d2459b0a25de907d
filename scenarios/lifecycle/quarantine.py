"""What a batch's canaries do to the calls that were judged in it: quarantine, and its release by a person."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from scenarios.lifecycle import budget
from scenarios.lifecycle.rulings import settle
from scenarios.models import BatchItem, JudgeBatch, Judging, SignalResult
from scenarios.scoring.canaries import BatchDecision, CanaryRuling, decide

Canaries = JudgeBatch.Canaries
_STATES = {"ok": Canaries.PASSED, "quarantined": Canaries.QUARANTINED, "too_few": Canaries.OPEN}
# The fields of a stored ruling that say what the judge did; index, claim and reason stand beside them for a reader.
_FIELDS = CanaryRuling._fields


def end_canary(item_id: int, lease: UUID, changes: Mapping[str, Any]) -> bool:
    """Store what a judge said of a canary, and decide the batch once all are in; False when the lease is lost.

    ``changes`` are columns of the item. What it cost is added to the batch's run.
    """
    item = BatchItem.objects.select_related("batch__run").get(pk=item_id)
    run = item.batch.run if item.batch.kind == JudgeBatch.Kind.RUN else None
    with transaction.atomic():
        if run is not None:
            budget.lock(run.pk, run.config)
        # One at a time: of the last two canaries, the later one must see the other.
        JudgeBatch.objects.select_for_update().get(pk=item.batch_id)
        held = BatchItem.objects.filter(pk=item_id, lease=lease)
        if not held.update(**changes, lease=None, taken_at=None, ended_at=timezone.now()):
            return False
        if run is not None:
            budget.charge_canary(run.pk, run.config, changes.get("cost"))
        is_over = not _canaries(item.batch_id).filter(state=BatchItem.State.QUEUED).exists()
    if is_over:
        decide_batch(item.batch_id)
    return True


def decide_batch(batch_id: int) -> BatchDecision:
    """Bring a batch in line with its canaries: passed, quarantined (its rulings count no more), or still open.

    What was once decided stays: a quarantine ends only by a person's release.
    """
    decision = decide(stored_rulings(batch_id))
    undecided = JudgeBatch.objects.filter(pk=batch_id, canaries=Canaries.OPEN)
    changed = undecided.update(canaries=_STATES[decision.state], canary_reason=decision.reason[:300])
    if changed and decision.state == "quarantined":
        settle(_trials(batch_id))
    return decision


def release_batch(batch: JudgeBatch, person: Any, reason: str) -> list[int]:
    """Let the rulings of a quarantined batch count all the same; returns the calls whose outcome changed.

    Raises ValueError without a reason, or when the batch is not quarantined.
    """
    reason = reason.strip()
    if not reason:
        raise ValueError("say why the rulings may count although the judge failed its canaries")
    quarantined = JudgeBatch.objects.filter(pk=batch.pk, canaries=Canaries.QUARANTINED)
    done = quarantined.update(
        canaries=Canaries.RELEASED, released_by=person, released_at=timezone.now(), release_reason=reason[:300]
    )
    batch.refresh_from_db()
    if not done:
        raise ValueError(f"the batch is not quarantined; its canaries are {batch.get_canaries_display()}")
    return settle(_trials(batch.pk))


def finish_quarantines() -> list[int]:
    """Do what a process that died left undone: decide batches whose canaries are all in, settle calls of decided ones.

    Safe to repeat; woken every minute. Returns the calls whose outcome changed.
    """
    waiting = BatchItem.objects.filter(batch=OuterRef("pk"), state=BatchItem.State.QUEUED).exclude(canary="")
    asked = BatchItem.objects.filter(batch=OuterRef("pk")).exclude(canary="")
    for batch in JudgeBatch.objects.filter(Exists(asked), ~Exists(waiting), canaries=Canaries.OPEN):
        decide_batch(batch.pk)
    claims = SignalResult.objects.filter(signal="nl_assertion", is_gating=True)
    ruled = claims.filter(trial__judgings__batch__canaries=Canaries.QUARANTINED, judged_state="")
    counted_out = claims.filter(trial__judgings__batch__canaries=Canaries.RELEASED, state="undecided")
    left = ruled.filter(state__in=("passed", "failed")).values_list("trial_id", flat=True)
    back = counted_out.exclude(judged_state="").values_list("trial_id", flat=True)
    return settle([*left, *back])


def stored_rulings(batch_id: int) -> list[CanaryRuling]:
    """Return what the judge ruled on the canaries of a batch so far."""
    stored = _canaries(batch_id).values_list("rulings", flat=True)
    return [CanaryRuling(**{name: ruling[name] for name in _FIELDS}) for rulings in stored for ruling in rulings]


def _canaries(batch_id: int) -> Any:
    return BatchItem.objects.filter(batch=batch_id).exclude(canary="")


def _trials(batch_id: int) -> list[int]:
    return list(Judging.objects.filter(batch=batch_id).values_list("trial_id", flat=True))
