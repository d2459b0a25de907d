"""Giving a ruling: blind first, then kept or changed; taken back; settled by an adjudicator."""

from typing import Any, Literal
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from scenarios.lifecycle import settle
from scenarios.models import Review, ReviewDraft, ReviewQueue, ReviewSlot, Verdict
from scenarios.reviewing.slots import MAX_COMMENT, hold, keep_draft, locked
from scenarios.storable import storable

Stage, Ruling = Review.Stage, Review.Ruling
RULINGS = (Ruling.PASS, Ruling.FAIL, Ruling.CANNOT_TELL)


# What is in the way: no ruling, no reason, the lease is gone, the item is done, the page is old, the claim is another
# by now, or the person is party to it.
Why = Literal["ruling", "reason", "lost", "done", "stale", "changed", "own"]


class Refused(Exception):
    """Why a ruling was not taken, and what to do; what was typed is kept as a draft. ``why`` is for machines."""

    def __init__(self, message: str, why: Why) -> None:
        super().__init__(message)
        self.why = why


def rule(
    slot: ReviewSlot,
    person: Any,
    lease: UUID | None,
    ruling: str,
    comment: str = "",
    *,
    submit_key: str | None = None,
    shown: str = "",
) -> Review:
    """Take a ruling on a leased item: the blind one first, where the queue is blind, then the one after the reveal.

    "Cannot tell", and a ruling changed after the reveal, need a reason. The same ``submit_key`` is taken once.
    ``shown`` is the stage that the page was in ('': any). Refused says why nothing was taken: the lease went to
    somebody else, the page is old, or the claim is another by now.
    """
    if submit_key and (sent := Review.objects.filter(submit_key=submit_key, rater=person.get_username()).first()):
        return sent
    keep_draft(slot.item, person, comment)
    _check(slot, person, lease, ruling)
    before, stage = blind_ruling(slot, person), next_stage(slot, person)
    if shown and shown != stage:
        raise Refused("you have ruled on this item in another window: here it is as it stands now", "stale")
    _check_reason(ruling, comment, before)
    verdict = slot.item.verdict
    try:
        with transaction.atomic():
            locked(slot)
            review = Review.objects.create(
                verdict=verdict,
                item=slot.item,
                reviewer=person,
                rater=person.get_username(),
                stage=stage,
                ruling=ruling,
                comment=storable(comment)[:MAX_COMMENT],
                fingerprint=verdict.fingerprint,
                submit_key=submit_key or None,
            )
            if stage == Stage.REVEALED:
                ReviewSlot.objects.filter(pk=slot.pk).update(done_at=timezone.now(), lease=None, leased_until=None)
            ReviewDraft.objects.filter(item=slot.item, reviewer=person).delete()
            settle([verdict.trial_id])
    except IntegrityError:
        same = Review.objects.filter(submit_key=submit_key).first() if submit_key else None
        if same is None:
            raise
        return same  # pressed twice at once
    return review


def blind_ruling(slot: ReviewSlot, person: Any) -> Review | None:
    """Return the person's blind ruling on an item that waits for the one after the reveal."""
    given = Review.objects.filter(item=slot.item, rater=person.get_username()).order_by("-pk").first()
    return given if given is not None and given.stage == Stage.BLIND and given.ruling != Ruling.WITHDRAWN else None


def next_stage(slot: ReviewSlot, person: Any) -> Review.Stage:
    """Return the stage of a person's next ruling on an item.

    Who has ruled on the claim before, in whatever queue, has seen the judge's ruling: taking theirs back does not make
    the next one blind.
    """
    if not slot.item.queue.is_blind or has_seen(slot.item.verdict, person):
        return Stage.REVEALED
    return Stage.BLIND


def has_seen(verdict: Verdict, person: Any) -> bool:
    """Return whether a person was shown a judge's ruling on this claim and record."""
    return _on(verdict).filter(rater=person.get_username()).exists()


def _on(verdict: Verdict) -> QuerySet[Review]:
    """Return all reviews of a claim and record, whichever judge ruled on it."""
    if not verdict.subject:
        return Review.objects.filter(verdict=verdict)
    return Review.objects.filter(verdict__in=Verdict.objects.filter(subject=verdict.subject))


def is_outdated(verdict: Verdict) -> bool:
    """Return whether the call was held or scored again since, on another record or with another claim in this place."""
    newest = Verdict.objects.filter(trial=verdict.trial_id, signal=verdict.signal, index=verdict.index).first()
    return newest is not None and newest.pk != verdict.pk and newest.subject != verdict.subject


def undo(slot: ReviewSlot, person: Any) -> None:
    """Take back a person's rulings on an item and lease it to them again; both stay in the history."""
    if slot.reviewer_id != person.pk:
        raise Refused("this item was ruled on by somebody else: only they can take it back", "own")
    with transaction.atomic():
        given = Review.objects.filter(item=slot.item, rater=person.get_username()).order_by("-pk")
        for stage in (Stage.REVEALED, Stage.BLIND):
            last = given.filter(stage=stage).first()
            if last is not None and last.ruling != Ruling.WITHDRAWN:
                _append(last.verdict, person, stage, Ruling.WITHDRAWN, "", slot)
        ReviewSlot.objects.filter(pk=slot.pk).update(done_at=None)
        slot.refresh_from_db()
        hold(slot, person)
        settle([slot.item.verdict.trial_id])


def last_ruled(queue: ReviewQueue, person: Any) -> ReviewSlot | None:
    """Return the slot of a person's newest ruling in a queue that stands and can be taken back."""
    mine = ReviewSlot.objects.filter(reviewer=person, item__queue=queue).select_related("item__queue", "item__verdict")
    for slot in mine.filter(done_at=None).order_by("-leased_until"):
        if blind_ruling(slot, person) is not None:
            return slot
    # Taking back opens a slot again, so the ruling of one that is done stands.
    return mine.filter(done_at__isnull=False).order_by("-done_at").first()


def adjudicate(verdict: Verdict, person: Any, ruling: str, reason: str, *, submit_key: str | None = None) -> Review:
    """Settle a disagreement; Refused: no reason, no ruling, or the adjudicator is one of those who disagree."""
    if submit_key and (sent := Review.objects.filter(submit_key=submit_key, rater=person.get_username()).first()):
        return sent
    if ruling not in (Ruling.PASS, Ruling.FAIL):
        raise Refused("an adjudicator rules that the claim holds or does not hold", "ruling")
    if not reason.strip():
        raise Refused("say why: those who are overruled will read it", "reason")
    if _on(verdict).filter(rater=person.get_username()).exclude(stage=Stage.ADJUDICATION).exists():
        raise Refused("you reviewed this claim yourself: somebody else has to settle it", "own")
    with transaction.atomic():
        review = _append(verdict, person, Stage.ADJUDICATION, ruling, reason, submit_key=submit_key)
        settle([verdict.trial_id])
    return review


def withdraw_adjudication(verdict: Verdict, person: Any) -> None:
    """Take back a person's own adjudication; the reviews count again."""
    last = Review.objects.filter(verdict=verdict, rater=person.get_username(), stage=Stage.ADJUDICATION).last()
    if last is None or last.ruling == Ruling.WITHDRAWN:
        raise Refused("there is no ruling of yours to take back", "done")
    with transaction.atomic():
        _append(verdict, person, Stage.ADJUDICATION, Ruling.WITHDRAWN, "")
        settle([verdict.trial_id])


def _append(
    verdict: Verdict,
    person: Any,
    stage: str,
    ruling: str,
    comment: str,
    slot: ReviewSlot | None = None,
    submit_key: str | None = None,
) -> Review:
    return Review.objects.create(
        verdict=verdict,
        item=slot.item if slot else None,
        reviewer=person,
        rater=person.get_username(),
        stage=stage,
        ruling=ruling,
        comment=storable(comment)[:MAX_COMMENT],
        fingerprint=verdict.fingerprint,
        submit_key=submit_key or None,
    )


def _check(slot: ReviewSlot, person: Any, lease: UUID | None, ruling: str) -> None:
    if ruling not in RULINGS:
        raise Refused(f"{ruling!r} is no ruling: give {', '.join(RULINGS)}", "ruling")
    current = ReviewSlot.objects.get(pk=slot.pk)
    if current.done_at is not None and current.reviewer_id == person.pk:
        raise Refused("you have ruled on this item already: take that back first (z)", "done")
    if current.reviewer_id != person.pk or current.lease != lease or hold(current, person) is None:
        raise Refused("your lease ran out and somebody else has this item now; your comment is kept", "lost")
    if is_outdated(slot.item.verdict):
        raise Refused("the call was held or scored again since, and this claim's record is another now", "changed")


def _check_reason(ruling: str, comment: str, before: Review | None) -> None:
    """Raise Refused where a reason is missing; who keeps what was ruled blind has given it already."""
    if comment.strip():
        return
    changed = before is not None and before.ruling != ruling
    if ruling == Ruling.CANNOT_TELL and (before is None or changed):
        raise Refused("say in the comment why it cannot be told: that helps whoever mends the claim", "reason")
    if changed:
        raise Refused("say in the comment why you changed your ruling after seeing the judge's", "reason")
