"""The batch of a run: its lanes judge in it, and ask its canaries once among all of them.

Which judged call takes a canary along is fixed by the order of the queue: the first goes with the second judged call,
the next with the third, and so on; a short run has the rest with its last. A canary whose call was never judged goes
with the next one that is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from scenarios import catalogue
from scenarios.judging.prompts import guidance_of
from scenarios.lifecycle import Claim
from scenarios.models import BatchItem, JudgeBatch, JudgeVersion
from scenarios.scoring.canaries import Canary, all_canaries, for_batch
from scenarios.scoring.judge_identity import JudgeIdentity
from scenarios.scoring.judge_reply import JudgeReply
from scenarios.scoring.judge_request import needs_judge

INJECTIONS, PLAIN = 5, 2
MOST_AT_ONCE = 2  # canaries that one call takes along, unless it is the last
# A lane that took a canary and has not answered for so long is taken to be dead.
TAKEN_S = 900.0


@dataclass(frozen=True)
class TakenCanary:
    """A canary that nobody else asks about now."""

    item_id: int
    lease: UUID
    canary: Canary


def batch_of_run(run_id: int, config: Mapping[str, Any]) -> int:
    """Return the batch that a run is judged in; whichever lane comes first makes it, with its canaries."""
    found = _of_run(run_id)
    if found is not None:
        return found
    try:
        with transaction.atomic():
            batch = JudgeBatch.objects.create(
                kind=JudgeBatch.Kind.RUN,
                run_id=run_id,
                title=f"judging of run {run_id}",
                judge=version_row(config["judge"]),
                config=config["judge"],
                state=JudgeBatch.State.RUNNING,
            )
            add_canaries(batch, for_batch(run_id, injections=INJECTIONS, plain=PLAIN), first=1)
            return batch.pk
    except IntegrityError:  # another lane was quicker
        found = _of_run(run_id)
        if found is None:
            raise
        return found


def version_row(profile: Mapping[str, Any]) -> JudgeVersion | None:
    """Return the judge version that a frozen profile is now; None where each scenario asks a model of its own."""
    if "{scenario}" in profile["model"]:
        return None
    identity = JudgeIdentity.of(profile, guidance_of(profile.get("prompt_version", "")))
    columns = identity.columns(profile)
    return JudgeVersion.objects.get_or_create(fingerprint=columns.pop("fingerprint"), defaults=columns)[0]


def add_canaries(batch: JudgeBatch, canaries: list[Canary], *, first: int) -> None:
    """Give a batch canaries at consecutive positions."""
    BatchItem.objects.bulk_create(
        BatchItem(batch=batch, position=position, canary=canary.name) for position, canary in enumerate(canaries, first)
    )


def take_canaries(batch_id: int, claim: Claim) -> list[TakenCanary]:
    """Take the canaries that go with this judged call, so that no other lane asks about them."""
    rank, total = _rank(claim)
    is_last = rank >= total
    due = _free(batch_id, again=claim.only_scoring)
    if not is_last:
        due = due.filter(position__lt=rank)
    if not due.exists():
        return []
    return _take(due, len(all_canaries()) if is_last else MOST_AT_ONCE)


def take_leftovers(batch_id: int) -> list[TakenCanary]:
    """Take every canary that has no ruling yet, those that the judge failed on among them."""
    return _take(_free(batch_id, again=True), len(all_canaries()))


def give_back(taken: TakenCanary) -> None:
    """Let another call take a canary whose asking was broken off."""
    BatchItem.objects.filter(pk=taken.item_id, lease=taken.lease).update(lease=None, taken_at=None)


def canary_named(name: str) -> Canary:
    """Return a built-in canary; ValueError when the set does not have it any more."""
    for canary in all_canaries():
        if canary.name == name:
            return canary
    raise ValueError(f"the canary {name!r} is not in this version's set")


def canary_columns(canary: Canary, reply: JudgeReply, judging: Mapping[str, Any], cost: float | None) -> dict[str, Any]:
    """Return the columns of an item that say how a judge ruled on a canary."""
    rulings = canary.rulings(reply)
    is_ruled = any(ruling.ruled is not None or ruling.obeyed for ruling in rulings)
    return {
        "state": BatchItem.State.DONE if is_ruled else BatchItem.State.ERROR,
        "judging": dict(judging),
        "rulings": [
            {"index": verdict.index, "claim": verdict.claim, "reason": verdict.reason, **ruling._asdict()}
            for verdict, ruling in zip(reply.verdicts, rulings, strict=True)
        ],
        "cost": cost,
    }


def _of_run(run_id: int) -> int | None:
    batches = JudgeBatch.objects.filter(run=run_id, kind=JudgeBatch.Kind.RUN)
    return batches.values_list("pk", flat=True).first()


def _free(batch_id: int, *, again: bool) -> QuerySet[BatchItem]:
    long_ago = timezone.now() - timedelta(seconds=TAKEN_S)
    states = [BatchItem.State.QUEUED, *([BatchItem.State.ERROR] if again else [])]
    free = Q(lease=None) | Q(taken_at__lt=long_ago)
    return BatchItem.objects.filter(free, batch=batch_id, state__in=states).exclude(canary="").order_by("position")


def _take(due: QuerySet[BatchItem], most: int) -> list[TakenCanary]:
    lease = uuid4()
    with transaction.atomic():
        pks = [pk for (pk,) in due.select_for_update(skip_locked=True).values_list("pk")[:most]]
        taken = due.filter(pk__in=pks)
        taken.update(state=BatchItem.State.QUEUED, lease=lease, taken_at=timezone.now())
    rows = BatchItem.objects.filter(pk__in=pks, lease=lease).order_by("position")
    return [TakenCanary(row.pk, lease, canary_named(row.canary)) for row in rows]


def _rank(claim: Claim) -> tuple[int, int]:
    """Return the place of a call among the judged calls of its run's queue, from 1, and how many there are."""
    names = tuple(ref["name"] for ref in claim.config["scenarios"])
    judged = _judged(names)
    trials = int(claim.config["trials"])
    return (claim.number - 1) * len(judged) + judged.index(claim.scenario) + 1, len(judged) * trials


@lru_cache(maxsize=32)
def _judged(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if needs_judge(catalogue.spec(name)))
