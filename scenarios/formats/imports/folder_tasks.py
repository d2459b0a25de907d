"""The tasks of run folders: the reference system's snapshot of a scenario, and an eva record with its database."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from scenarios.domains.base import CallerBrief, DbAssertion, Domain, GoldAction, InitAction, ScenarioSpec
from scenarios.formats.imports.records import ImportedTask
from scenarios.formats.imports.task_parts import CannotReplay, ReplayTask, list_of, object_of, parsed
from scenarios.sides import SIDES, Side
from scenarios.state.canonical import canonical_hash
from scenarios.state.overlay import Overlay

_HASHES: Mapping[Side, str] = {"agent": "expected_scenario_db_hash", "user": "expected_user_db_hash"}


def eva_task(domain: Domain, today: ScenarioSpec, task: ImportedTask, notes: Sequence[str]) -> ReplayTask:
    """Return an eva record as today's scenario, over the database that the file has where it is another."""
    database = object_of(task.definition, "initial_scenario_db")
    if canonical_hash(database) == Overlay(domain.seeds(today)["agent"]).hash:
        return ReplayTask(domain, today, "today", tuple(notes))
    if odd := _odd_tables(database, domain.seeds(today)["agent"].data):
        raise CannotReplay(f"the file's initial database is none of {domain.name}: {', '.join(odd)[:200]}")
    note = "the call began with another database than the data set has today: the file's is used"
    return ReplayTask(domain, today, "file", (*notes, note), databases={"agent": database})


def _odd_tables(database: Mapping[str, Any], own: Mapping[str, Any]) -> list[str]:
    """Return the tables that are missing, or not of the kind that the domain's own database has."""
    wanted = {name: table for name, table in own.items() if table and not name.startswith("_")}
    missing = [name for name, table in wanted.items() if not isinstance(database.get(name), type(table))]
    others = [name for name, table in own.items() if name in database and not isinstance(database[name], type(table))]
    return sorted({*missing, *others})


def is_reference_task(task: ImportedTask) -> bool:
    """Return whether a task is the reference system's snapshot of a scenario."""
    return "scenario_config" in task.definition


def reference_task(domain: Domain, today: ScenarioSpec | None, task: ImportedTask, notes: Sequence[str]) -> ReplayTask:
    """Return a snapshot as a scenario. Where it has no expected actions that can be run, today's are taken."""
    metadata = object_of(task.definition, "scenario_config")
    actions = _expected_actions(task)
    expected = {side: metadata[name] for side, name in _HASHES.items() if isinstance(metadata.get(name), str)}
    if actions is None:
        if today is None:
            raise CannotReplay(
                f"task {task.id[:80]!r}: the file has no expected actions, and {domain.name} no such task"
            )
        note = "the file has no expected actions that can be run: today's scenario is used"
        return ReplayTask(domain, today, "today", (*notes, note), expected_hashes=expected)
    base = today or ScenarioSpec(
        name=task.id,
        domain=domain.name,
        task_id=task.id.partition("__")[2] or task.id,
        caller=CallerBrief(goal=""),
        success_signals=("db_state_match", "clean_exit"),
    )
    if not metadata:
        return ReplayTask(domain, replace(base, gold_actions=actions), "file", tuple(notes))
    spec = replace(
        base,
        gold_actions=actions,
        init_actions=tuple(parsed(_init_action, list_of(metadata, "initialization_actions"), "initialization_actions")),
        db_assertions=tuple(parsed(_assertion, list_of(metadata, "db_state_assertions"), "db_state_assertions")),
        nl_assertions=tuple(map(str, list_of(metadata, "nl_assertions"))),
    )
    return ReplayTask(domain, spec, "file", tuple(notes), expected_hashes=expected)


def _expected_actions(task: ImportedTask) -> tuple[GoldAction, ...] | None:
    """Return the expected writes; None where they are not kept as calls with names and arguments."""
    answer = task.definition.get("reference_answer")
    recorded = answer.get("actions") if isinstance(answer, Mapping) else None
    if not isinstance(recorded, list):
        return None
    if not all(isinstance(one, Mapping) and "name" in one and "arguments" in one for one in recorded):
        return None
    return tuple(parsed(_gold_action, recorded, "reference_answer.actions"))


def _gold_action(entry: Mapping[str, Any]) -> GoldAction:
    return GoldAction(entry["name"], entry["arguments"], _side(entry))


def _init_action(entry: Mapping[str, Any]) -> InitAction:
    return InitAction(entry["func_name"], entry["arguments"], _side(entry))


def _assertion(entry: Mapping[str, Any]) -> DbAssertion:
    message = str(entry.get("message") or "")
    return DbAssertion(entry["func_name"], entry["arguments"], _side(entry), entry["assert_value"], message)


def _side(entry: Mapping[str, Any]) -> Side:
    named = entry.get("side", "agent")
    found = next((side for side in SIDES if side == named), None)
    if found is None:
        raise KeyError(f"side {str(named)[:20]!r}")
    return found
