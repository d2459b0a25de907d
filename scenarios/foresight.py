"""What earlier runs say about a launch: how long a call took, what it cost, and what difference the run could show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, Q, Sum

from scenarios.analysis.power import Sight, discordance, sight
from scenarios.configurations import alike_to
from scenarios.launch import RunConfig
from scenarios.models import Run, Trial
from scenarios.scoring.results import RATED

# The newest runs that are gone by.
RUNS = 10


class Measured(NamedTuple):
    """A mean over calls, and the lowest and highest mean of a run (None when only one run tells)."""

    mean: float
    spread: tuple[float, float] | None
    runs: int
    calls: int


@dataclass(frozen=True)
class Foresight:
    """What is known. ``is_alike``: the runs are of the launch's configuration, else only of its agent.

    ``seconds`` and ``cost`` are those of one call. ``sight`` None: unknown, for the reason in ``blind``.
    ``baseline`` is the last run of the same configuration, that this one would be held against.
    """

    is_alike: bool
    seconds: Measured | None
    cost: Measured | None
    sight: Sight | None
    blind: str
    baseline: Run | None
    repeated: int  # scenarios with two rated calls or more, that flakiness is known from


def foresee(config: RunConfig) -> Foresight:
    """Return what runs that were held here say about a launch of this configuration."""
    held = Run.objects.filter(imported_from=None)
    same = alike_to(config.stored(), config.domain, held)[:RUNS]
    runs = same or list(
        held.filter(domain=config.domain, channel=config.channel, config__agent__slug=config.agent.slug)
        .order_by("-launched_at")
        .values_list("pk", flat=True)[:RUNS]
    )
    rows = Trial.objects.filter(run__in=runs, duration_ms__isnull=False).order_by().values("run_id")
    per_run = list(rows.annotate(calls=Count("pk"), ms=Sum("duration_ms"), priced=Count("cost"), dollars=Sum("cost")))
    seen, blind, repeated = _sight(config, same)
    return Foresight(
        bool(same),
        _measured([(row["ms"] / 1000, row["calls"]) for row in per_run if row["calls"]]),
        None if config.unpriced else _measured([(row["dollars"], row["priced"]) for row in per_run if row["priced"]]),
        seen,
        blind,
        Run.objects.filter(pk=same[0]).first() if same else None,
        repeated,
    )


def _measured(sums: Sequence[tuple[float, int]]) -> Measured | None:
    """Return the mean of (sum, calls) of each run."""
    if not sums:
        return None
    means = [total / calls for total, calls in sums]
    calls = sum(count for _, count in sums)
    return Measured(
        sum(total for total, _ in sums) / calls,
        (min(means), max(means)) if len(means) > 1 else None,
        len(means),
        calls,
    )


def _sight(config: RunConfig, same: Sequence[int]) -> tuple[Sight | None, str, int]:
    """Return what could be seen against the last run, or why that is not known, and how many scenarios tell."""
    if not same:
        return None, "no earlier run of this configuration", 0
    counts = _counts(config, same)
    last = set(Trial.objects.filter(run=same[0], outcome__in=RATED).order_by().values_list("scenario__name", flat=True))
    shared = [name for name in counts if name in last]
    if not shared:
        return None, f"the last run of this configuration, {same[0]}, rated none of these scenarios", 0
    repeated = [counts[name] for name in shared if counts[name][1] > 1]
    flaky = discordance(repeated)
    if flaky is None:
        return None, "no scenario was called twice with this configuration, so its flakiness is unknown", 0
    rate = sum(passes / rated for passes, rated in repeated) / len(repeated)
    trials = min(config.trials, Run.objects.get(pk=same[0]).config["trials"])
    # A mean over few scenarios may pass what their rate allows.
    return sight(len(shared), trials, min(flaky, 2 * rate * (1 - rate)), rate), "", len(repeated)


def _counts(config: RunConfig, runs: Sequence[int]) -> Mapping[str, tuple[int, int]]:
    """Return (passes, rated calls) of each of the launch's scenarios."""
    wanted = {ref.name for ref in config.scenarios}
    rows = Trial.objects.filter(run__in=runs, outcome__in=RATED).order_by().values_list("scenario__name")
    found = rows.annotate(passes=Count("pk", filter=Q(outcome="pass")), rated=Count("pk"))
    return {name: (passes, rated) for name, passes, rated in found if name in wanted}
