"""The grid of a run: a row a scenario, a cell a repetition; one page of rows at a time."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalsite.filters import TrialFilter
from scenarios.models import Run, Trial
from scenarios.scoring.rollup import OutcomeCount, Rate, success_rate

# Cells that one page draws; more repetitions mean fewer rows.
CELLS_A_PAGE = 400
MIN_ROWS, MAX_ROWS = 5, 50
_FIELDS = (
    "run_id",
    "number",
    "status",
    "outcome",
    "outcome_reason",
    "end_reason",
    "judged_outcome",
    "overruled_count",
    "by_inaction",
    "attempts",
    "duration_ms",
    "turn_count",
    "breakdown",
    "scenario__name",
)


@dataclass(frozen=True)
class Cell:
    """One trial, and whether it is there only because another of its scenario is what the filter looks for."""

    trial: Trial
    is_other: bool


@dataclass(frozen=True)
class GridRow:
    """One scenario with its trials in order."""

    name: str
    tags: Sequence[str]
    cells: Sequence[Cell]

    @property
    def rate(self) -> Rate:
        """Return the rate over this scenario's trials."""
        return success_rate(OutcomeCount(c.trial.outcome, c.trial.by_inaction, 1) for c in self.cells)

    @property
    def reason(self) -> str:
        """Return why the first match that is no pass is none."""
        matches = (cell.trial for cell in self.cells if not cell.is_other)
        return next((trial.outcome_reason for trial in matches if trial.outcome != "pass" and trial.outcome_reason), "")


def rows_a_page(run: Run) -> int:
    """Return how many scenarios one page shows."""
    return max(MIN_ROWS, min(MAX_ROWS, CELLS_A_PAGE // int(run.config["trials"])))


def grid(run: Run, chosen: TrialFilter, scenarios: Sequence[tuple[int, str, list[str]]]) -> list[GridRow]:
    """Return the rows of these scenarios (primary key, name, tags), read in at most two queries."""
    trials = run.trials.filter(scenario__in=[pk for pk, _, _ in scenarios])
    cells: dict[int, list[Cell]] = {pk: [] for pk, _, _ in scenarios}
    wanted = (
        set(chosen.trials(trials).values_list("pk", flat=True))
        if chosen.outcome or chosen.signal or chosen.fault or chosen.people
        else None
    )
    for trial in trials.select_related("scenario").only(*_FIELDS).order_by("scenario_id", "number"):
        cells[trial.scenario_id].append(Cell(trial, wanted is not None and trial.pk not in wanted))
    return [GridRow(name, tags, cells[pk]) for pk, name, tags in scenarios]
