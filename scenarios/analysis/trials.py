"""What all trials of one configuration say about each scenario, with every trial that does not count named."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from scenarios.analysis.passk import PassK, pass_at_k, pass_k
from scenarios.scoring.results import RATED, Outcome

# once: a single trial, which cannot tell stable from flaky; incomplete: trials are missing and the rest agree.
Stability = Literal["stable_pass", "stable_fail", "flaky", "once", "incomplete"]
Settled = Literal["stable_pass", "stable_fail", "flaky", "once"]

MOST_TRIALS = 10_000  # repetitions of one scenario in a run


class TrialRow(NamedTuple):
    """One trial; ``outcome`` None has not ended. Run, scenario and number (from 1) name it."""

    scenario: str
    number: int
    outcome: Outcome | None
    run: str = ""


class LeftOut(NamedTuple):
    """A planned trial that no rate counts: its outcome, "open" (not ended) or "absent" (there is no such trial)."""

    run: str
    scenario: str
    number: int
    reason: str

    def __str__(self) -> str:
        name = f"{self.scenario}#{self.number}" + (f" of run {self.run}" if self.run else "")
        return f"{name}: {self.reason}"


def stability_of(passes: int, rated: int) -> Settled:
    """Return what one or more rated trials of one scenario under one configuration show.

    This is what "flaky" and "stable" mean on every page. Raises ValueError for no trials or counts that can't be.
    """
    if not 0 <= passes <= rated or not rated:
        raise ValueError(f"{passes} passes of {rated} rated trials say nothing about a scenario")
    if 0 < passes < rated:
        return "flaky"
    if rated == 1:
        return "once"
    return "stable_pass" if passes else "stable_fail"


@dataclass(frozen=True)
class ScenarioTrials:
    """One scenario: passes among its rated trials, and the trials left out."""

    scenario: str
    passes: int = 0
    rated: int = 0
    left_out: tuple[LeftOut, ...] = ()

    @property
    def rate(self) -> float | None:
        """Return passes over rated trials; None over nothing."""
        return self.passes / self.rated if self.rated else None

    @property
    def stability(self) -> Stability:
        """Return what the trials show. Passes and fails together are flaky, whatever is missing."""
        if not self.rated:
            return "incomplete"
        found = stability_of(self.passes, self.rated)
        return "incomplete" if self.left_out and found != "flaky" else found


def gather(
    rows: Iterable[TrialRow], *, trials: Mapping[str, int] | int | None = None, scenarios: Collection[str] = ()
) -> dict[str, ScenarioTrials]:
    """Return each scenario's trials, in the order of scenario names.

    ``trials`` is how many of each scenario were planned, in every run or by run name; without it the highest number
    seen in a run counts. A scenario that a run does not mention is not missing there, unless ``scenarios`` names it as
    planned. Raises ValueError for a trial that comes twice or a number
    outside 1 to ``MOST_TRIALS``: every number up to the highest is looked for.
    """
    by_run: dict[str, dict[str, dict[int, Outcome | None]]] = defaultdict(lambda: defaultdict(dict))
    for scenario, number, outcome, run in rows:
        numbers = by_run[run][scenario]
        if number in numbers or not 1 <= number <= MOST_TRIALS:
            remedy = "comes twice: count each trial once" if number in numbers else f"is not in 1 to {MOST_TRIALS}"
            raise ValueError(f"trial {number} of {scenario} in run {run or '(unnamed)'} {remedy}")
        numbers[number] = outcome
    for found in list(by_run.values()) or [by_run[""]]:
        for name in scenarios:
            found[name]  # known, if only as absent
    planned = {run: _planned(run, found, trials) for run, found in by_run.items()}
    names = {name for found in by_run.values() for name in found}
    return {name: _one(name, by_run, planned) for name in sorted(names)}


def _planned(run: str, found: Mapping[str, Mapping[int, object]], trials: Mapping[str, int] | int | None) -> int:
    given = trials.get(run) if isinstance(trials, Mapping) else trials
    highest = max((number for numbers in found.values() for number in numbers), default=1)
    return highest if given is None else max(given, highest)


def _one(
    scenario: str, by_run: Mapping[str, Mapping[str, Mapping[int, Outcome | None]]], planned: Mapping[str, int]
) -> ScenarioTrials:
    passes = rated = 0
    left_out = []
    for run in sorted(run for run, found in by_run.items() if scenario in found):
        numbers = by_run[run][scenario]
        for number in range(1, planned[run] + 1):
            outcome = numbers.get(number)
            if outcome in RATED:
                rated += 1
                passes += outcome == "pass"
            else:
                reason = outcome or ("open" if number in numbers else "absent")
                left_out.append(LeftOut(run, scenario, number, reason))
    return ScenarioTrials(scenario, passes, rated, tuple(left_out))


def left_out(gathered: Mapping[str, ScenarioTrials]) -> list[LeftOut]:
    """Return every trial that is not counted, scenario by scenario."""
    return [trial for scenario in gathered.values() for trial in scenario.left_out]


def repetition_tables(gathered: Mapping[str, ScenarioTrials], trials: int) -> tuple[list[PassK], list[PassK]]:
    """Return pass^k and pass@k for k from 1 to ``trials``, each over scenarios with no trial missing."""
    complete = [(s.passes, s.rated) for s in gathered.values() if s.rated and not s.left_out]
    short = len(gathered) - len(complete)
    counts = complete + [(0, 0)] * short  # counted as left out, whatever k
    return [pass_k(counts, k) for k in range(1, trials + 1)], [pass_at_k(counts, k) for k in range(1, trials + 1)]
