"""Rates of a run, from counts: a page with 10,000 trials hands in a few aggregated rows, never its trials."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from scenarios.analysis.intervals import Interval, clustered, wilson
from scenarios.scoring.results import RATED, Outcome

# Below this share of rated trials a rate carries a warning.
COVERAGE_WARNING = 0.9
_LEFT_OUT_WORDS: dict[str, str] = {
    "judge_error": "judge failed",
    "infra_error": "infrastructure failed",
    "unscored": "not scored",
    "tainted": "touched by a person",
    "cancelled": "cancelled",
    "over_budget": "over budget",
    "open": "not finished",
    "stalled": "stalled",
    "undecided": "undecided",
    "not_applicable": "not applicable",
    "error": "no ruling",
    "by_inaction": "passed by inaction",
}


class OutcomeCount(NamedTuple):
    """So many trials with this outcome; "" is a trial that has not ended."""

    outcome: Outcome | str
    by_inaction: bool
    trials: int


class SignalCount(NamedTuple):
    """So many trials whose signal is in this state (``SignalState``) and whose outcome is ``outcome``."""

    signal: str
    state: str
    outcome: Outcome | str
    trials: int


class ItemCount(NamedTuple):
    """So many verdicts on claims or predicates; ``is_error``: the judge gave no ruling."""

    signal: str
    passed: bool
    is_error: bool
    outcome: Outcome | str
    items: int


@dataclass(frozen=True)
class Rate:
    """A rate with all that belongs beside it. ``value`` None is shown as "-"."""

    passes: int
    total: int
    interval: Interval | None
    left_out: Mapping[str, int] = field(default_factory=dict)  # reason -> how many

    @property
    def value(self) -> float | None:
        """Return passes over total, None over nothing."""
        return self.passes / self.total if self.total else None

    @property
    def left_out_total(self) -> int:
        """Return how many were left out for any reason."""
        return sum(self.left_out.values())

    @property
    def left_out_text(self) -> str:
        """Return what was left out and why, in words; "" when nothing was."""
        return ", ".join(f"{count} {_LEFT_OUT_WORDS.get(why, why)}" for why, count in self.left_out.items())

    @property
    def warning(self) -> str:
        """Return a warning when too much was left out for the rate to stand for the whole."""
        everything = self.total + self.left_out_total
        if not everything or self.total / everything >= COVERAGE_WARNING:
            return ""
        return f"only {self.total} of {everything} are in this rate"

    def __str__(self) -> str:
        value = "-" if self.value is None else f"{100 * self.value:.1f} %"
        band = f" [{100 * self.interval.low:.1f}-{100 * self.interval.high:.1f}]" if self.interval else ""
        out = f"; left out: {self.left_out_text}" if self.left_out else ""
        return f"{value}{band} ({self.passes} of {self.total}{out})"


def success_rate(
    counts: Iterable[OutcomeCount],
    *,
    clusters: Iterable[tuple[int, int]] | None = None,
    without_inaction: bool = False,
) -> Rate:
    """Return pass / (pass + fail + stalled).

    ``clusters`` are (passes, rated trials) of each scenario, wanted when scenarios are repeated, since trials of one
    scenario go together. ``without_inaction`` leaves passes out that doing nothing would have got.
    """
    passes = total = 0
    left_out: dict[str, int] = {}
    for outcome, by_inaction, count in counts:
        if without_inaction and by_inaction and outcome == "pass":
            _add(left_out, "by_inaction", count)
        elif outcome in RATED:
            total += count
            passes += count if outcome == "pass" else 0
        else:
            _add(left_out, outcome or "open", count)
    if without_inaction or clusters is None:
        return Rate(passes, total, wilson(passes, total), left_out)
    groups = list(clusters)
    if (sum(group[0] for group in groups), sum(group[1] for group in groups)) != (passes, total):
        raise ValueError(f"the scenarios' counts do not add up to {passes} passes of {total}")
    return Rate(passes, total, clustered(groups), left_out)


def inaction_count(counts: Iterable[OutcomeCount]) -> int:
    """Return how many passes came by doing nothing."""
    return sum(row.trials for row in counts if row.by_inaction and row.outcome == "pass")


def signal_rates(counts: Iterable[SignalCount]) -> dict[str, Rate]:
    """Return a rate for each signal that has a value in any trial, gating or not.

    Stalled trials are left out of these rates though they fail the composite: the reference's rule. The state
    "excluded" says nothing about passing: for signals that do not gate, callers give "passed" or "failed" by value.
    """
    return {signal: _rate_of(rows) for signal, rows in _grouped((row.signal, row) for row in counts).items()}


def item_rates(counts: Iterable[ItemCount]) -> dict[str, Rate]:
    """Return a rate over items for each of the signals with verdicts: claims and predicates, not trials, are counted.

    A claim without a ruling is left out. A predicate that raised is a failed one by the reference's rule: callers set
    ``is_error`` for claims only.
    """
    states = ((row.signal, SignalCount(row.signal, _item_state(row), row.outcome, row.items)) for row in counts)
    return {signal: _rate_of(rows) for signal, rows in _grouped(states).items()}


def do_nothing_rate(scenarios: int, passing_by_inaction: int) -> Rate:
    """Return what an agent that does nothing but end the call would score on these scenarios (trials weigh alike)."""
    return Rate(passing_by_inaction, scenarios, None)


def _rate_of(rows: Sequence[SignalCount]) -> Rate:
    passes = total = 0
    left_out: dict[str, int] = {}
    for _, state, outcome, count in rows:
        why = _why_left_out(state, outcome)
        if why:
            _add(left_out, why, count)
        else:
            total += count
            passes += count if state == "passed" else 0
    return Rate(passes, total, wilson(passes, total), left_out)


def _why_left_out(state: str, outcome: str) -> str:
    if outcome == "stalled":
        return "stalled"
    if outcome and outcome not in RATED and outcome not in ("judge_error", "unscored"):
        return outcome
    return "" if state in ("passed", "failed") else state


def _item_state(row: ItemCount) -> str:
    return "error" if row.is_error else "passed" if row.passed else "failed"


def _grouped(pairs: Iterable[tuple[str, SignalCount]]) -> dict[str, list[SignalCount]]:
    groups: dict[str, list[SignalCount]] = {}
    for key, row in pairs:
        groups.setdefault(key, []).append(row)
    return groups


def _add(counts: dict[str, int], key: str, count: int) -> None:
    if count:
        counts[key] = counts.get(key, 0) + count
