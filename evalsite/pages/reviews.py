"""Review: which queues there are, and a new one."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evalsite.access import has_role, role_required
from evalsite.filters import page_of
from evalsite.review_forms import QueueForm
from scenarios.models import ReviewDraft, ReviewQueue, Run, Verdict
from scenarios.reviewing import KINDS, Progress, choose, make_queue, open_disagreements, open_to, progresses, waiting

QUEUES_A_PAGE = 50


@role_required("reviewer")
@never_cache
@require_safe
def review_list(request: HttpRequest) -> HttpResponse:
    """Show what waits for the reader, how far each queue is, and what disagreements are open."""
    page = page_of(ReviewQueue.objects.select_related("created_by"), request.GET.get("page"), QUEUES_A_PAGE)
    queues = list(page.object_list)
    done, free = progresses(queues, request.user), waiting(queues, request.user)
    rows = [
        {
            "queue": queue,
            "progress": done[queue.pk],
            "waiting": free.get(queue.pk, 0),
            "may_close": may_close(request, queue),
            "labels": may_read_labels(queue, done[queue.pk]) or bool(done[queue.pk].done and may_close(request, queue)),
            # Who works a blind queue is not told what it was chosen by: that may tell the judge's ruling.
            "chosen": describe(queue) if may_close(request, queue) or not queue.is_blind else "",
        }
        for queue in queues
    ]
    context = {
        "page": page,
        "rows": rows,
        "drafts": ReviewDraft.objects.filter(reviewer_id=request.user.pk).select_related(
            "item__queue", "item__verdict"
        ),
        "open": len(open_disagreements()),
        "for_me": len(open_to(request.user)) if has_role(request.user, "operator") else 0,
    }
    return render(request, "review/list.html", context)


@role_required("reviewer")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def queue_new(request: HttpRequest) -> HttpResponse:
    """Show the form, filled from the address; POST makes the queue."""
    if request.method != "POST":
        typed = {name: request.GET[name] for name in QueueForm.base_fields if name in request.GET}
        return render(request, "review/new.html", {"form": QueueForm(initial=typed)})
    form = QueueForm(request.POST)
    if form.is_valid():
        title = form.cleaned_data["title"] or _title(form)
        try:
            queue = make_queue(title, form.chosen, request.user, **form.how, form_key=request.POST.get("form_key", ""))
        except ValueError as error:
            form.add_error(None, f"Not made: {error}.")
        else:
            messages.success(request, f"Made “{queue}” with {queue.items.count():,} items.")
            return redirect("review-list")
    return render(request, "review/new.html", {"form": form}, status=422)


@role_required("reviewer")
@require_POST
def queue_count(request: HttpRequest) -> HttpResponse:
    """Return what the filter finds, or what is still wrong."""
    form = QueueForm(request.POST)
    if not form.is_valid():
        return render(request, "review/_count.html", {"form": form})
    keys = choose(form.chosen)
    calls = Verdict.objects.filter(pk__in=keys).values("trial").distinct().count() if keys else 0
    context = {
        "form": form,
        "items": len(keys),
        "calls": calls,
        "reviews": len(keys) * form.how["reviews_per_item"],
        "kind": KINDS[form.chosen.kind],
        "is_random": form.chosen.is_random,
        "tells": form.how["is_blind"] and form.chosen.kind in ("failed", "passed"),
    }
    return render(request, "review/_count.html", context)


@role_required("reviewer")
@require_POST
def queue_close(request: HttpRequest, pk: int) -> HttpResponse:
    """Close a queue, or open it again; what was reviewed stays."""
    queue = get_object_or_404(ReviewQueue, pk=pk)
    if not may_close(request, queue):
        messages.error(
            request, f"“{queue}” was made by {queue.created_by or 'somebody else'}: ask them or an operator."
        )
        return redirect("review-list")
    ReviewQueue.objects.filter(pk=pk).update(closed_at=None if queue.closed_at else timezone.now())
    messages.success(request, f"“{queue}” is {'open again' if queue.closed_at else 'closed; what was reviewed stays'}.")
    return redirect("review-list")


@role_required("reviewer")
@require_POST
def draft_forget(request: HttpRequest, pk: int) -> HttpResponse:
    """Throw away a comment that was typed and never sent."""
    ReviewDraft.objects.filter(pk=pk, reviewer_id=request.user.pk).delete()
    return redirect("review-list")


def may_close(request: HttpRequest, queue: ReviewQueue) -> bool:
    """Return whether the reader made the queue or is an operator."""
    return queue.created_by_id == request.user.pk or has_role(request.user, "operator")


def may_read_labels(queue: ReviewQueue, so_far: Progress) -> bool:
    """Return whether everybody is led to a queue's labels: not while somebody rules blind beside them."""
    return bool(so_far.done) and (so_far.is_complete or not queue.is_blind or queue.closed_at is not None)


def describe(queue: ReviewQueue) -> str:
    """Return what a queue was made from, in words."""
    chosen: dict[str, Any] = queue.filter
    parts = [KINDS.get(chosen.get("kind", "all"), "claims")]
    if runs := chosen.get("runs"):
        parts.append(f"of run{'s' if len(runs) > 1 else ''} {', '.join(map(str, runs))}")
    for name in ("domain", "scenario", "outcome"):
        if chosen.get(name):
            parts.append(f"{name} {chosen[name]}")
    if chosen.get("number"):
        parts.append(f"trial {chosen['number']}")
    if chosen.get("judge"):
        parts.append(f"judge version #{chosen['judge']}")
    if chosen.get("sample"):
        parts.append(f"{chosen['sample']} drawn with seed {chosen.get('seed', 0)}")
    return ", ".join(parts)


def _title(form: QueueForm) -> str:
    """Return a title that does not tell what the judge ruled."""
    chosen = form.chosen
    if chosen.scenario:
        trial = f" trial {chosen.number}" if chosen.number else ""
        return f"Claims of {chosen.scenario}{trial}"
    if len(chosen.runs) == 1:
        return f"Claims of {Run.objects.get(pk=chosen.runs[0])}"
    return f"Claims of {chosen.domain or 'all domains'}"
