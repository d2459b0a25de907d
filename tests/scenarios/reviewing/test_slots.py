"""Who reviews what: leases, the order of items, skipping, taking back."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from scenarios.models import Review, ReviewDraft, ReviewQueue, ReviewSlot, Run, Verdict
from scenarios.reviewing import (
    Refused,
    drop,
    is_outdated,
    keep_draft,
    last_ruled,
    progress,
    rule,
    skip,
    take,
    undo,
    waiting,
)
from tests.scenarios.reviewing.working import give, held, queue_of

pytestmark = pytest.mark.django_db


class TestLeases:
    def test_two_people_never_hold_the_same_item(self, run: Run, ann: User, ben: User) -> None:
        queue = queue_of(run)
        assert held(queue, ann).item_id != held(queue, ben).item_id

    def test_coming_back_finds_the_same_item(self, run: Run, ann: User) -> None:
        queue = queue_of(run)
        first = held(queue, ann)
        again = held(queue, ann)
        assert (again.pk, again.lease) == (first.pk, first.lease)

    def test_a_lease_that_ran_out_goes_to_the_next(self, run: Run, ann: User, ben: User) -> None:
        queue = queue_of(run)
        slot = held(queue, ann)
        ReviewSlot.objects.filter(pk=slot.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
        taken = held(queue, ben)
        assert taken.pk == slot.pk
        with pytest.raises(Refused, match="your lease ran out"):
            rule(slot, ann, slot.lease, "pass", "typed for ten minutes")
        assert ReviewDraft.objects.get(reviewer=ann).comment == "typed for ten minutes"
        assert not Review.objects.exists()

    def test_a_lease_that_ran_out_and_nobody_took_still_counts(self, run: Run, ann: User) -> None:
        queue = queue_of(run)
        slot = held(queue, ann)
        ReviewSlot.objects.filter(pk=slot.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
        assert rule(slot, ann, slot.lease, "pass").ruling == "pass"

    def test_nobody_reviews_an_item_twice(self, run: Run, ann: User, ben: User) -> None:
        queue = queue_of(run, reviews_per_item=2, sample=1)
        give(queue, ann, "pass")
        assert take(queue, ann) is None
        give(queue, ben, "pass")
        assert take(queue, ben) is None
        assert progress(queue, ann).is_complete

    def test_another_queues_lease_is_no_lease_here(self, run: Run, ann: User) -> None:
        slot = held(queue_of(run), ann)
        with pytest.raises(Refused, match="lease"):
            rule(slot, ann, uuid4(), "pass")

    def test_drafts_are_kept_and_forgotten(self, run: Run, ann: User) -> None:
        slot = held(queue_of(run), ann)
        keep_draft(slot.item, ann, "half a thou\x00ght")
        assert ReviewDraft.objects.get().comment == "half a thou\ufffdght"
        rule(slot, ann, slot.lease, "pass", "done")
        assert not ReviewDraft.objects.exists()


class TestOrder:
    def test_what_is_skipped_comes_last(self, run: Run, ann: User, ben: User) -> None:
        queue = queue_of(run, sample=3)
        first = held(queue, ann)
        skip(first, ann)
        assert held(queue, ben).item_id == first.item_id
        second = take(queue, ann, first.item_id)
        assert second is not None
        skip(second, ann)
        third = take(queue, ann, second.item_id)
        assert third is not None
        assert len({first.item_id, second.item_id, third.item_id}) == 3
        skip(third, ann)
        # Round to what was skipped: the first is ben's now.
        again = take(queue, ann, third.item_id)
        assert again is not None
        assert again.item_id == second.item_id

    def test_nobody_skips_for_others(self, run: Run, ann: User, ben: User) -> None:
        slot = held(queue_of(run), ann)
        skip(slot, ben)
        assert ReviewSlot.objects.get(pk=slot.pk).reviewer == ann

    def test_the_item_held_last_comes_back_first(self, run: Run, ann: User) -> None:
        queue = queue_of(run)
        give(queue, ann, "fail")
        second = held(queue, ann)
        first = last_ruled(queue, ann)
        assert first is not None
        undo(first, ann)
        assert held(queue, ann).pk == first.pk
        rule(held(queue, ann), ann, ReviewSlot.objects.get(pk=first.pk).lease, "fail")
        assert held(queue, ann).pk == second.pk

    def test_what_waits_for_whom(self, run: Run, ann: User, ben: User) -> None:
        queue = queue_of(run, reviews_per_item=2)
        assert waiting([queue], ann) == {queue.pk: 8}
        held(queue, ann)
        assert waiting([queue], ann) == {queue.pk: 8}
        give(queue, ann, "fail")
        assert waiting([queue], ann) == {queue.pk: 7}
        assert waiting([queue], ben) == {queue.pk: 8}
        one = queue_of(run, sample=1)
        held(one, ann)
        assert (waiting([one], ann), waiting([one], ben)) == ({one.pk: 1}, {one.pk: 0})

    def test_a_closed_queue_offers_nothing_new(self, run: Run, ann: User, ben: User) -> None:
        queue = queue_of(run)
        mine = held(queue, ann)
        ReviewQueue.objects.update(closed_at=timezone.now())
        queue.refresh_from_db()
        assert held(queue, ann).pk == mine.pk
        assert take(queue, ben) is None
        assert waiting([queue], ben) == {}

    def test_the_last_ruling_that_stands(self, run: Run, ann: User) -> None:
        queue = queue_of(run)
        assert last_ruled(queue, ann) is None
        first, second = give(queue, ann, "fail"), give(queue, ann, "fail")
        assert last_ruled(queue, ann) == second
        undo(ReviewSlot.objects.get(pk=second.pk), ann)
        assert last_ruled(queue, ann) == first
        undo(ReviewSlot.objects.get(pk=first.pk), ann)
        assert last_ruled(queue, ann) is None

    def test_a_claim_that_changed_is_dropped_and_its_reviews_stay(self, run: Run, ann: User, ben: User) -> None:
        queue = queue_of(run, reviews_per_item=2, sample=1)
        slot = give(queue, ann, "fail")
        assert not is_outdated(slot.item.verdict)
        newer = Verdict.objects.get(pk=slot.item.verdict_id)
        newer.pk, newer.scoring, newer.subject = None, 2, "another record"
        newer.save()
        assert is_outdated(slot.item.verdict)
        assert drop(slot.item) == 1
        assert take(queue, ben) is None
        assert Review.objects.count() == 2
