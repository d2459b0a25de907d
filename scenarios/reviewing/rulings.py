"""Giving a ruling: blind first, then kept or changed; taken back; settled by an adjudicator."""

from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from scenarios.lifecycle import settle
from scenarios.models import Review, ReviewDraft, ReviewSlot, Verdict
from scenarios.reviewing.slots import MAX_COMMENT, hold, keep_draft
from scenarios.storable import storable

Stage, Ruling = Review.Stage, Review.Ruling
RULINGS = (Ruling.PASS, Ruling.FAIL, Ruling.CANNOT_TELL)


class Refused(Exception):
    """Why a ruling was not taken, and what to do; what was typed is kept as a draft."""


def rule(
    slot: ReviewSlot, person: Any, lease: UUID | None, ruling: str, comment: str = "", *, submit_key: str | None = None
) -> Review:
    """Take a ruling on a leased item: the blind one first, where the queue is blind, then the one after the reveal.

    "Cannot tell", and a ruling changed after the reveal, need a reason. The same ``submit_key`` is taken once. Refused
    says why nothing was taken: the lease went to somebody else, or the claim is another by now.
    """
    if submit_key and (sent := Review.objects.filter(submit_key=submit_key, rater=person.get_username()).first()):
        return sent
    keep_draft(slot.item, person, comment)
    _check(slot, person, lease, ruling)
    before = blind_ruling(slot, person)
    stage = Stage.BLIND if slot.item.queue.is_blind and before is None else Stage.REVEALED
    _check_reason(ruling, comment, changed=before is not None and before.ruling != ruling)
    verdict = slot.item.verdict
    try:
        with transaction.atomic():
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
        return Review.objects.get(submit_key=submit_key)  # pressed twice at once
    return review


def blind_ruling(slot: ReviewSlot, person: Any) -> Review | None:
    """Return the person's blind ruling on an item that waits for the one after the reveal."""
    given = Review.objects.filter(item=slot.item, rater=person.get_username()).order_by("-pk").first()
    return given if given is not None and given.stage == Stage.BLIND and given.ruling != Ruling.WITHDRAWN else None


def undo(slot: ReviewSlot, person: Any) -> None:
    """Take back a person's rulings on an item and lease it to them again; both stay in the history."""
    if slot.reviewer_id != person.pk:
        raise Refused("this item was ruled on by somebody else: only they can take it back")
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


def adjudicate(verdict: Verdict, person: Any, ruling: str, reason: str) -> Review:
    """Settle a disagreement; Refused: no reason, no ruling, or the adjudicator is one of those who disagree."""
    if ruling not in (Ruling.PASS, Ruling.FAIL):
        raise Refused("an adjudicator rules that the claim holds or does not hold")
    if not reason.strip():
        raise Refused("say why: those who are overruled will read it")
    own = Review.objects.filter(verdict=verdict, rater=person.get_username()).exclude(stage=Stage.ADJUDICATION)
    if own.exists():
        raise Refused("you reviewed this claim yourself: somebody else has to settle it")
    with transaction.atomic():
        review = _append(verdict, person, Stage.ADJUDICATION, ruling, reason)
        settle([verdict.trial_id])
    return review


def withdraw_adjudication(verdict: Verdict, person: Any) -> None:
    """Take back a person's own adjudication; the reviews count again."""
    last = Review.objects.filter(verdict=verdict, rater=person.get_username(), stage=Stage.ADJUDICATION).last()
    if last is None or last.ruling == Ruling.WITHDRAWN:
        raise Refused("there is no ruling of yours to take back")
    with transaction.atomic():
        _append(verdict, person, Stage.ADJUDICATION, Ruling.WITHDRAWN, "")
        settle([verdict.trial_id])


def _append(
    verdict: Verdict, person: Any, stage: str, ruling: str, comment: str, slot: ReviewSlot | None = None
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
    )


def _check(slot: ReviewSlot, person: Any, lease: UUID | None, ruling: str) -> None:
    if ruling not in RULINGS:
        raise Refused(f"{ruling!r} is no ruling: give {', '.join(RULINGS)}")
    current = ReviewSlot.objects.get(pk=slot.pk)
    if current.done_at is not None and current.reviewer_id == person.pk:
        raise Refused("you have ruled on this item already: take that back first (z)")
    if current.reviewer_id != person.pk or current.lease != lease or hold(current, person) is None:
        raise Refused("your lease ran out and somebody else has the item now; your comment is kept. Take the next one")
    verdict = slot.item.verdict
    newest = Verdict.objects.filter(trial=verdict.trial_id, signal=verdict.signal, index=verdict.index).first()
    if newest is not None and newest.pk != verdict.pk and newest.subject != verdict.subject:
        raise Refused("the call was held or scored again since, and this claim's record is another now: skip the item")


def _check_reason(ruling: str, comment: str, *, changed: bool) -> None:
    if comment.strip():
        return
    if ruling == Ruling.CANNOT_TELL:
        raise Refused("say in the comment why it cannot be told: that helps whoever mends the claim")
    if changed:
        raise Refused("say in the comment why you changed your ruling after seeing the judge's")
