"""Making a queue and working it, as tests of reviewing do."""

from django.contrib.auth.models import User

from scenarios.models import ReviewQueue, ReviewSlot, Run
from scenarios.reviewing import QueueFilter, make_queue, rule, take


def queue_of(run: Run, reviews_per_item: int = 1, **fields: object) -> ReviewQueue:
    is_blind = bool(fields.pop("is_blind", True))
    chosen = QueueFilter(runs=(run.pk,), **fields)
    return make_queue("Check", chosen, None, reviews_per_item=reviews_per_item, is_blind=is_blind)


def held(queue: ReviewQueue, person: User) -> ReviewSlot:
    slot = take(queue, person)
    assert slot is not None
    return slot


def give(queue: ReviewQueue, person: User, ruling: str, revealed: str | None = None, comment: str = "") -> ReviewSlot:
    """Rule blind, then keep or change."""
    slot = held(queue, person)
    rule(slot, person, slot.lease, ruling, comment)
    slot.refresh_from_db()
    rule(slot, person, slot.lease, revealed or ruling, comment)
    return slot
