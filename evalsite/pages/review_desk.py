"""The desk of a reviewer: one item at a time, its ruling, and the next."""

import uuid
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import reswap, retarget, trigger_client_event

from evalsite import transcript
from evalsite.access import role_required
from evalsite.pages.reviews import may_read_labels
from evalsite.review_item import Record, brief, call_events, choices, judged
from scenarios.models import Review, ReviewDraft, ReviewItem, ReviewQueue, ReviewSlot
from scenarios.reviewing import (
    Refused,
    blind_ruling,
    drop,
    hold,
    is_outdated,
    keep_draft,
    last_ruled,
    locked,
    next_stage,
    progress,
    rule,
    skip,
    take,
    undo,
)

PARTS = frozenset(
    {"said", "heard", "raw", "arguments", "raw_arguments", "result", "changes", "actions", "deltas", "data"}
)
SLOTS = ReviewSlot.objects.select_related("item__queue", "item__verdict__trial__scenario", "item__verdict__judge")
Notices = list[tuple[str, str]]


@role_required("reviewer")
@never_cache
@require_safe
def queue_work(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the reader's next item. Opening the page leases it."""
    queue = get_object_or_404(ReviewQueue, pk=pk)
    after = request.GET.get("after", "")
    return _next(request, queue, int(after) if after.isdecimal() and len(after) < 12 else 0)


@role_required("reviewer")
@require_POST
def queue_rule(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a ruling: answers with the reveal after a blind one, else with the next item."""
    slot = _slot(request, pk)
    comment = request.POST.get("comment", "")
    try:
        review = rule(
            slot,
            request.user,
            _uuid(request.POST.get("lease", "")),
            request.POST.get("ruling", ""),
            comment,
            submit_key=request.POST.get("submit_key", "")[:64] or None,
            shown=request.POST.get("stage", ""),
        )
    except Refused as refusal:
        return _refused(request, slot, refusal, comment)
    if review.stage == Review.Stage.BLIND and next_stage(slot, request.user) != Review.Stage.BLIND:
        fresh = SLOTS.get(pk=slot.pk)
        if fresh.done_at is None:
            return _again(request, fresh, [])
    return _next(request, slot.item.queue, slot.item_id)


@role_required("reviewer")
@require_POST
def queue_skip(request: HttpRequest, pk: int) -> HttpResponse:
    """Give the item back and show the next."""
    slot = _slot(request, pk)
    keep_draft_of(request, slot)
    skip(slot, request.user)
    return _next(request, slot.item.queue, slot.item_id)


@role_required("reviewer")
@require_POST
def queue_undo(request: HttpRequest, pk: int) -> HttpResponse:
    """Take back the reader's last ruling in this queue and show that item again."""
    queue = get_object_or_404(ReviewQueue, pk=pk)
    slot = last_ruled(queue, request.user)
    if slot is None:
        return _next(request, queue, 0, [("warning", "There is no ruling of yours in this queue to take back.")])
    undo(slot, request.user)
    notice = ("info", "Taken back. Both the ruling and that you took it back stay in the history.")
    return _show(request, SLOTS.get(pk=slot.pk), [notice])


@role_required("reviewer")
@require_POST
def queue_draft(request: HttpRequest, pk: int) -> HttpResponse:
    """Keep what is being typed and renew the lease; says so when the lease is gone."""
    slot = _slot(request, pk)
    keep_draft_of(request, slot)
    is_mine = slot.done_at is not None or hold(slot, request.user) is not None
    return render(request, "review/_lease.html", {"is_mine": is_mine})


@role_required("reviewer")
@never_cache
@require_safe
def queue_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """Return how far the queue is."""
    queue = get_object_or_404(ReviewQueue, pk=pk)
    return render(request, "review/_given.html", {"progress": progress(queue, request.user)})


@role_required("reviewer")
@require_safe
def item_events(request: HttpRequest, pk: int, item: int) -> HttpResponse:
    """Give the rest of a long call."""
    found = _item(pk, item)
    record = Record(found.verdict.trial, is_whole=True)
    first = request.GET.get("from", "")
    start = int(first) if first.isdecimal() and len(first) < 10 else 1
    rows = [row for row in record.rows if row["seq"] >= start]
    return render(request, "review/_rows.html", {"rows": rows, "events_base": base_of(found)})


@role_required("reviewer")
@require_safe
def item_event(request: HttpRequest, pk: int, item: int, seq: int) -> HttpResponse:
    """Give one value of an event whole; events that tell of the scoring are not found."""
    event = call_events(_item(pk, item).verdict.trial).filter(seq=seq).first()
    part = request.GET.get("part", "data")
    if event is None or part not in PARTS or (part != "data" and part not in event.data):
        raise Http404(f"event {seq} has no {part!r}")
    text = transcript.as_text(event.data if part == "data" else event.data[part])
    if request.headers.get("HX-Request") == "true":
        return render(request, "trials/_whole.html", {"text": text})
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@role_required("reviewer")
@require_safe
def item_prompts(request: HttpRequest, pk: int, item: int) -> HttpResponse:
    """Give what each side was told: the policy, and the tools."""
    events = _item(pk, item).verdict.trial.events.filter(kind="party.prepared").order_by("-seq")
    return render(request, "trials/_prompts.html", {"parties": sorted(events[:2], key=lambda event: event.side)})


def keep_draft_of(request: HttpRequest, slot: ReviewSlot) -> None:
    """Keep the comment of a form as a draft, unless that form was sent already: what was sent is no draft."""
    if "comment" not in request.POST:
        return
    key = request.POST.get("submit_key", "")[:64]
    with transaction.atomic():
        locked(slot)  # a ruling of the same form that is being stored now comes first, or waits and forgets this draft
        if not (key and Review.objects.filter(submit_key=key).exists()):
            keep_draft(slot.item, request.user, request.POST["comment"])


def base_of(item: ReviewItem) -> str:
    """Return where the values of an item's events are."""
    return reverse("review-events", args=[item.queue_id, item.pk]).removesuffix("events/")


def _next(request: HttpRequest, queue: ReviewQueue, after: int, notices: Notices | None = None) -> HttpResponse:
    """Show the next item that can still be ruled on; one whose record is another by now leaves the queue."""
    notices = list(notices or [])
    while (slot := take(queue, request.user, after)) is not None:
        slot = SLOTS.get(pk=slot.pk)
        if not is_outdated(slot.item.verdict):
            return _show(request, slot, notices)
        drop(slot.item)
        notices.append(
            ("warning", f"Item {slot.item.position} left the queue: its call was held or scored again since.")
        )
    if request.method == "POST" and not request.headers.get("HX-Request"):
        return _back(request, queue, after, notices)
    so_far = progress(queue, request.user)
    context = {"queue": queue, "progress": so_far, "notices": notices, "labels": may_read_labels(queue, so_far)}
    return render(request, _template(request, "done"), context)


def _show(request: HttpRequest, slot: ReviewSlot, notices: Notices) -> HttpResponse:
    if request.method == "POST" and not request.headers.get("HX-Request"):
        return _back(request, slot.item.queue, slot.item_id - 1, notices)
    context = {**_case(request, slot, notices), **_record(slot)}
    if request.method == "GET":
        # The page keeps these figures over the items that follow and asks for them beside: counting takes longer.
        context["progress"] = progress(slot.item.queue, request.user)
    answer = render(request, _template(request, "desk"), context)
    return trigger_client_event(answer, "review-given", after="settle") if request.method == "POST" else answer


def _again(request: HttpRequest, slot: ReviewSlot, notices: Notices, **more: Any) -> HttpResponse:
    """Show the same item's claim and ruling anew; transcript and what is beside it stay where the reader has them."""
    if not request.headers.get("HX-Request"):
        return _back(request, slot.item.queue, slot.item_id - 1, notices)
    answer = render(request, "review/_again.html", {**_case(request, slot, notices), **more})
    return retarget(reswap(answer, "outerHTML"), "#case")


def _refused(request: HttpRequest, slot: ReviewSlot, refusal: Refused, comment: str) -> HttpResponse:
    notices: Notices = [("warning", _sentence(refusal))]
    if refusal.why in ("reason", "ruling"):
        return _again(request, SLOTS.get(pk=slot.pk), notices, pending=request.POST.get("ruling", ""))
    if refusal.why == "stale":
        return _show(request, SLOTS.get(pk=slot.pk), notices)
    if refusal.why == "changed":
        drop(slot.item)
        notices = [("warning", f"{_sentence(refusal)} The item left the queue.")]
    if comment.strip():
        notices.append(("kept", comment))
    return _next(request, slot.item.queue, slot.item_id, notices)


def _case(request: HttpRequest, slot: ReviewSlot, notices: Notices) -> dict[str, Any]:
    """Return what the upper part of the desk shows; the judge's ruling only when the person has ruled."""
    item, verdict, person = slot.item, slot.item.verdict, request.user
    stage, own = next_stage(slot, person), blind_ruling(slot, person)
    draft = ReviewDraft.objects.filter(item=item, reviewer_id=person.pk).first()
    context: dict[str, Any] = {
        "queue": item.queue,
        "item": item,
        "slot": slot,
        "trial": verdict.trial,
        "claim": verdict.claim,
        "stage": stage,
        "own": own,
        "comment": draft.comment if draft else "",
        "submit_key": uuid.uuid4().hex,
        "choices": choices(verdict, is_blind=item.queue.is_blind, own=own.ruling if own else ""),
        "notices": notices,
        "can_undo": last_ruled(item.queue, person) is not None,
    }
    if stage == Review.Stage.REVEALED:
        seqs = [quote["seq"] for quote in verdict.evidence if quote.get("seq")]
        context["judged"] = judged(verdict, call_events(verdict.trial).filter(seq__in=seqs))
    return context


def _record(slot: ReviewSlot) -> dict[str, Any]:
    record = Record(slot.item.verdict.trial)
    return {
        "record": record,
        "brief": brief(slot.item.verdict.trial),
        "places": record.places(slot.item.verdict.claim),
        "events_base": base_of(slot.item),
        "prompts_url": f"{base_of(slot.item)}prompts/",
    }


def _template(request: HttpRequest, name: str) -> str:
    is_part = request.method == "POST" and request.headers.get("HX-Request") == "true"
    return f"review/_{name}.html" if is_part else f"review/{name}.html"


def _back(request: HttpRequest, queue: ReviewQueue, after: int, notices: Notices) -> HttpResponse:
    """Answer a form that was sent without script."""
    for level, text in notices:
        messages.add_message(
            request,
            messages.INFO if level in ("info", "kept") else messages.WARNING,
            f"Kept: {text}" if level == "kept" else text,
        )
    return redirect(f"{reverse('review-queue', args=[queue.pk])}?after={max(0, after)}")


def _slot(request: HttpRequest, queue: int) -> ReviewSlot:
    number = request.POST.get("slot", "")
    if not (number.isascii() and number.isdigit() and len(number) < 12):
        raise Http404("This form is incomplete: it names no item. Reload the page.")
    return get_object_or_404(SLOTS, pk=int(number), item__queue=queue)


def _item(queue: int, item: int) -> ReviewItem:
    items = ReviewItem.objects.select_related("verdict__trial__scenario")
    return get_object_or_404(items, pk=item, queue=queue)


def _uuid(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def _sentence(refusal: Refused) -> str:
    text = str(refusal)
    return f"{text[:1].upper()}{text[1:]}."
