"""What the run page loads when somebody opens it: how far to trust the judge, and whose fault the failures are."""

import time

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evalsite.access import has_role, role_required
from evalsite.corrected import WANTED, corrected
from evalsite.pages.runs import get_run
from evalsite.transcript import anchor
from scenarios import faults
from scenarios.analysis.fault import FAULT_SIDES, SIDE_WORDS
from scenarios.models import Run, Trial
from scenarios.reviewing import QueueFilter, make_queue

# One press reads records for so long, so that no request runs into a time limit.
SLICE_S, SLICE = 4.0, 50
QUEUE_ITEMS = 100


@require_safe
def run_corrected(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the rate as judged, after people's rulings, and corrected for the judge's error."""
    run = get_run(pk)
    return _part(request, run, "runs/_corrected.html", {"found": corrected(run), "wanted": WANTED})


@role_required("reviewer")
@require_POST
def run_queue(request: HttpRequest, pk: int) -> HttpResponse:
    """Make the queue of those calls whose labels narrow this run's corrected rate most."""
    run = get_run(pk)
    chosen = QueueFilter(runs=(run.pk,), kind="narrowing", sample=QUEUE_ITEMS)
    try:
        queue = make_queue(f"Labels for run {run.pk}", chosen, request.user, form_key=request.POST.get("form_key", ""))
    except ValueError:
        messages.info(request, "Nothing to label: the judge decides no call of this run that has no label yet.")
        return redirect(f"{request.path.removesuffix('labels-queue/')}?open=judge")
    messages.success(request, f"Made the queue “{queue}” of {queue.items.count()} claims: begin here.")
    return redirect("review-queue", queue.pk)


@require_http_methods(["GET", "HEAD", "POST"])
def run_faults(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the rate by whose fault failures are; POST (reviewers) attributes calls that are due, for a while."""
    run = get_run(pk)
    due = faults.due(run)
    if request.method == "POST" and has_role(request.user, "reviewer"):
        ends = time.monotonic() + SLICE_S
        while due and time.monotonic() < ends:
            faults.attribute(due[:SLICE])
            due = due[SLICE:]
        if not _is_htmx(request):
            return redirect(f"{request.path.removesuffix('faults/')}?open=faults")
    rates = faults.ledger(run)
    context = {
        "rates": rates,
        "due": len(due),
        "sides": [(side, SIDE_WORDS[side], rates.fails[side]) for side in FAULT_SIDES if side in rates.fails],
        "failed": sum(rates.fails.values()) + rates.undecided,
    }
    return _part(request, run, "runs/_faults.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def trial_fault(request: HttpRequest, run: int, scenario: str, number: int) -> HttpResponse:
    """Return what points to whose fault a call is, and the history; POST takes a reviewer's word."""
    trials = Trial.objects.select_related("run", "scenario")
    trial = get_object_or_404(trials, run_id=run, scenario__name=scenario, number=number)
    problem = ""
    if request.method == "POST":
        if not has_role(request.user, "reviewer"):
            problem = "Only reviewers rule on whose fault a call is."
        else:
            try:
                faults.rule_on(trial, request.user, request.POST.get("side", ""), request.POST.get("reason", ""))
            except faults.Refused as refused:
                problem = f"Nothing was taken: {refused}."
            else:
                trial.refresh_from_db()
        if not _is_htmx(request):
            if problem:
                messages.error(request, problem)
            return redirect("trial-detail", run, scenario, number)
    return render(request, "trials/_fault.html", fault_context(trial, problem, request.POST.get("reason", "")))


def fault_context(trial: Trial, problem: str = "", typed: str = "") -> dict[str, object]:
    """Return the context of ``trials/_fault.html``: the attribution as of now, its clues with their places."""
    found = faults.attribution_of(trial)
    seqs = {clue.seq for clue in found.clues if clue.seq is not None}
    places = {event.seq: anchor(event) for event in trial.events.filter(seq__in=seqs)}
    return {
        "trial": trial,
        "run": trial.run,
        "found": found,
        "found_word": SIDE_WORDS[found.side] if found.side else "",
        "counting": faults.counting(trial),
        "clues": [(clue, SIDE_WORDS[clue.side], places.get(clue.seq or 0, "")) for clue in found.clues],
        "history": list(trial.fault_rulings.select_related("person").order_by("-pk")),
        "sides": [(side, SIDE_WORDS[side]) for side in FAULT_SIDES],
        "is_pass": trial.outcome == "pass",
        "problem": problem,
        "typed": typed if problem else "",
    }


def _part(request: HttpRequest, run: Run, template: str, context: dict[str, object]) -> HttpResponse:
    """Return a part of the run page: bare for htmx, else as a page of its own for readers without script."""
    if _is_htmx(request):
        return render(request, template, {**context, "run": run})
    return render(request, "runs/part.html", {**context, "run": run, "part": template})


def _is_htmx(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"
