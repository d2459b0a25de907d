"""Two or more runs read for a comparison, with few queries whatever their size; the statistics are ``analysis``'s.

All runs are taken by the baseline's strictness, so that a pass means the same on both sides. Earlier runs of the same
configuration tell how flaky a scenario is; they are in no rate.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, cast

from django.db.models import Count, Q

from scenarios.analysis.comparison import ComparedRun, Comparison, compare
from scenarios.analysis.trials import TrialRow
from scenarios.comparing_signals import BREAKDOWN, Call, SignalTable
from scenarios.configurations import Changed, alike, changed
from scenarios.models import Finding, Run, Scenario, Trial
from scenarios.scoring.config import Strictness
from scenarios.scoring.results import RATED
from scenarios.standing import prefix_of

MOST_RUNS = 6
# Earlier runs of one configuration that are counted for a scenario's flakiness, and their trials in all.
HISTORY_RUNS, HISTORY_TRIALS = 10, 20_000
_LISTED = 5


class Refused(ValueError):
    """These runs cannot be compared; the text says why and what to do."""


class Note(NamedTuple):
    """Something that a reader must know before reading the numbers; severity is "warning" or "info"."""

    severity: Literal["warning", "info"]
    text: str


@dataclass(frozen=True)
class Side:
    """One run: its calls by scenario in the order of their numbers, and what earlier runs add."""

    run: Run
    calls: Mapping[str, Sequence[Call]]
    fingerprints: Mapping[str, str]
    signals: SignalTable
    faults: Mapping[str, int]  # side at fault -> failed calls; "" undecided
    history_runs: int
    past: Mapping[str, tuple[int, int]]

    @property
    def name(self) -> str:
        """Return how the statistics call this run."""
        return str(self.run.pk)

    @property
    def open(self) -> int:
        """Return how many calls have not ended."""
        return sum(call.outcome is None for calls in self.calls.values() for call in calls)

    @property
    def history_calls(self) -> int:
        """Return how many rated calls of earlier runs are counted."""
        return sum(rated for _, rated in self.past.values())

    def rows(self) -> list[TrialRow]:
        """Return the trials for the statistics."""
        run = self.name
        return [
            TrialRow(call.scenario, call.number, call.outcome, run) for calls in self.calls.values() for call in calls
        ]

    def compared(self) -> ComparedRun:
        """Return the run as the statistics take it."""
        return ComparedRun(self.name, self.rows(), trials=self.run.config.get("trials"), past=self.past)


@dataclass(frozen=True)
class Compared:
    """The baseline, the candidates, and each candidate's comparison."""

    sides: Sequence[Side]
    comparisons: Sequence[Comparison]
    strictness: Strictness
    notes: Sequence[Note]
    scenarios: Sequence[Scenario] = field(repr=False)

    @property
    def baseline(self) -> Side:
        """Return the run that the others are held against."""
        return self.sides[0]

    def side(self, comparison: Comparison) -> Side:
        """Return the candidate of a comparison."""
        return next(side for side in self.sides if side.name == comparison.candidate)

    def changed(self, candidate: Side) -> list[Changed]:
        """Return in what the configurations of a candidate and the baseline differ."""
        return changed(self.baseline.run.config, candidate.run.config)

    def retold(self, candidate: Side) -> list[str]:
        """Return the shared scenarios that were changed between the runs."""
        before = self.baseline.fingerprints
        return [name for name, now in candidate.fingerprints.items() if before.get(name, now) != now]

    @cached_property
    def labels(self) -> dict[str, dict[str, list[str]]]:
        """Return kind of label -> label -> scenarios; kinds that part nothing are left out."""
        kinds: dict[str, dict[str, list[str]]] = {"persona": defaultdict(list), "tag": defaultdict(list)}
        for row in self.scenarios:
            if row.persona_name:
                kinds["persona"][row.persona_name].append(row.name)
            for tag in row.tags:
                kinds["tag"][tag].append(row.name)
        return {kind: dict(sorted(found.items())) for kind, found in kinds.items() if found}


def read(runs: Sequence[Run], margin: float | None = None) -> Compared:
    """Read the runs, the first of which is the baseline, and compare them.

    Raises Refused for runs that cannot be compared, and ValueError for a margin that is none.
    """
    _check(runs)
    scenarios = _scenarios(runs)
    names = {row.pk: row.name for row in scenarios}
    strictness = cast(Strictness, runs[0].config.get("strictness", "reference"))
    calls = _calls(runs, names, strictness)
    used: set[int] = {run.pk for run in runs}
    sides = []
    for run in runs:
        sides.append(_side(run, calls[run.pk], used, names, strictness))
    for side in sides[1:]:
        if not sides[0].calls.keys() & side.calls.keys():
            raise Refused(
                f"Runs {sides[0].name} and {side.name} share no scenario: choose runs that held some of the same ones."
            )
    domains = {row.name: prefix_of(row.name) for row in scenarios}
    found = compare(*(side.compared() for side in sides), domains=domains, margin=margin)
    return Compared(sides, found, strictness, list(_notes(sides, strictness)), scenarios)


def _check(runs: Sequence[Run]) -> None:
    if len(runs) < 2:
        raise Refused("A comparison needs two runs or more: name them, the baseline first.")
    if len(runs) > MOST_RUNS:
        raise Refused(f"{len(runs)} runs are too many at once: compare at most {MOST_RUNS}.")
    if len({run.pk for run in runs}) < len(runs):
        raise Refused("A run cannot be compared with itself: name different runs.")
    if len({run.domain for run in runs}) > 1:
        parts = ", ".join(f"run {run.pk} is of {run.domain}" for run in runs)
        raise Refused(f"Runs of different domains share no scenario: {parts}. Choose runs of one domain.")
    errors = Finding.objects.filter(run__in=runs, severity=Finding.Severity.ERROR, accepted_at=None)
    counted = list(errors.order_by("run_id").values_list("run_id").annotate(Count("pk")))
    if counted:
        parts = ", ".join(f"{count} in run {pk}" for pk, count in counted)
        raise Refused(
            f"Errors were found that nobody has accepted: {parts}. Look at them on the run's page, accept them first."
        )


def _scenarios(runs: Sequence[Run]) -> list[Scenario]:
    wanted = {ref["name"] for run in runs for ref in run.config["scenarios"]}
    rows = Scenario.objects.filter(domain=runs[0].domain).only("name", "tags", "persona_name")
    return [row for row in rows.order_by("position") if row.name in wanted]


def _calls(runs: Sequence[Run], names: Mapping[int, str], strictness: Strictness) -> dict[int, list[Call]]:
    own = {run.pk: run.config.get("strictness", "reference") == strictness for run in runs}
    rows = Trial.objects.filter(run__in=runs).order_by().annotate(text=BREAKDOWN)
    found: dict[int, list[Call]] = {run.pk: [] for run in runs}
    columns = ("run_id", "scenario_id", "number", "pk", "outcome", "other_outcome", "fault", "text")
    for run, scenario, number, pk, outcome, other, fault, text in rows.values_list(*columns):
        taken: Any = (outcome if own[run] else other) or None
        if scenario in names:
            found[run].append(Call(names[scenario], number, pk, taken, fault, text))
    return found


def _side(run: Run, calls: Sequence[Call], used: set[int], names: Mapping[int, str], strictness: Strictness) -> Side:
    """Read a side's history; runs in ``used`` are in no other side's, and those taken here are added to it."""
    by_scenario: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        by_scenario[call.scenario].append(call)
    prints = {ref["name"]: ref["fingerprint"] for ref in run.config["scenarios"]}
    earlier = _history(run, used)
    used.update(found.pk for found in earlier)
    return Side(
        run,
        {name: sorted(found) for name, found in by_scenario.items()},
        prints,
        SignalTable.of(calls),
        Counter(call.fault for call in calls if call.outcome in ("fail", "stalled")),
        len(earlier),
        _past(earlier, names, prints, strictness),
    )


def _history(run: Run, used: set[int]) -> list[Run]:
    wanted = [pk for pk in alike(run) if pk not in used][:HISTORY_RUNS]
    found = Run.objects.in_bulk(wanted)
    taken, total = [], 0
    for pk in wanted:
        total += found[pk].trial_count
        if total > HISTORY_TRIALS:
            break
        taken.append(found[pk])
    return taken


def _past(
    runs: Sequence[Run], names: Mapping[int, str], prints: Mapping[str, str], strictness: Strictness
) -> dict[str, tuple[int, int]]:
    """Count the earlier trials of each scenario that has not been changed since."""
    if not runs:
        return {}
    same = {
        run.pk: {ref["name"] for ref in run.config["scenarios"] if prints.get(ref["name"]) == ref["fingerprint"]}
        for run in runs
    }
    # All are of one configuration, so of one strictness.
    column = "outcome" if runs[0].config.get("strictness", "reference") == strictness else "other_outcome"
    rows = (
        Trial.objects.filter(run__in=runs, **{f"{column}__in": RATED}).order_by().values_list("run_id", "scenario_id")
    )
    counts: Counter[str] = Counter()
    passes: Counter[str] = Counter()
    for run, scenario, total, passed in rows.annotate(Count("pk"), passed=Count("pk", filter=Q(**{column: "pass"}))):
        name = names.get(scenario, "")
        if name in same[run]:
            counts[name] += total
            passes[name] += passed
    return {name: (passes[name], total) for name, total in counts.items()}


def _notes(sides: Sequence[Side], strictness: Strictness) -> Iterator[Note]:
    rehearsals = [side.run.pk for side in sides if side.run.is_rehearsal]
    if rehearsals and len(rehearsals) < len(sides):
        yield Note(
            "warning",
            f"Run {_listed(rehearsals)} is a rehearsal with stand-ins, the rest are models' runs: "
            "the difference says nothing about a model.",
        )
    elif rehearsals:
        yield Note("info", "All are rehearsals with stand-ins: the numbers are of scripts, not of models.")
    imported = [side.run.pk for side in sides if side.run.imported_from_id]
    others = [
        side.run.pk
        for side in sides
        if side.run.pk not in imported and side.run.config.get("strictness", "reference") != strictness
    ]
    if others:
        yield Note(
            "info",
            f"Run {_listed(others)} was launched by the other strictness; all calls are taken by {strictness} here, "
            "as the baseline's.",
        )
    for side in sides:
        if side.open:
            yield Note(
                "warning",
                f"Run {side.run.pk} has not ended: {side.open:,} of {side.run.trial_count:,} calls are open "
                "and in no figure.",
            )
    first = sides[0].fingerprints
    for side in sides[1:]:
        retold = [name for name, now in side.fingerprints.items() if first.get(name, now) != now]
        if retold:
            yield Note(
                "warning",
                f"{len(retold)} scenarios were changed between run {sides[0].run.pk} and run {side.run.pk}, so a "
                f"difference may be the task's: {_listed(retold)}.",
            )
    if imported and len(imported) < len(sides):
        yield Note(
            "warning",
            f"Run {_listed(imported)} was held and scored by another tool, and its outcomes are those its file has: "
            "a difference to runs that were held here may be the tools'.",
        )
    elif imported:
        yield Note("info", "Outcomes of imported runs are those their files have, unless a person overruled them.")


def _listed(values: Iterable[Any]) -> str:
    words = [str(value) for value in values]
    rest = f" and {len(words) - _LISTED} more" if len(words) > _LISTED else ""
    return ", ".join(words[:_LISTED]) + rest
