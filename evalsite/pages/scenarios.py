"""What is asked, what must be true, is the task sound."""

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from evalsite import dossier
from evalsite.filters import (
    HEALTH,
    KINDS,
    KNOWN_WORDS,
    RECORD_WORDS,
    SCENARIOS_A_PAGE,
    ScenarioFilter,
    page_of,
    tags_of,
)
from evalsite.notes import benchmark_notes
from evalsite.pages.trends import plotted
from evalsite.plotting import NARROW
from scenarios import catalogue, domains
from scenarios.domains.base import Domain, ScenarioSpec
from scenarios.domains.known_errors import known_errors_of
from scenarios.models import Scenario
from scenarios.replay import gold_replay
from scenarios.scoring.config import STRICTNESSES
from scenarios.scoring.upstream import nothing_written
from scenarios.trends import trend
from scenarios.validity import NEVER, RUNS_OF_A_RECORD, Tally, soundness, tallies

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
    found = {kind: tallies(domain, chosen.strictness, rehearsals=kind == "rehearsal") for kind in KINDS}
    mine = found[chosen.parties]
    page = page_of(chosen.apply(everything, mine), request.GET.get("page"), SCENARIOS_A_PAGE)
    context = {
        "row": row,
        "sound": soundness(everything, chosen.strictness, *found.values()),
        "tallies": {item.pk: mine.get(item.pk, NEVER) for item in page},
        "records": RECORD_WORDS,
        "kinds": KINDS,
        "strictnesses": STRICTNESSES,
        "newest": RUNS_OF_A_RECORD,
        "known_words": KNOWN_WORDS,
        "filter": chosen,
        "page": page,
        "tags": tags_of(everything),
        "healths": HEALTH,
        "personas": everything.exclude(persona_name="")
        .order_by("persona_name")
        .values_list("persona_name", flat=True)
        .distinct(),
    }
    return render(request, "scenarios/list.html", context)


@require_safe
def scenario(request: HttpRequest, domain: str, name: str) -> HttpResponse:
    """Show one scenario; ``?show=prompts`` adds what both sides are told."""
    row = Scenario.objects.filter(name=name, domain=domain).first() if "\0" not in name + domain else None
    if row is not None and not row.is_registered:
        # Known from results of other tools, or no longer in its domain: its runs are all there is to show.
        return redirect(f"{reverse('trends')}?{urlencode({'domain': domain, 'scenario': name})}")
    home = _domain(domain)
    spec = _spec(home, name)
    known = known_errors_of(spec)
    shows_prompts = request.GET.get("show") == "prompts"
    context = {
        "domain": home,
        "spec": spec,
        "row": row,
        "gold": dossier.gold_steps(spec),
        "health": dossier.health_notes(spec, gold_replay(spec)),
        "known_errors": [(e, KNOWN_WORDS[e.effect], KNOWN_WORDS[e.effect_by("upstream")]) for e in known],
        "unwritten": nothing_written(spec),
        "notes": benchmark_notes(spec),
        "neighbours": dossier.neighbours(home, spec),
        "records": _records(domain, row) if row else [],
        "history": dossier.history(row, RUNS_IN_HISTORY) if row else [],
        **(_trend(domain, row) if row else {}),
        "prompts": [("Agent", home.agent_prompt(spec)), ("Caller", home.caller_prompt(spec))]
        if shows_prompts
        else None,
    }
    return render(request, "scenarios/scenario.html", context)


def _trend(domain: str, row: Scenario) -> dict[str, object]:
    """Return the scenario's trend in the runs of models; in rehearsals where there are only those."""
    found = trend(domain, row)
    is_rehearsed = not found.points
    if is_rehearsed:
        found = trend(domain, row, rehearsals=True)
    return {**plotted(found, NARROW), "is_rehearsed": is_rehearsed}


def _records(domain: str, row: Scenario) -> list[tuple[str, str, Tally]]:
    """Return kind of parties, record in words and tally by the reference's strictness."""
    found = [
        (word, tallies(domain, "reference", rehearsals=kind == "rehearsal").get(row.pk, NEVER))
        for kind, word in KINDS.items()
    ]
    return [(word, RECORD_WORDS[tally.record], tally) for word, tally in found]


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
