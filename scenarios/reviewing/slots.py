"""Who reviews what now: leases that two people never share, and what was typed outliving them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from scenarios.models import ReviewDraft, ReviewItem, ReviewQueue, ReviewSlot
from scenarios.storable import storable

MAX_COMMENT = 20_000
# How often a free slot is looked for when others keep taking it first.
_TRIES = 20


@dataclass(frozen=True)
class Progress:
    """How far a queue is: reviews asked for and given, items with all of theirs, and what one person has done."""

    reviews: int
    done: int
    items: int
    complete: int
    held: int
    mine: int

    @property
    def is_complete(self) -> bool:
        """Return whether every review was given."""
        return self.done == self.reviews


def take(queue: ReviewQueue, person: Any, after: int = 0) -> ReviewSlot | None:
    """Return the person's next item, leased to them: the one they held last, else the first that is free for them.

    ``after`` is the item from which free ones are looked for; those before it come last (what was skipped).
    None: nothing is left that this person may review, or the queue is closed. An item is offered to a person once.
    """
    mine = ReviewSlot.objects.filter(reviewer=person, done_at=None, item__queue=queue).select_related("item__queue")
    held = mine.order_by("-leased_until").first()
    if held is not None and (again := hold(held, person)) is not None:
        return again
    if queue.closed_at is not None:
        return None
    for _ in range(_TRIES):
        slot = _free(queue, person, after) or (_free(queue, person, 0) if after else None)
        if slot is None:
            return None
        if (taken := hold(slot, person)) is not None:
            return taken
    return None


def hold(slot: ReviewSlot, person: Any) -> ReviewSlot | None:
    """Lease a slot to a person for the queue's time, or renew it; None when somebody else has it."""
    now = timezone.now()
    minutes = timedelta(minutes=slot.item.queue.lease_minutes)
    mine = Q(reviewer=person) | Q(reviewer=None) | Q(leased_until__lt=now)
    free = ReviewSlot.objects.filter(mine, pk=slot.pk, done_at=None)
    lease = slot.lease if slot.reviewer_id == person.pk and slot.lease else uuid4()
    try:
        with transaction.atomic():
            if not free.update(reviewer=person, lease=lease, leased_until=now + minutes):
                return None
    except IntegrityError:  # the person holds another slot of this item
        return None
    return ReviewSlot.objects.select_related("item__queue", "item__verdict__trial").get(pk=slot.pk)


def skip(slot: ReviewSlot, person: Any) -> None:
    """Give an item back unreviewed; it comes again when the person is through with the others."""
    mine = ReviewSlot.objects.filter(pk=slot.pk, reviewer=person, done_at=None)
    mine.update(reviewer=None, lease=None, leased_until=None)


def drop(item: ReviewItem) -> int:
    """Take what is still to be reviewed of an item out of its queue; returns how many reviews that was."""
    return item.slots.filter(done_at=None).delete()[0]


def locked(slot: ReviewSlot) -> ReviewSlot | None:
    """Let nobody else change a slot before this transaction ends; None when the slot is gone."""
    return ReviewSlot.objects.select_for_update().filter(pk=slot.pk).first()


def keep_draft(item: ReviewItem, person: Any, comment: str) -> None:
    """Keep what a person has typed about an item; an empty text forgets it."""
    drafts = ReviewDraft.objects.filter(item=item, reviewer=person)
    text = storable(comment)[:MAX_COMMENT]
    if not text.strip():
        drafts.delete()
    else:
        ReviewDraft.objects.update_or_create(item=item, reviewer=person, defaults={"comment": text})


def progress(queue: ReviewQueue, person: Any) -> Progress:
    """Return how far a queue is, computed from its slots."""
    return progresses([queue], person)[queue.pk]


def progresses(queues: Iterable[ReviewQueue], person: Any) -> dict[int, Progress]:
    """Return how far these queues are, by primary key, in two queries."""
    queues = list(queues)
    now = timezone.now()
    slots = ReviewSlot.objects.filter(item__queue__in=queues).order_by()
    counts: dict[int, Any] = {
        row["item__queue"]: row
        for row in slots.values("item__queue").annotate(
            reviews=Count("pk"),
            done=Count("pk", filter=Q(done_at__isnull=False)),
            held=Count("pk", filter=Q(done_at=None, leased_until__gte=now)),
            mine=Count("pk", filter=Q(done_at__isnull=False, reviewer=person)),
        )
    }
    open_slots = ReviewSlot.objects.filter(item=OuterRef("pk"), done_at=None)
    items = ReviewItem.objects.filter(queue__in=queues).order_by()
    sizes = dict(items.values_list("queue").annotate(count=Count("pk")))
    complete = dict(items.filter(~Exists(open_slots)).values_list("queue").annotate(count=Count("pk")))
    return {
        queue.pk: Progress(
            reviews=counts.get(queue.pk, {}).get("reviews", 0),
            done=counts.get(queue.pk, {}).get("done", 0),
            items=sizes.get(queue.pk, 0),
            complete=complete.get(queue.pk, 0),
            held=counts.get(queue.pk, {}).get("held", 0),
            mine=counts.get(queue.pk, {}).get("mine", 0),
        )
        for queue in queues
    }


def waiting(queues: Iterable[ReviewQueue], person: Any) -> dict[int, int]:
    """Return how many items of each open queue this person may review now, by primary key; those they hold included."""
    keys = [queue.pk for queue in queues if queue.closed_at is None]
    own = ReviewSlot.objects.filter(item=OuterRef("item"), reviewer=person)
    slots = ReviewSlot.objects.filter(item__queue__in=keys, done_at=None).order_by()
    free = slots.filter(Q(reviewer=None) | Q(leased_until__lt=timezone.now())).filter(~Exists(own))
    counts: dict[int, int] = dict.fromkeys(keys, 0)
    for rows in (free, slots.filter(reviewer=person)):
        grouped = rows.values_list("item__queue").annotate(count=Count("item", distinct=True))
        for queue, count in grouped:
            counts[queue] += count
    return counts


def _free(queue: ReviewQueue, person: Any, after: int) -> ReviewSlot | None:
    """Return the first slot after an item that is free for a person.

    Items are made in the order of their positions, so the order of their keys is the same, and an index has it: the
    search stops at the first that is free, however long the queue is.
    """
    own = ReviewSlot.objects.filter(item=OuterRef("pk"), reviewer=person)
    free = Q(reviewer=None) | Q(leased_until__lt=timezone.now())
    open_slots = ReviewSlot.objects.filter(free, item=OuterRef("pk"), done_at=None)
    items = ReviewItem.objects.filter(Exists(open_slots), ~Exists(own), queue=queue, pk__gt=after).order_by("pk")
    item = items.values_list("pk", flat=True).first()
    slots = ReviewSlot.objects.filter(free, item=item, done_at=None).select_related("item__queue")
    return None if item is None else slots.order_by("number").first()
