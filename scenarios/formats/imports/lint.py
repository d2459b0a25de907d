"""What makes a foreign run's numbers doubtful, found while its calls are read: nothing here changes a number."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from scenarios.formats.imports.comparison import Rescored
from scenarios.formats.imports.records import ImportedRun, ImportedTrial, Severity
from scenarios.sides import SIDES

# A voice call whose ticks and stated duration differ by more than this share is doubtful.
_AUDIO_TOLERANCE = 0.1
_NAMED = 5
# No call lasts longer: such a duration, or a negative one, is kept as unknown.
_LONGEST_CALL_S = 24 * 24 * 3600


@dataclass(frozen=True)
class LintFinding:
    """One doubt: ``place`` is where in the file, ``position`` which of its calls (from 0), None for the whole run."""

    severity: Severity
    code: str
    text: str
    place: str = ""
    position: int | None = None


@dataclass
class Lint:
    """Takes the calls of a run one by one; ``findings`` are complete after the last."""

    run: ImportedRun
    _trials: Counter[tuple[str, int]] = field(default_factory=Counter)
    _per_task: Counter[str] = field(default_factory=Counter)
    _settings: dict[str, dict[str, str]] = field(default_factory=dict)
    _seen: int = 0
    _found: list[LintFinding] = field(default_factory=list)

    def see(self, call: ImportedTrial, replayed: Rescored | str) -> None:
        """Look at the next call."""
        position = self._seen
        self._seen += 1
        found = (
            *_of_labels(replayed),
            *_of_verdict(call, replayed),
            *_of_checks(call, replayed),
            *_of_times(call),
            *_of_recordings(call),
            *_of_ids(call),
        )
        for finding in found:
            severity, code, text = finding
            self._found.append(LintFinding(severity, code, text, call.place, position))
        task = call.task_id or ""
        self._per_task[task] += 1
        if call.trial is not None:
            self._trials[task, call.trial] += 1
        for name, value in _settings_of(call).items():
            self._settings.setdefault(name, {}).setdefault(value, call.place)

    def findings(self) -> list[LintFinding]:
        """Return everything found, errors first."""
        every = [*self._found, *self._duplicates(), *self._missing(), *self._changed(), *self._declared()]
        every += [LintFinding("warning", "refused_call", one.text, one.place) for one in self.run.refused]
        every += [LintFinding(one.severity, "file", one.text, one.place) for one in self.run.remarks]
        order = {"error": 0, "warning": 1, "info": 2}
        return sorted(every, key=lambda finding: order[finding.severity])

    def _duplicates(self) -> Iterator[LintFinding]:
        twice = [(task, trial, count) for (task, trial), count in self._trials.items() if count > 1]
        for task, trial, count in twice:
            text = f"task {task or '(no label)'}: trial {trial} is there {count} times; each counts as its own"
            yield LintFinding("error", "duplicate_trial", text)

    def _missing(self) -> Iterator[LintFinding]:
        expected = self.run.num_trials or max(self._per_task.values(), default=0)
        short = [f"{task or '(no label)'} ({count})" for task, count in self._per_task.items() if count < expected]
        if short:
            named = ", ".join(short[:_NAMED]) + (f" and {len(short) - _NAMED} more" if len(short) > _NAMED else "")
            text = f"{len(short)} of {len(self._per_task)} tasks have fewer than {expected} trials: {named}"
            yield LintFinding("warning", "missing_trials", text)
        unheld = [task for task in self.run.tasks if task not in self._per_task]
        if unheld and len(unheld) < len(self.run.tasks):
            text = f"{len(unheld)} of the file's {len(self.run.tasks)} tasks have no call: {', '.join(unheld[:_NAMED])}"
            yield LintFinding("warning", "missing_tasks", text)

    def _changed(self) -> Iterator[LintFinding]:
        for name, values in self._settings.items():
            if len(values) > 1:
                places = list(values.values())
                text = f"{name} is not the same in all calls: {len(values)} values, the second from {places[1]} on"
                yield LintFinding("error", "settings_changed", text, places[1])

    def _declared(self) -> Iterator[LintFinding]:
        for name in ("n_total_runs", "total_simulations", "num_simulations"):
            declared = _number(self.run.facts.get(name))
            if declared is not None and declared != self._seen:
                text = f"the file says {name} = {declared:g}, and holds {self._seen} calls"
                yield LintFinding("error", "denominator", text)


def result_vector(outcomes: dict[str, str]) -> str:
    """Return the SHA-256 of outcomes by call: two runs that share it went alike in every single call."""
    return hashlib.sha256(json.dumps(sorted(outcomes.items())).encode()).hexdigest()


_Found = tuple[Severity, str, str]


def _of_labels(replayed: Rescored | str) -> Iterator[_Found]:
    if isinstance(replayed, Rescored):
        if replayed.replay.task.is_relabelled:
            note = next((note for note in replayed.replay.task.notes if "label" in note), "its task label was wrong")
            yield "warning", "task_label", f"{note}; it counts for that task here"
        if replayed.agrees is False:
            reasons = "; ".join(reason.text for reason in replayed.reasons)
            known = all(reason.kind != "unexplained" for reason in replayed.reasons)
            yield ("info" if known else "error"), "verdict_differs", f"the database verdict is not ours: {reasons}"
    elif "label" in replayed:
        yield "error", "task_label", replayed


def _of_verdict(call: ImportedTrial, replayed: Rescored | str) -> Iterator[_Found]:
    verdict = call.verdict
    if verdict.mapped == "judge_error":
        yield "error", "judge_error", f"stored as a failure, though {verdict.why}; it is outside the rate here"
    checked = (verdict.action_checks, verdict.communicate_checks, verdict.env_assertions, verdict.nl_assertions)
    if verdict.mapped == "pass" and verdict.db_match is None and not any(checked):
        yield "warning", "vacuous_pass", "passed, and the file shows nothing that was checked"
    elif verdict.mapped == "pass" and (silent := _without_ruling(call)):
        yield (
            "warning",
            "vacuous_pass",
            f"passed, and {silent} of its claims have no ruling: tau2 counts none as passed",
        )
    elif verdict.mapped == "pass" and isinstance(replayed, Rescored) and not call.tool_calls:
        yield "warning", "vacuous_pass", "passed without a single tool call"


def _without_ruling(call: ImportedTrial) -> int:
    """Return how many claims of the task count in the reward, and have no ruling in the file."""
    criteria = call.task.definition.get("evaluation_criteria") if call.task else None
    claims = criteria.get("nl_assertions") if isinstance(criteria, dict) else None
    if not isinstance(claims, list) or "NL_ASSERTION" not in (call.verdict.reward_basis or ()):
        return 0
    ruled = sum(isinstance(one.get("met"), bool) for one in call.verdict.nl_assertions)
    return max(0, len(claims) - ruled)


def _of_checks(call: ImportedTrial, replayed: Rescored | str) -> Iterator[_Found]:
    """Yield what the file rules otherwise on single actions, facts and predicates than its own calls and turns show."""
    if not isinstance(replayed, Rescored):
        return
    verdict, ours = call.verdict, replayed.replay
    kinds = (
        ("expected calls", [check.get("action_match") for check in verdict.action_checks], ours.action_checks),
        ("facts to say", [check.get("met") for check in verdict.communicate_checks], ours.communicate_checks),
    )
    for kind, stored, found in kinds:
        # Where the file checked others than its task lists, there is nothing to compare.
        if len(stored) == len(found):
            pairs = zip(stored, found, strict=True)
            others = [one.expected for met, one in pairs if isinstance(met, bool) and met != one.met]
            if others:
                named = ", ".join(name[:60] for name in others[:_NAMED])
                yield "warning", "checks_differ", f"{len(others)} of {len(found)} {kind} are not ruled as here: {named}"


def _of_ids(call: ImportedTrial) -> Iterator[_Found]:
    ids = Counter(one.id for one in call.tool_calls if one.id)
    if repeated := [name for name, count in ids.items() if count > 1]:
        yield "warning", "repeated_call_id", f"{len(repeated)} ids of tool calls stand for several calls"


def _of_times(call: ImportedTrial) -> Iterator[_Found]:
    moments = [_moment(message.timestamp) for message in call.messages]
    known = [moment for moment in moments if moment is not None]
    start, end = _moment(call.started_at), _moment(call.ended_at)
    try:
        back = sum(later < earlier for earlier, later in zip(known, known[1:], strict=False))
        if back:
            yield "warning", "clock_skew", f"times of messages run backwards {back} times"
        if call.duration_s is not None and not 0 <= call.duration_s <= _LONGEST_CALL_S:
            yield "warning", "clock_skew", f"its duration is {call.duration_s:g} s, which no call has; kept as unknown"
        if start and end and end < start:
            yield "warning", "clock_skew", "it ends before it starts"
        if start and end and call.duration_s is not None and abs((end - start).total_seconds() - call.duration_s) > 60:
            gap = (end - start).total_seconds()
            yield (
                "warning",
                "clock_skew",
                f"start and end are {gap:.0f} s apart, its duration is {call.duration_s:.0f} s",
            )
    except TypeError:  # some of its times have a zone and others have none
        yield "warning", "clock_skew", "some of its times have a zone and others have none"
    ticks = [tick.duration_ms for tick in call.ticks]
    if ticks and None not in ticks and call.duration_s:
        audio_s = sum(tick or 0 for tick in ticks) / 1000
        spoken = [turn.ended_ms for turn in call.turns if turn.ended_ms is not None]
        if spoken and max(spoken) > 1000 * audio_s * (1 + _AUDIO_TOLERANCE):
            yield (
                "warning",
                "audio_length",
                f"the transcript goes on to {max(spoken) / 1000:.0f} s, the audio to {audio_s:.0f} s",
            )


def _of_recordings(call: ImportedTrial) -> Iterator[_Found]:
    """Yield recordings that end before what they are said to hold."""
    for audio in call.audio:
        sides = audio.sides or SIDES
        last = max((turn.ended_ms or 0 for turn in call.turns if turn.side in sides), default=0)
        if last > 1000 * audio.duration_s * (1 + _AUDIO_TOLERANCE):
            text = f"the transcript goes on to {last / 1000:.0f} s, {audio.name} to {audio.duration_s:.0f} s"
            yield "warning", "audio_length", text


def _settings_of(call: ImportedTrial) -> dict[str, str]:
    """Return what must be the same in all calls of a run, as text."""
    found = {"mode": call.mode}
    environment = call.facts.get("speech_environment")
    if isinstance(environment, dict):
        found |= {f"speech_environment.{name}": environment.get(name) for name in ("complexity", "telephony_enabled")}
    if call.policy is not None:
        found["policy"] = hashlib.sha256(call.policy.encode("utf-8", "replace")).hexdigest()[:12]
    return {name: str(value) for name, value in found.items() if value is not None}


def _moment(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
