"""The file's verdict on the databases beside ours, and the reason wherever they differ, found by trying."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from scenarios.formats.imports.records import ImportedRun, ImportedTrial
from scenarios.formats.imports.replay import Replay, failed_as_recorded, replay
from scenarios.formats.imports.tasks import CannotReplay, ReplayTask, task_to_replay
from scenarios.formats.imports.upstream import JUDGING, QUIRKS, Quirk
from scenarios.sides import SIDES, Side

ReasonKind = Literal["task_version", "upstream_tool", "harness", "unexplained"]


@dataclass(frozen=True)
class Reason:
    """Why two verdicts differ: with this one thing changed, the replay gives the stored verdict."""

    kind: ReasonKind
    text: str


@dataclass(frozen=True)
class Rescored:
    """Stored and recomputed database verdict of one trial. ``agrees`` None: the file has none to compare with.

    ``today`` is the replay under the task as it stands today, ``today_why_not`` why there is none.
    """

    stored: bool | None
    replay: Replay
    today: Replay | None
    today_why_not: str
    reasons: tuple[Reason, ...]
    # Why the verdict of today's task is another than that of the file's own; empty when it is the same.
    today_reasons: tuple[Reason, ...]
    # Whether each side's database ended as the file says it ended, where the file says so.
    same_end: Mapping[Side, bool] = field(default_factory=dict)
    # Whose databases the stored verdict is about.
    sides: tuple[Side, ...] = SIDES

    @property
    def ours(self) -> bool:
        """Return our own verdict on the databases that the stored one is about."""
        return self.replay.matches(self.sides)

    @property
    def agrees(self) -> bool | None:
        """Return whether both verdicts are the same."""
        return None if self.stored is None else self.stored == self.ours


def rescore(run: ImportedRun, trial: ImportedTrial, *, upstream: bool = False) -> Rescored:
    """Replay a trial with the task as its file has it and as it stands today, and explain every difference.

    Expected states are made as the file's own tool makes them. ``upstream`` makes the tools behave like tau2's own too,
    known defects included. CannotReplay: there is no task, no domain, or its start cannot be set up.
    """
    if not (trial.messages or trial.ticks or trial.tool_calls):
        raise CannotReplay("the file keeps no messages and no tool calls: there is nothing to run again")
    task = task_to_replay(run, trial)
    quirks = frozenset(QUIRKS.get(task.domain.name, {})) if upstream else _judged_so(run, trial, task)
    ours = replay(trial, task, quirks)
    today, why_not = _today(run, trial, task, ours, quirks)
    stored, sides = trial.verdict.db_match, trial.verdict.db_sides
    differs = stored is not None and stored != ours.matches(sides)
    changed = today is not None and today.matches(sides) != ours.matches(sides)
    return Rescored(
        stored=stored,
        replay=ours,
        today=today,
        today_why_not=why_not,
        reasons=tuple(_reasons(trial, ours, today)) if differs else (),
        today_reasons=(Reason("task_version", _task_changes(task, today.task)),) if changed and today else (),
        same_end={
            side: ours.databases[side].hash == ended
            for side, ended in trial.end_hashes.items()
            if side in ours.databases
        },
        sides=sides,
    )


def _judged_so(run: ImportedRun, trial: ImportedTrial, task: ReplayTask) -> frozenset[Quirk]:
    """Return how tau2 makes the expected state that its verdicts are about: that is its ruling, no tool's defect.

    Files in its form that we wrote of calls held here were judged by our own. An Inspect log holds a verdict of tau2
    where that is over both sides' databases.
    """
    info = trial.facts.get("info")
    ours = info.get("callboard") if isinstance(info, Mapping) else None
    is_ours = isinstance(ours, Mapping) and not ours.get("is_imported")
    in_inspect = run.format == "inspect" and set(trial.verdict.db_sides) == set(SIDES)
    if is_ours or not (in_inspect or run.format.startswith("tau2")):
        return frozenset()
    return frozenset(JUDGING & QUIRKS.get(task.domain.name, {}).keys())


def _today(
    run: ImportedRun, trial: ImportedTrial, task: ReplayTask, ours: Replay, quirks: frozenset[Quirk]
) -> tuple[Replay | None, str]:
    if task.source == "today":
        return ours, ""
    if trial.verdict.written is not None and run.format == "tau_bench":
        return None, "tau-bench numbers its tasks otherwise than tau2 does"
    try:
        other = task_to_replay(run, trial, "today")
        return replay(trial, other, quirks), ""
    except CannotReplay as problem:
        return None, str(problem)


def _reasons(trial: ImportedTrial, ours: Replay, today: Replay | None) -> list[Reason]:
    """Return what, changed alone, turns our verdict into the stored one; the likelier kinds of cause come first.

    The file's verdict was given on the file's tasks, so that today's may agree by chance: they explain it only where
    nothing else does.
    """
    found = [*_tool_reasons(trial, ours), *_harness_reasons(trial, ours)]
    if not found and _flips(trial, ours, frozenset(QUIRKS.get(ours.task.domain.name, {}))):
        found.append(Reason("upstream_tool", "all known differences of tau2's tools together"))
    if not found and (odd := _other_expected(trial, ours)):
        found.append(odd)
    if not found and today is not None and _ours(trial, today) != _ours(trial, ours):
        found.append(Reason("task_version", _task_changes(ours.task, today.task)))
    return found or [Reason("unexplained", _what_differs(ours))]


def _tool_reasons(trial: ImportedTrial, ours: Replay) -> Iterator[Reason]:
    for quirk, text in QUIRKS.get(ours.task.domain.name, {}).items():
        if quirk not in ours.quirks and _flips(trial, ours, ours.quirks | {quirk}):
            yield Reason("upstream_tool", text)


def _harness_reasons(trial: ImportedTrial, ours: Replay) -> Iterator[Reason]:
    if _flips(trial, ours, ours.quirks, heed=True):
        calls = [call for call in ours.calls if call.ok and failed_as_recorded(call.recorded)]
        named = ", ".join(f"call {call.call} ({call.tool})" for call in calls[:4])
        yield Reason("harness", f"the file's tools refused what ours do: {named}")


def _other_expected(trial: ImportedTrial, ours: Replay) -> Reason | None:
    """Return that the file was judged by another end state than its expected actions give, where its hashes show it."""
    expected = ours.task.expected_hashes
    others = [side for side, text in expected.items() if side in ours.expected and ours.expected[side].hash != text]
    if not others:
        return None
    ended = [side for side in others if trial.end_hashes.get(side) == ours.databases[side].hash]
    same = "; the calls themselves ended as they do here" if ended else ""
    text = f"the {' and '.join(others)}'s expected database was another there (its hash is in the file){same}"
    return Reason("task_version", text)


def _ours(trial: ImportedTrial, replay: Replay) -> bool:
    return replay.matches(trial.verdict.db_sides)


def _flips(trial: ImportedTrial, ours: Replay, quirks: frozenset[Quirk], *, heed: bool = False) -> bool:
    if quirks == ours.quirks and not heed:
        return False
    return _ours(trial, replay(trial, ours.task, quirks, heed_recorded_failures=heed)) != _ours(trial, ours)


def _task_changes(file: ReplayTask, today: ReplayTask) -> str:
    if file.spec.gold_actions == today.spec.gold_actions:
        return "the task's start changed; its expected actions did not"
    was, now = ([action.tool for action in one.spec.gold_actions] for one in (file, today))
    if was == now:
        return "the arguments of expected actions changed"
    return f"the expected actions changed: {', '.join(was) or 'none'} then, {', '.join(now) or 'none'} today"


def _what_differs(ours: Replay) -> str:
    if all(ours.match_by_side.values()):
        return "here the databases are as expected"
    faults = [field for fields in ours.fields.values() for field in fields if field.state != "right"]
    named = ", ".join(".".join(map(str, field.path)) for field in faults[:3])
    return f"here {len(faults)} fields are not as expected, such as {named}"
