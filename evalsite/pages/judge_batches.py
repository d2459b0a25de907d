"""Batches of judging: judge again as a dry run, watch it, see what would flip, save it; release a quarantine."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from bots.wake import wake_batch, wake_canaries
from evalsite.access import role_required
from evalsite.filters import page_of
from scenarios.judging.choice import Choice, check_runs, cost_estimate, make_batch, request_save, request_stop
from scenarios.judging.results import Progress, canary_rulings, progress, progresses, result
from scenarios.lifecycle import release_batch
from scenarios.models import JudgeBatch, Profile, Run

BATCHES_A_PAGE = 25
FLIPS_A_PAGE = 100
KINDS = {"rejudge": JudgeBatch.Kind.REJUDGE, "self": JudgeBatch.Kind.SELF}


@require_safe
def batch_list(request: HttpRequest) -> HttpResponse:
    """Show the batches, newest first."""
    batches = JudgeBatch.objects.select_related("judge", "run", "created_by")
    run = None
    if text := request.GET.get("run", ""):
        run = Run.objects.filter(pk=int(text)).first() if text.isdecimal() and len(text) < 10 else None
        batches = batches.filter(run=run) if run else batches.none()
    page = page_of(batches, request.GET.get("page"), BATCHES_A_PAGE)
    found = progresses(list(page))
    rows = [(batch, found[batch.pk]) for batch in page]
    context = {"page": page, "rows": rows, "run": run, "is_of_a_run": bool(text), "tab": "batches"}
    return render(request, "judges/batches.html", context)


@require_safe
def batch_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show how far a batch is and what came of it; asked for again each second by its own part while it goes on."""
    batch = _batch(pk)
    so_far = progress(batch)
    if request.headers.get("HX-Request") == "true":
        return _part(request, batch, so_far)
    return render(request, "judges/batch.html", _context(request, batch, so_far))


@role_required("operator")
@require_http_methods(["GET", "HEAD", "POST"])
def rejudge(request: HttpRequest) -> HttpResponse:
    """Ask which judge is to rule again on the chosen calls; POST begins a dry run."""
    given = request.POST if request.method == "POST" else request.GET
    judges = Profile.objects.filter(kind="judge", is_archived=False).select_related("prompt")
    context: dict[str, Any] = {"judges": judges, "given": given, "tab": "batches"}
    try:
        choice = Choice.read(given)
        check_runs(choice)
    except ValueError as problem:
        return render(request, "judges/rejudge.html", {**context, "problem": str(problem)}, status=422)
    trials = choice.trials()
    count = trials.count()
    context |= {"choice": choice, "count": count, "fields": _fields(choice), "claims": choice.claim_count}
    context["rows"] = [(one, _times(cost_estimate(trials, one.frozen()), count)) for one in judges]
    if request.method != "POST":
        return render(request, "judges/rejudge.html", context)
    profile = judges.filter(slug=request.POST.get("judge", "")).first()
    kind = KINDS.get(request.POST.get("kind", ""), JudgeBatch.Kind.REJUDGE)
    try:
        if profile is None:
            raise ValueError("choose the judge that is to rule")
        batch = make_batch(kind, choice, profile.frozen(), request.user)
    except ValueError as problem:
        return render(request, "judges/rejudge.html", {**context, "problem": str(problem)}, status=422)
    wake_batch(batch.pk)
    return redirect("batch-detail", batch.pk)


@role_required("operator")
@require_POST
def batch_stop(request: HttpRequest, pk: int) -> HttpResponse:
    """Begin no more requests; what has been answered stays."""
    if request_stop(_batch(pk)):
        wake_batch(pk)  # where nobody works on it, somebody has to end it
        messages.info(request, "Stopping: requests that are under way are waited for, no more begin.")
    else:
        messages.info(request, "Nothing to stop: the batch has ended.")
    return redirect("batch-detail", pk)


@role_required("operator")
@require_POST
def batch_save(request: HttpRequest, pk: int) -> HttpResponse:
    """Have the rulings stored beside the old ones; they count from then on."""
    batch = _batch(pk)
    try:
        request_save(batch, request.user)
    except ValueError as problem:
        messages.error(request, f"Not saved: {problem}.")
    else:
        wake_batch(pk)
        messages.success(request, "Saving: each call gets a new scoring; the old rulings stay in its history.")
    return redirect("batch-detail", pk)


@role_required("operator")
@require_POST
def batch_canaries(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask again about canaries on which the judge gave no ruling."""
    wake_canaries(_batch(pk).pk)
    messages.info(request, "Asking about the canaries that have no ruling yet.")
    return redirect("batch-detail", pk)


@role_required("admin")
@require_POST
def batch_release(request: HttpRequest, pk: int) -> HttpResponse:
    """Let the rulings of a quarantined batch count all the same, for a reason that is kept."""
    try:
        changed = release_batch(_batch(pk), request.user, request.POST.get("reason", ""))
    except ValueError as problem:
        messages.error(request, f"Not released: {problem}.")
    else:
        messages.warning(request, f"Released. {len(changed)} calls have another outcome now.")
    return redirect("batch-detail", pk)


def _batch(pk: int) -> JudgeBatch:
    batches = JudgeBatch.objects.select_related("judge", "run", "created_by", "saved_by", "released_by")
    return get_object_or_404(batches, pk=pk)


def _part(request: HttpRequest, batch: JudgeBatch, so_far: Progress) -> HttpResponse:
    """Return the progress alone; once the batch has ended, have the page loaded again with its result."""
    response = render(
        request, "judges/_progress.html", {"batch": batch, "progress": so_far, "is_open": _is_open(batch)}
    )
    if not _is_open(batch):
        response["HX-Refresh"] = "true"
    return response


def _context(request: HttpRequest, batch: JudgeBatch, so_far: Progress) -> dict[str, Any]:
    decision, rulings = canary_rulings(batch)
    context: dict[str, Any] = {
        "batch": batch,
        "progress": so_far,
        "is_open": _is_open(batch),
        "decision": decision,
        "canaries": rulings,
        "wrong": sum(ruling["is_wrong"] for ruling in rulings),
        "may_save": batch.kind == "rejudge" and batch.state in ("done", "stopped") and not batch.save_requested_at,
        "is_trusted": batch.canaries in JudgeBatch.TRUSTED,
        "tab": "batches",
    }
    if batch.kind != JudgeBatch.Kind.RUN:
        found = result(batch)
        context |= {"found": found, "flips": page_of(found.changed, request.GET.get("page"), FLIPS_A_PAGE)}
    return context


def _is_open(batch: JudgeBatch) -> bool:
    return batch.kind != JudgeBatch.Kind.RUN and batch.state in ("queued", "running")


def _fields(choice: Choice) -> list[tuple[str, str]]:
    """Return a choice as a form's hidden fields."""
    return [
        (name, ",".join(map(str, value)) if name == "runs" else "1" if value is True else str(value))
        for name, value in choice.stored().items()
    ]


def _times(cost: float | None, count: int) -> float | None:
    return None if cost is None else cost * count
