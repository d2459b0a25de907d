"""What the compare page shows: sets of scenarios as rows with their calls, and tables of differences."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scenarios.analysis.comparison import Change, ChangeSet, Comparison
from scenarios.analysis.paired import Difference
from scenarios.comparing import Compared, Side
from scenarios.comparing_signals import Call, by_signal
from scenarios.models import FaultRuling

# In the order of the page; scenarios that pass in both are counted, not listed.
SETS: tuple[ChangeSet, ...] = ("newly_failing", "newly_passing", "failing_in_both", "flaky")
SET_MEANINGS: Mapping[ChangeSet, str] = {
    "newly_failing": "Passed always before and fails always now, or fails more often than flakiness explains.",
    "newly_passing": "Failed always before and passes always now, or passes more often than flakiness explains.",
    "failing_in_both": "No call passed on either side.",
    "flaky": "Passes and fails, and the change is within what flakiness explains.",
}
# Calls of a side that stand in a row one by one; more are told in numbers.
CELLS = 6


@dataclass(frozen=True)
class Row:
    """A scenario of a set: its change, calls of either side, and the pair to open."""

    change: Change
    before: Sequence[Call]
    after: Sequence[Call]
    pair: tuple[int, int] | None  # primary keys of two trials
    is_retold: bool

    @property
    def shown_before(self) -> Sequence[Call]:
        """Return the baseline's calls that stand in the row."""
        return self.before[:CELLS]

    @property
    def shown_after(self) -> Sequence[Call]:
        """Return the candidate's calls that stand in the row."""
        return self.after[:CELLS]


@dataclass(frozen=True)
class SetOfRows:
    """One failure set; ``outside`` of its scenarios changed by more than flakiness explains."""

    kind: ChangeSet
    meaning: str
    changes: Sequence[Change]

    @property
    def outside(self) -> int:
        """Return how many changed by more than flakiness explains."""
        return sum(change.outside for change in self.changes)


def sets(comparison: Comparison) -> list[SetOfRows]:
    """Return the failure sets, what is outside the band first, then by how unlikely it is."""
    found = []
    for kind in SETS:
        changes = sorted(comparison.of_kind(kind), key=lambda c: (not c.outside, c.chance, c.scenario))
        found.append(SetOfRows(kind, SET_MEANINGS[kind], changes))
    return found


def rows(changes: Iterable[Change], before: Side, after: Side, retold: Sequence[str]) -> list[Row]:
    """Return rows with their calls."""
    changed = set(retold)
    return [
        Row(c, before.calls[c.scenario], after.calls[c.scenario], _pair(c, before, after), c.scenario in changed)
        for c in changes
    ]


def _pair(change: Change, before: Side, after: Side) -> tuple[int, int] | None:
    """Return the calls that show the change best: a pass beside a fail in its direction where there are such."""
    wanted = {"newly_failing": ("pass", "fail"), "newly_passing": ("fail", "pass")}.get(change.kind, ("fail", "fail"))
    if change.kind == "flaky":
        wanted = ("pass", "fail")
    first = _shown(before.calls[change.scenario], wanted[0])
    second = _shown(after.calls[change.scenario], wanted[1])
    return (first, second) if first is not None and second is not None else None


def _shown(calls: Sequence[Call], wanted: str) -> int | None:
    ended = [call for call in calls if call.outcome]
    best = [call for call in ended if call.outcome == wanted or (wanted == "fail" and call.outcome == "stalled")]
    return next((call.pk for call in best or ended), None)


@dataclass(frozen=True)
class Table:
    """Differences under one kind of label: persona, tag, signal or reporting prefix."""

    title: str
    what: str
    lines: Mapping[str, Difference]


def breakdown(compared: Compared, comparison: Comparison) -> Iterator[Table]:
    """Yield the tables that part the scenarios in at least two, and that of the signals."""
    if len(comparison.domains) > 1:
        yield Table("Reporting prefix", "prefix", comparison.domains)
    for kind, labels in compared.labels.items():
        lines = {name: line for name, line in comparison.by_label(labels).items() if line.scenarios}
        if lines:
            yield Table(kind.capitalize(), kind, lines)
    signals = by_signal(compared.baseline.signals, compared.side(comparison).signals)
    if signals:
        yield Table("Signal, where it gates", "signal", signals)


def faults(before: Side, after: Side) -> list[dict[str, Any]]:
    """Return failed calls of either side by whose fault they are; nothing where no fault is known."""
    words: dict[str, str] = {**dict(FaultRuling.Side.choices), "": "not decided"}
    if not any(side.faults.get(key) for side in (before, after) for key in words if key):
        return []
    totals = [sum(side.faults.values()) for side in (before, after)]
    return [
        {"word": word, "before": before.faults.get(key, 0), "after": after.faults.get(key, 0), "totals": totals}
        for key, word in words.items()
        if before.faults.get(key) or after.faults.get(key)
    ]
