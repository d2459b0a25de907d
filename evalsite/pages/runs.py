"""Runs: the list, and one run with its grid of trials."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evalsite.filters import FAULTS, KINDS, RUN_STATES, RUNS_A_PAGE, RunFilter, TrialFilter, page_of, tags_of
from evalsite.grid import grid, rows_a_page
from evalsite.imported import imported_context
from evalsite.judged import run_judging
from evalsite.pages.compare import comparable
from evalsite.reviewed import is_reviewed, overrules
from scenarios.models import Run, Scenario
from scenarios.repetitions import repetitions
from scenarios.standing import findings, standings

ITEM_NAMES = {
    "nl_assertion": "single claims",
    "db_state_assertion": "single predicates",
    "communicate": "facts to say (upstream)",
    "action": "calls to make (upstream)",
}


@require_safe
def run_list(request: HttpRequest) -> HttpResponse:
    """Show which runs there are."""
    chosen = RunFilter.read(request.GET)
    runs = chosen.apply(Run.objects.select_related("launched_by"), request.user)
    page = page_of(runs, request.GET.get("page"), RUNS_A_PAGE)
    context = {
        "filter": chosen,
        "page": page,
        "rows": list(standings(page.object_list).values()),
        "states": RUN_STATES,
        "kinds": KINDS,
        "domains": Run.objects.order_by("domain").values_list("domain", flat=True).distinct(),
    }
    return render(request, "runs/list.html", context)


@require_safe
def run_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Answer how good the agent is, where it fails, and whether that can be trusted."""
    run = get_run(pk)
    chosen = TrialFilter.read(request.GET)
    page = page_of(chosen.scenarios(run), request.GET.get("page"), rows_a_page(run))
    context = {
        **_headline(request, run),
        "filter": chosen,
        "page": page,
        "grid": grid(run, chosen, list(page)),
        "numbers": range(1, run.config["trials"] + 1),
        "tags": tags_of(Scenario.objects.filter(domain=run.domain)),
        "comparable": comparable(run),
        "opened": request.GET.get("open", ""),
        "faults": FAULTS,
        "parties": [(role, run.config[role]) for role in ("agent", "caller", "judge")],
        **(imported_context(run) if run.imported_from_id else {}),
    }
    return render(request, "runs/detail.html", context)


@require_safe
def run_headline(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the figures of a run that is going on; its cells come over the socket."""
    return render(request, "runs/_headline.html", _headline(request, get_run(pk)))


def get_run(pk: int) -> Run:
    """Return the run, or answer 404 with its number."""
    run = Run.objects.select_related("launched_by", "cancelled_by", "imported_from__imported_by").filter(pk=pk).first()
    if run is None:
        raise Http404(f"There is no run {pk}; it may have been deleted.")
    return run


def _headline(request: HttpRequest, run: Run) -> dict[str, object]:
    standing = standings([run])[run.pk]
    return {
        "run": run,
        "standing": standing,
        # A run that has ended changes only while people rule on its claims.
        "is_live": bool(standing.open) or is_reviewed(run),
        "overrules": overrules(run, standing),
        "found": findings(run),
        "judging": run_judging(run, standing),
        "repetitions": repetitions(run),
        "without_inaction": request.GET.get("inaction") == "out",
        "item_names": ITEM_NAMES,
    }
