"""How a domain or a scenario fared over runs."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from evalsite.filters import KINDS
from evalsite.plotting import WIDE, drawing
from scenarios.models import Run, Scenario, Trial
from scenarios.trends import MOST_RUNS, Trend, TrendPoint, trend


@require_safe
def trends(request: HttpRequest) -> HttpResponse:
    """Show the rates of a domain's runs, or of one scenario in them, oldest first."""
    domains = list(Run.objects.order_by("domain").values_list("domain", flat=True).distinct())
    domain = request.GET.get("domain", "") or (domains[0] if domains else "")
    if domain and domain not in domains:
        raise Http404(f"No run of a domain {domain!r} is here; there are runs of {', '.join(domains) or 'none'}.")
    scenario = _scenario(domain, request.GET.get("scenario", ""))
    parties = request.GET.get("parties", "")
    if parties not in KINDS:
        parties = "model" if Run.objects.filter(domain=domain, is_rehearsal=False).exists() else "rehearsal"
    cancelled = request.GET.get("cancelled") == "1"
    found = trend(domain, scenario, rehearsals=parties == "rehearsal", cancelled=cancelled)
    context = {
        "cancelled": cancelled,
        "domain": domain,
        "domains": domains,
        "scenario": scenario,
        "parties": parties,
        "kinds": KINDS,
        "most": MOST_RUNS,
        "changed": _changed(found, scenario),
        **plotted(found),
    }
    return render(request, "trends/trends.html", context)


def plotted(found: Trend, width: int = WIDE) -> dict[str, Any]:
    """Return a trend, its drawing, and newest first: point, number of its series, the run before in the series."""
    addresses = [reverse("run-detail", args=[point.run.pk]) for point in found.points]
    return {"trend": found, "plot": drawing(found, addresses, width), "lines": _lines(found.points, found.series)}


def _changed(found: Trend, scenario: Scenario | None) -> dict[int, int]:
    """Return how many calls of each run have another outcome than the judge's rulings gave, where any has."""
    trials = Trial.objects.filter(run__in=[point.run.pk for point in found.points]).exclude(judged_outcome="")
    if scenario is not None:
        trials = trials.filter(scenario=scenario)
    return dict(trials.order_by().values_list("run").annotate(count=Count("pk")))


def _lines(points: Sequence[TrendPoint], series: Sequence[str]) -> list[tuple[TrendPoint, int, int | None]]:
    last: dict[str, int] = {}
    lines = []
    for point in points:
        lines.append((point, series.index(point.series), last.get(point.series)))
        last[point.series] = point.run.pk
    return lines[::-1]


def _scenario(domain: str, name: str) -> Scenario | None:
    if not name:
        return None
    found = Scenario.objects.filter(domain=domain, name=name).first() if "\0" not in name else None
    if found is None:
        raise Http404(f"The domain {domain!r} has no scenario {name!r}.")
    return found
