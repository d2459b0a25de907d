"""How a domain or one scenario fared over runs: a rate a run, each run in the series of its configuration."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from scenarios.configurations import identities, normal, sound
from scenarios.models import Run, Scenario, Trial
from scenarios.scoring.rollup import OutcomeCount, Rate, success_rate
from scenarios.standing import standings

# The newest runs that a trend looks at, and how many fields tell two configurations of one agent apart in words.
MOST_RUNS = 40
_TOLD = 3
_LONGEST_VALUE = 40


@dataclass(frozen=True)
class TrendPoint:
    """One run: its rate over the whole domain or the one scenario."""

    run: Run
    series: str
    rate: Rate
    scenarios: int


@dataclass(frozen=True)
class Trend:
    """Points from the oldest run to the newest; ``series`` are the configurations in the order they first occur."""

    points: Sequence[TrendPoint]
    series: Sequence[str]


def trend(domain: str, scenario: Scenario | None = None, *, rehearsals: bool = False, cancelled: bool = False) -> Trend:
    """Return the trend of a domain, or of one of its scenarios; rehearsals stand apart.

    Runs with an error that nobody has accepted are left out, and so are those in which nothing was rated. A run that
    was cancelled is in it only when asked for: what had ended by then is no fair sample of its scenarios.
    """
    newest = sound(Run.objects.filter(domain=domain, is_rehearsal=rehearsals)).order_by("-launched_at", "-pk")
    if not cancelled:
        newest = newest.filter(cancel_requested_at=None)
    if scenario is not None:
        newest = newest.filter(pk__in=Trial.objects.filter(scenario=scenario).values("run_id"))
    keys = identities(newest[:MOST_RUNS])
    runs = sorted(Run.objects.filter(pk__in=keys), key=lambda run: (run.launched_at, run.pk))
    names = _names(keys)
    rates = _rates_of(scenario, runs) if scenario else {pk: one.rate for pk, one in standings(runs).items()}
    points = [
        TrendPoint(run, names[run.pk], rates[run.pk], len(run.config["scenarios"]))
        for run in runs
        if rates[run.pk].total
    ]
    return Trend(points, list(dict.fromkeys(point.series for point in points)))


def _rates_of(scenario: Scenario, runs: Sequence[Run]) -> dict[int, Rate]:
    rows = Trial.objects.filter(scenario=scenario, run__in=runs).order_by().values_list("run_id", "outcome")
    counts: dict[int, list[OutcomeCount]] = defaultdict(list)
    for run, outcome, count in rows.annotate(Count("pk")):
        counts[run].append(OutcomeCount(outcome, False, count))
    return {run.pk: success_rate(counts[run.pk]) for run in runs}


def _names(keys: Mapping[int, Mapping[str, Any]]) -> dict[int, str]:
    """Name each run's configuration by its agent, and by what sets it apart where an agent has several."""
    agents: dict[str, dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for key in keys.values():
        agents[_agent(key)][normal(key)] = key
    return {pk: _name(key, list(agents[_agent(key)].values())) for pk, key in keys.items()}


def _agent(key: Mapping[str, Any]) -> str:
    agent = str(key.get("agent.slug") or key.get("agent.model") or "agent unknown")
    return f"{agent} (imported, {key['imported']})" if "imported" in key else agent


def _name(key: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> str:
    fields = dict.fromkeys(field for other in others for field in other)
    apart = [field for field in fields if any(other.get(field) != key.get(field) for other in others)]
    words = [f"{field} {_shortened(key.get(field, '-'))}" for field in apart[:_TOLD]]
    more = f" and {len(apart) - _TOLD} more" if len(apart) > _TOLD else ""
    return f"{_agent(key)}: {', '.join(words)}{more}" if words else _agent(key)


def _shortened(value: Any) -> str:
    """Return a value in one line: some are whole prompts, of which files may have two that begin alike."""
    text = " ".join(str(value).split())
    if len(text) <= _LONGEST_VALUE:
        return text
    return f"{text[:_LONGEST_VALUE]}… ({hashlib.sha256(text.encode()).hexdigest()[:6]})"
