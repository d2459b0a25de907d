"""Two or more runs compared: the sets of scenarios that changed first, the topline second.

The first run is the baseline. What is listed as a regression is outside the flake band (``flake``); the topline and the
domains are tested on pairs of scenarios (``paired``). History, trials of other runs of the same configuration, widens
what is known of a scenario's flakiness; rates come from the compared runs alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from scenarios.analysis.flake import ALPHA, Counts, Drops, both_ways
from scenarios.analysis.paired import Difference, corrected, difference
from scenarios.analysis.trials import LeftOut, ScenarioTrials, Stability, TrialRow, gather, left_out

ChangeSet = Literal["newly_failing", "newly_passing", "failing_in_both", "flaky", "passing_in_both"]
GATE = 0.01  # corrected p at which a worse topline alone closes a release gate
_NOTHING = ScenarioTrials("")


@dataclass(frozen=True)
class ComparedRun:
    """One run: its trials, and those of other runs of its configuration. ``trials``: how many were planned of each.

    ``past`` is history that a database has counted already: (passes, rated trials) of each scenario.
    """

    name: str
    rows: Sequence[TrialRow]
    history: Sequence[TrialRow] = ()
    trials: int | None = None
    past: Mapping[str, tuple[int, int]] = field(default_factory=dict)


class Change(NamedTuple):
    """One scenario in both runs, all trials of either configuration counted.

    ``outside``: the change is more than flakiness explains; ``chance``: how likely an unchanged agent does so or worse.
    """

    scenario: str
    counts: Counts
    before: Stability
    after: Stability
    kind: ChangeSet
    outside: bool
    chance: float


@dataclass(frozen=True)
class Unpaired:
    """A scenario without a rated trial in one of the runs: it is in no figure."""

    scenario: str
    run: str
    reason: str


@dataclass(frozen=True)
class Comparison:
    """A candidate against the baseline. ``changes`` are sorted by scenario, regressions and improvements too.

    ``false_alarms``: so many regressions an unchanged agent would be expected to show in this list.
    """

    baseline: str
    candidate: str
    changes: tuple[Change, ...]
    topline: Difference
    domains: Mapping[str, Difference]
    unpaired: tuple[Unpaired, ...]
    left_out: Mapping[str, Sequence[LeftOut]]
    false_alarms: float
    pairs: Mapping[str, Counts] = field(repr=False)

    @property
    def regressions(self) -> list[Change]:
        """Return the scenarios that fail more often than flakiness explains."""
        return [change for change in self.changes if change.outside and change.kind == "newly_failing"]

    @property
    def improvements(self) -> list[Change]:
        """Return the scenarios that pass more often than flakiness explains."""
        return [change for change in self.changes if change.outside and change.kind == "newly_passing"]

    @property
    def regressed(self) -> bool:
        """Tell whether a release gate should close: a scenario outside the band, or a topline worse at ``GATE``.

        The list may give a false alarm for an unchanged agent nearly once in twenty; ``GATE`` keeps both within that.
        """
        fell = self.topline.verdict == "worse" and (self.topline.adjusted_p or 0) <= GATE
        return bool(self.regressions) or fell

    def of_kind(self, kind: ChangeSet) -> list[Change]:
        """Return one of the sets."""
        return [change for change in self.changes if change.kind == kind]

    def by_label(self, labels: Mapping[str, Iterable[str]]) -> dict[str, Difference]:
        """Return the difference over the scenarios of each label (persona, tag...), Holm's correction over labels."""
        found = {
            label: difference([self.pairs[name] for name in set(names) & self.pairs.keys()])
            for label, names in labels.items()
        }
        return corrected(found)


def compare(
    baseline: ComparedRun, *candidates: ComparedRun, domains: Mapping[str, str], margin: float | None = None
) -> list[Comparison]:
    """Return each candidate against the baseline; ``domains`` gives each scenario's domain.

    P-values are corrected for the number of candidates (toplines) and of domains x candidates (domains), the band for
    the number of candidates. ``margin`` asks for equivalence too. Raises ValueError for no candidate, runs of one name,
    a trial that comes twice, history that holds a compared run's trials, or a scenario without a domain.
    """
    runs = (baseline, *candidates)
    if not candidates:
        raise ValueError("a comparison needs two runs or more")
    if len({run.name for run in runs}) < len(runs):
        raise ValueError(f"runs compared must differ: {', '.join(run.name for run in runs)}")
    compared = {row.run for run in runs for row in run.rows}
    sides = [_Side.of(run, compared) for run in runs]
    found = [_compared(sides[0], side, domains, margin, ALPHA / len(candidates)) for side in sides[1:]]
    toplines = corrected({one.candidate: one.topline for one in found})
    families = {(one.candidate, name): part for one in found for name, part in one.domains.items()}
    parts = corrected(families)
    return [
        replace(
            one,
            topline=toplines[one.candidate],
            domains={name: parts[one.candidate, name] for name in one.domains},
        )
        for one in found
    ]


@dataclass(frozen=True)
class _Side:
    name: str
    own: Mapping[str, ScenarioTrials]
    everything: Mapping[str, ScenarioTrials]

    @classmethod
    def of(cls, run: ComparedRun, compared: set[str]) -> "_Side":
        doubled = sorted({row.run for row in run.history} & compared)
        if doubled:
            raise ValueError(
                f"the history of {run.name} holds trials of {doubled[0]!r}, which is compared: leave them out"
            )
        own = gather(run.rows, trials=run.trials)
        everything = _joined(own, {name: (one.passes, one.rated) for name, one in gather(run.history).items()})
        return cls(run.name, own, _joined(everything, run.past))


def _joined(own: Mapping[str, ScenarioTrials], earlier: Mapping[str, tuple[int, int]]) -> Mapping[str, ScenarioTrials]:
    if not earlier:
        return own
    return {
        name: replace(mine, passes=mine.passes + earlier[name][0], rated=mine.rated + earlier[name][1])
        if name in earlier
        else mine
        for name, mine in own.items()
    }


def _compared(
    before: _Side, after: _Side, domains: Mapping[str, str], margin: float | None, alpha: float
) -> Comparison:
    names = sorted(before.own.keys() | after.own.keys())
    unpaired = [
        Unpaired(name, side.name, _why(side.own.get(name)))
        for name in names
        for side in (before, after)
        if not side.own.get(name, _NOTHING).rated
    ]
    shared = sorted(set(names) - {one.scenario for one in unpaired})
    nowhere = [name for name in shared if name not in domains]
    if nowhere:
        raise ValueError(f"no domain is given for scenario {nowhere[0]!r}")
    pairs = {name: _counts(before.own[name], after.own[name]) for name in shared}
    by_domain: dict[str, list[Counts]] = {}
    for name, counts in pairs.items():
        by_domain.setdefault(domains[name], []).append(counts)
    topline = difference(list(pairs.values()), margin)
    with_history = before.everything is not before.own or after.everything is not after.own
    known = {n: _counts(before.everything[n], after.everything[n]) for n in shared} if with_history else pairs
    changes, false_alarms = _changes(known, before, after, alpha)
    return Comparison(
        before.name,
        after.name,
        changes,
        topline,
        {
            domain: topline if len(by_domain) == 1 else difference(by_domain[domain], margin)
            for domain in sorted(by_domain)
        },
        tuple(unpaired),
        {side.name: left_out(side.own) for side in (before, after)},
        false_alarms,
        pairs,
    )


def _why(found: ScenarioTrials | None) -> str:
    if found is None:
        return "not in this run"
    return "no rated trial: " + ", ".join(f"#{trial.number} {trial.reason}" for trial in found.left_out)


def _counts(before: ScenarioTrials, after: ScenarioTrials) -> Counts:
    return Counts(before.passes, before.rated, after.passes, after.rated)


def _changes(
    known: Mapping[str, Counts], before: _Side, after: _Side, alpha: float
) -> tuple[tuple[Change, ...], float]:
    counts = list(known.values())
    down, up = both_ways(counts, alpha)
    changes = tuple(
        Change(
            name,
            counts[place],
            before.everything[name].stability,
            after.everything[name].stability,
            _kind(counts[place], place, down, up),
            place in down.outside or place in up.outside,
            min(down.chances[place], up.chances[place]),
        )
        for place, name in enumerate(known)
    )
    return changes, down.expected


def _kind(counts: Counts, place: int, down: Drops, up: Drops) -> ChangeSet:
    """Return the set: outside the band by direction, inside it by whether all trials of a side agree."""
    before, after = counts.passes / counts.rated, counts.later_passes / counts.later_rated
    if place in down.outside or (before, after) == (1, 0):
        return "newly_failing"
    if place in up.outside or (before, after) == (0, 1):
        return "newly_passing"
    if before == after == 0:
        return "failing_in_both"
    return "passing_in_both" if before == after == 1 else "flaky"
