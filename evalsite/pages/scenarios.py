"""What is asked, what must be true, is the task sound."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evalsite import dossier
from evalsite.filters import HEALTH, SCENARIOS_A_PAGE, ScenarioFilter, page_of, tags_of
from evalsite.notes import benchmark_notes
from scenarios import catalogue, domains
from scenarios.domains.base import Domain, ScenarioSpec
from scenarios.models import Scenario
from scenarios.replay import gold_replay

RUNS_IN_HISTORY = 50


@require_safe
def scenario_domains(request: HttpRequest) -> HttpResponse:
    """Show which domains there are, and whether each can be used here."""
    rows = [dossier.DomainRow(domain) for domain in domains.load().values()]
    return render(request, "scenarios/domains.html", {"rows": rows})


@require_safe
def scenario_list(request: HttpRequest, domain: str) -> HttpResponse:
    """Show the scenarios of a domain: what is asked, how they are scored, which of them are odd."""
    row = dossier.DomainRow(_domain(domain))
    chosen = ScenarioFilter.read(request.GET)
    everything = Scenario.objects.filter(domain=domain, is_registered=True)
    page = page_of(chosen.apply(everything), request.GET.get("page"), SCENARIOS_A_PAGE)
    context = {
        "row": row,
        "filter": chosen,
        "page": page,
        "tags": tags_of(everything),
        "healths": HEALTH,
        "personas": everything.exclude(persona_name="")
        .order_by("persona_name")
        .values_list("persona_name", flat=True)
        .distinct(),
        "rates": dossier.rates_of(list(page)),
    }
    return render(request, "scenarios/list.html", context)


@require_safe
def scenario(request: HttpRequest, domain: str, name: str) -> HttpResponse:
    """Show one scenario; ``?show=prompts`` adds what both sides are told."""
    home = _domain(domain)
    spec = _spec(home, name)
    row = Scenario.objects.filter(name=name).first()
    shows_prompts = request.GET.get("show") == "prompts"
    context = {
        "domain": home,
        "spec": spec,
        "row": row,
        "gold": dossier.gold_steps(spec),
        "health": dossier.health_notes(spec, gold_replay(spec)),
        "known_errors": spec.extra.get("known_errors", ()),
        "notes": benchmark_notes(spec),
        "neighbours": dossier.neighbours(home, spec),
        "history": dossier.history(row, RUNS_IN_HISTORY) if row else [],
        "prompts": [("Agent", home.agent_prompt(spec)), ("Caller", home.caller_prompt(spec))]
        if shows_prompts
        else None,
    }
    return render(request, "scenarios/scenario.html", context)


def _domain(name: str) -> Domain:
    found = domains.load().get(name)
    if found is None:
        raise Http404(f"There is no domain {name!r}; there are {', '.join(domains.load())}.")
    return found


def _spec(domain: Domain, name: str) -> ScenarioSpec:
    if missing := domain.missing_data():
        raise Http404(f"{domain.title} cannot be used here: {missing}")
    found = next((spec for spec in catalogue.specs(domain.name) if spec.name == name), None)
    if found is None:
        raise Http404(f"{domain.title} has no scenario {name!r}.")
    return found
