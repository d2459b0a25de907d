"""What repeating scenarios showed in one run: pass^k, pass@k, and which scenarios are stable."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q

from scenarios.analysis.passk import PassK
from scenarios.analysis.trials import LeftOut, ScenarioTrials, Stability, repetition_tables
from scenarios.models import Run
from scenarios.scoring.results import RATED

# Trials that are named one by one; the count of all is given.
MAX_NAMED = 50
# Columns of the table: the field reports up to pass^5; a run may repeat 100 times.
MOST_K = 8


@dataclass(frozen=True)
class Repetitions:
    """pass^k and pass@k over scenarios with no trial missing; what the scenarios are; the trials that are missing."""

    rows: Sequence[tuple[int, PassK, PassK]]
    stability: Mapping[Stability, int]
    flaky: Sequence[str]
    missing: int
    named: Sequence[LeftOut]

    @property
    def scenarios(self) -> int:
        """Return how many scenarios the run repeats."""
        return sum(self.stability.values())


def repetitions(run: Run) -> Repetitions | None:
    """Return what a run's repetitions show; None for a run that holds each scenario once."""
    trials = int(run.config["trials"])
    if trials < 2:
        return None
    counts = (
        run.trials.order_by("scenario__name")
        .values_list("scenario__name")
        .annotate(passes=Count("pk", filter=Q(outcome="pass")), rated=Count("pk", filter=Q(outcome__in=RATED)))
    )
    # One that stands for all that are missing: the tables only ask whether any are.
    gathered = {
        name: ScenarioTrials(name, passes, rated, () if rated >= trials else (LeftOut("", name, 0, "missing"),))
        for name, passes, rated in counts
    }
    powers, chances = repetition_tables(gathered, min(trials, MOST_K))
    stability = Counter(scenario.stability for scenario in gathered.values())
    missing = trials * len(gathered) - sum(min(scenario.rated, trials) for scenario in gathered.values())
    return Repetitions(
        rows=[(power.k, power, chance) for power, chance in zip(powers, chances, strict=True)],
        stability=stability,
        flaky=[name for name, scenario in gathered.items() if scenario.stability == "flaky"],
        missing=missing,
        named=_missing(run) if missing else (),
    )


def _missing(run: Run) -> list[LeftOut]:
    rows = run.trials.exclude(outcome__in=RATED).order_by("position")
    found = rows.values_list("scenario__name", "number", "outcome")[:MAX_NAMED]
    return [LeftOut("", name, number, outcome or "open") for name, number, outcome in found]
