"""The tool calls of an imported trial, run again on a fresh database with the task as the file has it.

Rules: ``spec/trajectories.md`` 6. A replay is lenient: an answer that differs from the recorded one is noted.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from scenarios.domains.base import Domain, GoldAction, Refusal, ToolResult
from scenarios.domains.environment import Environment
from scenarios.domains.predicates import PredicateVerdict, evaluate
from scenarios.formats.imports.records import ImportedToolCall, ImportedTrial
from scenarios.formats.imports.source import json_within
from scenarios.formats.imports.tasks import CannotReplay, ReplayTask
from scenarios.formats.imports.upstream import Quirk, ReplayDomain, is_exact
from scenarios.scoring.action_match import match_single
from scenarios.sides import SIDES, Side
from scenarios.state.diff import FieldDiff, three_way
from scenarios.state.overlay import Overlay

# ok: only one of the two succeeded; content: a successful write returned something else.
Difference = Literal["", "ok", "content"]
# A tool of tau-bench that does nothing.
_THOUGHT = "think"


@dataclass(frozen=True)
class ReplayedCall:
    """One recorded call and what running it did. ``result`` None: it was not run, ``why_not`` says why."""

    recorded: ImportedToolCall
    result: ToolResult | None
    why_not: str
    changes: tuple[Mapping[str, Any], ...]  # of the call and of the sync after it, each with its side
    difference: Difference

    @property
    def call(self) -> int:
        """Return its number, from 1."""
        return self.recorded.position + 1

    @property
    def tool(self) -> str:
        """Return the name of the tool."""
        return self.recorded.tool

    @property
    def arguments(self) -> Mapping[str, Any]:
        """Return the arguments; empty where the file has none that are an object."""
        return self.recorded.arguments or {}

    @property
    def ok(self) -> bool | None:
        """Return whether it succeeded here; None: not run."""
        return None if self.result is None else self.result.ok

    @property
    def error(self) -> str | None:
        """Return the failure kind."""
        return None if self.result is None else self.result.error


@dataclass(frozen=True)
class Check:
    """One expected action or fact: found or not, and in which call (from 1) or message."""

    expected: str
    met: bool
    where: int | None


@dataclass(frozen=True)
class Replay:
    """What came of one trial under one definition of its task. ``db_match`` is over both sides' databases."""

    task: ReplayTask
    quirks: frozenset[Quirk]
    calls: tuple[ReplayedCall, ...]
    gold: tuple[ToolResult, ...]
    databases: Mapping[Side, Overlay]
    expected: Mapping[Side, Overlay]
    match_by_side: Mapping[Side, bool]
    fields: Mapping[Side, tuple[FieldDiff, ...]]
    action_checks: tuple[Check, ...]
    communicate_checks: tuple[Check, ...]
    predicates: tuple[PredicateVerdict, ...]

    @property
    def db_match(self) -> bool:
        """Return whether every side's database is as the expected actions leave it."""
        return self.matches(SIDES)

    def matches(self, sides: Sequence[Side]) -> bool:
        """Return whether the databases of these sides are as the expected actions leave them."""
        return all(match for side, match in self.match_by_side.items() if side in sides)


@dataclass(frozen=True)
class _Gold:
    start: Mapping[Side, Overlay]
    databases: Mapping[Side, Overlay]
    calls: tuple[ToolResult, ...]


def replay(
    trial: ImportedTrial,
    task: ReplayTask,
    quirks: frozenset[Quirk] = frozenset(),
    *,
    heed_recorded_failures: bool = False,
) -> Replay:
    """Run a trial's tool calls; ``quirks`` makes the tools behave like tau2's. CannotReplay: the task cannot be set up.

    A failed initialisation step is such a case, an expected action that fails is not: it changes nothing. With
    ``heed_recorded_failures`` a call that failed when it was made is not run.
    """
    domain = ReplayDomain(task.domain, quirks, task.initial_data, task.databases)
    gold = _gold(_GoldKey(domain, task))
    environment = _environment(domain, task)
    calls = tuple(_run(environment, domain, call, heed_recorded_failures) for call in trial.tool_calls)
    matches = {side: environment.databases[side].hash == gold.databases[side].hash for side in gold.databases}
    fields = {
        side: tuple(
            three_way(gold.databases[side], database, calls, gold.calls, side=side, start=gold.start[side])
            if not matches[side] or gold.calls
            else ()
        )
        for side, database in environment.databases.items()
    }
    return Replay(
        task=task,
        quirks=quirks,
        calls=calls,
        gold=gold.calls,
        databases=environment.databases,
        expected=gold.databases,
        match_by_side=matches,
        fields=fields,
        action_checks=tuple(_action_check(action, trial.tool_calls, domain) for action in task.spec.gold_actions),
        communicate_checks=tuple(_communicate_check(fact, trial) for fact in task.spec.communicate_info),
        predicates=tuple(
            evaluate(assertion, domain.predicates(), environment.databases) for assertion in task.spec.db_assertions
        ),
    )


class _GoldKey:
    """A task under some quirks, equal to another of the same content, so that trials of one task share its gold."""

    def __init__(self, domain: ReplayDomain, task: ReplayTask) -> None:
        self.domain, self.task = domain, task
        brought = [task.initial_data, task.databases, [asdict(call) for call in task.history]]
        given = json.dumps(brought, sort_keys=True, default=str)
        self._key = (domain.base.name, task.spec.fingerprint, domain.quirks, task.source == "today", given)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _GoldKey) and self._key == other._key


@lru_cache(maxsize=512)
def _gold(key: _GoldKey) -> _Gold:
    environment = _environment(key.domain, key.task)
    start = {side: database.snapshot() for side, database in environment.databases.items()}
    calls = []
    for action in key.task.spec.gold_actions:
        result = _call(environment, key.domain, action.side, action.tool, action.arguments)
        synced = [] if "gold_without_sync" in key.domain.quirks else environment.sync()
        calls.append(replace(result, changes=(*result.changes, *synced)))
    shipped = key.domain.expected_databases(key.task.spec) if key.task.source == "today" else None
    return _Gold(start, shipped or environment.databases, tuple(calls))


def _environment(domain: ReplayDomain, task: ReplayTask) -> Environment:
    try:
        environment = Environment(domain, task.spec, "canonical")
    except Refusal as refusal:
        raise CannotReplay(f"the task's start cannot be set up: {refusal.message}") from refusal
    except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
        raise CannotReplay(f"the task's start cannot be set up: {error!r}") from error
    for call in task.history:
        _call(environment, domain, call.side, call.tool, call.arguments)
        environment.sync()
    return environment


def _call(environment: Environment, domain: Domain, side: Side, tool: str, arguments: Any) -> ToolResult:
    """Run a call on the side whose tool it is: an agent without a user calls the user's tools too."""
    sides = [side, *(other for other in SIDES if other != side)]
    owner = next((one for one in sides if tool in _names(domain, one)), side)
    return environment.call_tool(owner, tool, dict(arguments) if isinstance(arguments, Mapping) else arguments)


def _names(domain: Domain, side: Side) -> frozenset[str]:
    return frozenset(tool.model_name() for tool in domain.tools(side))


def _run(environment: Environment, domain: ReplayDomain, call: ImportedToolCall, heed: bool) -> ReplayedCall:
    why_not = call.not_executed or ("it only notes a thought" if call.tool == _THOUGHT else "")
    if not why_not and heed and failed_as_recorded(call):
        why_not = "the file records that it failed"
    if not why_not and "exact_ids" in domain.quirks and not is_exact(call.arguments):
        why_not = "tau2 finds no record by an id that is spelled otherwise"
    if why_not:
        return ReplayedCall(call, None, why_not, (), "")
    result = _call(environment, domain, call.side, call.tool, call.arguments)
    changes = (*result.changes, *environment.sync())
    return ReplayedCall(call, result, "", changes, _difference(call, result))


def _difference(call: ImportedToolCall, result: ToolResult) -> Difference:
    if call.result is None:
        return ""
    if failed_as_recorded(call) == result.ok:
        return "ok"
    if not result.ok or result.action is None:
        return ""
    try:
        recorded = json_within(call.result)
    except ValueError:
        return ""
    return "content" if isinstance(recorded, dict) and _said(recorded) != _said(result.value) else ""


def failed_as_recorded(call: ImportedToolCall) -> bool:
    """Return whether the file says that a call failed: by its mark, or where it has none by how the answer begins."""
    return call.is_error if call.is_error is not None else (call.result or "").startswith("Error")


def _said(value: Any) -> Any:
    """Return the data of a tool's answer: tau2 writes fields that a record lacks as null, and some numbers as text."""
    if isinstance(value, Mapping):
        return {name: _said(item) for name, item in value.items() if item is not None and name != "message"}
    if isinstance(value, list):
        return [_said(item) for item in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(float(value)) if is_number and abs(value) <= sys.float_info.max else str(value)


def _action_check(action: GoldAction, calls: Sequence[ImportedToolCall], domain: Domain) -> Check:
    reference = {"name": action.tool, "arguments": action.arguments, "compare_args": action.compare_args}
    names = {type(tool).__name__: tool.model_name() for side in SIDES for tool in domain.tools(side)}
    said = ({"name": names.get(call.tool, call.tool), "arguments": call.arguments} for call in calls)
    made = next((call for call, one in zip(calls, said, strict=True) if match_single(reference, one)), None)
    return Check(action.tool, made is not None, None if made is None else made.position + 1)


def _communicate_check(fact: str, trial: ImportedTrial) -> Check:
    """Look for a fact as tau2 does: in any agent message, any case, its commas taken out."""
    wanted = fact.lower()
    said = ((number, turn) for number, turn in enumerate(trial.turns, 1) if turn.side == "agent")
    where = next((number for number, turn in said if wanted in turn.spoken.lower().replace(",", "")), None)
    return Check(fact, where is not None, where)
