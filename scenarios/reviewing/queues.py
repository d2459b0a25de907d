"""Which verdicts a queue holds: a filter, an order that can be repeated, and slots for N reviews of each."""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Q, QuerySet
from pydantic import BaseModel, ConfigDict, Field

from scenarios.models import ReviewItem, ReviewQueue, ReviewSlot, Run, Trial, Verdict
from scenarios.newest import newest_claims
from scenarios.reviewing.disagreements import open_disagreements
from scenarios.reviewing.worth import by_worth
from scenarios.searchable import composed
from scenarios.storable import storable

Kind = Literal["all", "failed", "passed", "flagged", "disagreeing", "narrowing"]
KINDS: Mapping[Kind, str] = {
    "all": "every claim",
    "failed": "claims that the judge failed",
    "passed": "claims that the judge passed",
    "flagged": "claims with a flag: a quote that is not in the record, a reason against its ruling, or no ruling",
    "disagreeing": "claims on which reviewers, or a reviewer and the judge, disagree",
    "narrowing": "claims of the calls whose labels narrow the headline most",
}
MAX_ITEMS = 20_000
_FORM = "form_key"  # in the stored filter: which form made the queue
MAX_REVIEWS = 9


class QueueFilter(BaseModel):
    """What a queue is made from; kept with it as JSON. ``sample``: so many at random; None: all that are found."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    runs: tuple[int, ...] = ()
    domain: str = ""
    judge: int | None = None
    scenario: str = ""
    # The repetition of that scenario; None: all.
    number: int | None = Field(default=None, ge=1)
    kind: Kind = "all"
    outcome: str = ""
    sample: int | None = Field(default=None, ge=1, le=MAX_ITEMS)
    seed: int = Field(default=0, ge=0, le=2**31 - 1)

    @property
    def is_random(self) -> bool:
        """Return whether its calls are a random sample of their runs: only such labels correct a rate.

        A rate counts calls, so these have to come whole: of the claims that the judge failed, all would be there of
        calls that failed through and through, and never all of the others. Calls of one judge may be those that
        somebody had judged again.
        """
        return (self.is_by_lot or self._is_narrowing) and self.judge is None

    @property
    def is_by_lot(self) -> bool:
        """Return whether its items are whole calls in the order of the lot, of all that the judge ruled on."""
        return self.kind == "all" and not self._is_by_hand

    @property
    def _is_narrowing(self) -> bool:
        return self.kind == "narrowing" and not self._is_by_hand

    @property
    def _is_by_hand(self) -> bool:
        return bool(self.outcome or self.scenario or self.number)


def choose(chosen: QueueFilter) -> list[int]:
    """Return the primary keys of the verdicts in the order of review."""
    if chosen.kind == "narrowing":
        order = by_worth(_runs(chosen), chosen.seed)
        found = set(_verdicts(chosen).values_list("pk", flat=True))
        keys = [key for key in order if key in found]
        return keys[: chosen.sample or MAX_ITEMS]
    rows = list(_verdicts(chosen).order_by("trial__run_id", "trial__position", "index").values_list("pk", "trial_id"))
    lots = random.Random(chosen.seed)  # noqa: S311  (a sample that can be drawn again, no secret)
    if chosen.is_by_lot:
        return _by_call(rows, lots)[: chosen.sample or MAX_ITEMS]
    keys = [key for key, _ in rows]
    if chosen.sample is not None:
        keys = lots.sample(keys, min(chosen.sample, len(keys)))
    return keys[:MAX_ITEMS]


def _by_call(rows: Sequence[tuple[int, int]], lots: random.Random) -> list[int]:
    """Return verdicts with the claims of a call together, and the calls in the order of the lot.

    So whatever of them is reviewed so far is a random sample of the calls, however many claims each has.
    """
    by_trial: dict[int, list[int]] = defaultdict(list)
    for key, trial in rows:
        by_trial[trial].append(key)
    order = list(by_trial)
    lots.shuffle(order)
    return [key for trial in order for key in by_trial[trial]]


def make_queue(
    title: str,
    chosen: QueueFilter,
    person: Any,
    *,
    reviews_per_item: int = 1,
    is_blind: bool = True,
    lease_minutes: int = 30,
    form_key: str = "",
) -> ReviewQueue:
    """Write a queue with its items and their slots in one transaction. ValueError: nothing is found, or bad numbers.

    A form that is sent twice makes one queue: the same ``form_key`` of the same person and filter gives back the first.
    """
    if not 1 <= reviews_per_item <= MAX_REVIEWS:
        raise ValueError(f"reviews of an item: give a number from 1 to {MAX_REVIEWS}")
    if not 1 <= lease_minutes <= 24 * 60:
        raise ValueError("lease: give minutes from 1 to 1,440")
    kept = chosen.model_dump(mode="json") | ({_FORM: storable(form_key)[:64]} if form_key else {})
    with transaction.atomic():
        if form_key and (made := _made_before(kept, person)) is not None:
            return made
        keys = choose(chosen)
        if not keys:
            raise ValueError(f"there are no {KINDS[chosen.kind]} here: choose other runs or another kind")
        prints = dict(Verdict.objects.filter(pk__in=keys).values_list("pk", "fingerprint"))
        queue = ReviewQueue.objects.create(
            title=composed(title)[:200] or "Review",
            filter=kept,
            seed=chosen.seed,
            is_random=chosen.is_random,
            reviews_per_item=reviews_per_item,
            is_blind=is_blind,
            lease_minutes=lease_minutes,
            created_by=person,
        )
        items = ReviewItem.objects.bulk_create(
            (
                ReviewItem(queue=queue, verdict_id=key, position=position, fingerprint=prints[key])
                for position, key in enumerate(keys, 1)
            ),
            batch_size=500,
        )
        ReviewSlot.objects.bulk_create(
            (ReviewSlot(item=item, number=number) for item in items for number in range(1, reviews_per_item + 1)),
            batch_size=500,
        )
    return queue


def is_by_lot(queue: ReviewQueue) -> bool:
    """Return whether a queue's claims are drawn from all that the judge ruled on, not picked by what it ruled."""
    return QueueFilter.model_validate({name: value for name, value in queue.filter.items() if name != _FORM}).is_by_lot


def _made_before(kept: Mapping[str, Any], person: Any) -> ReviewQueue | None:
    """Return the queue that this form made; of two that are sent at once, the second waits here for the first."""
    get_user_model().objects.select_for_update().filter(pk=person.pk).first()
    made = ReviewQueue.objects.filter(created_by=person.pk, **{f"filter__{_FORM}": kept[_FORM]})
    return next((queue for queue in made if queue.filter == kept), None)


def current_claims() -> QuerySet[Verdict]:
    """Return the newest rulings on the claims of ended calls."""
    return newest_claims().filter(trial__status__in=Trial.ENDED)


def _runs(chosen: QueueFilter) -> list[int]:
    runs = Run.objects.all()
    if chosen.runs:
        runs = runs.filter(pk__in=chosen.runs)
    if chosen.domain:
        runs = runs.filter(domain=chosen.domain)
    return list(runs.values_list("pk", flat=True))


def _verdicts(chosen: QueueFilter) -> QuerySet[Verdict]:
    rows = current_claims()
    if chosen.runs:
        rows = rows.filter(trial__run__in=chosen.runs)
    if chosen.domain:
        rows = rows.filter(trial__run__domain=chosen.domain)
    if chosen.judge is not None:
        rows = rows.filter(judge=chosen.judge)
    if chosen.scenario:
        rows = rows.filter(trial__scenario__name=chosen.scenario)
    if chosen.number is not None:
        rows = rows.filter(trial__number=chosen.number)
    if chosen.outcome:
        rows = rows.filter(trial__outcome=chosen.outcome)
    return _of_kind(rows, chosen.kind)


def _of_kind(rows: QuerySet[Verdict], kind: Kind) -> QuerySet[Verdict]:
    if kind in ("failed", "passed"):
        return rows.filter(passed=kind == "passed", error="")
    if kind == "flagged":
        # Rows with a quote that is not in the record hold it as {"found": false}.
        unfound = Q(pk__in=_unfound(rows))
        return rows.filter(unfound | ~Q(error="") | Q(detail__contradiction=True))
    if kind == "disagreeing":
        return rows.filter(pk__in=open_disagreements())
    return rows


def _unfound(rows: QuerySet[Verdict]) -> Sequence[int]:
    quoted = rows.exclude(evidence=[]).values_list("pk", "evidence")
    return [pk for pk, quotes in quoted.iterator() if any(not quote.get("found") for quote in quotes)]
