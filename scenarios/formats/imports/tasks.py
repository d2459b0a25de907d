"""The task of an imported trial as a scenario: from the file itself, from its verdict, or as it stands today."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from typing import Any

from scenarios import domains
from scenarios.domains.base import CallerBrief, Domain, GoldAction, ScenarioSpec
from scenarios.domains.tau2 import db_assertion, gold_action, init_action
from scenarios.formats.imports.folder_tasks import eva_task, is_reference_task, reference_task
from scenarios.formats.imports.records import ImportedRun, ImportedTask, ImportedTrial
from scenarios.formats.imports.task_parts import CannotReplay as CannotReplay
from scenarios.formats.imports.task_parts import ReplayTask as ReplayTask
from scenarios.formats.imports.task_parts import TaskSource as TaskSource
from scenarios.formats.imports.task_parts import list_of, object_of, parsed
from scenarios.sides import SIDES

_NAMES = {"airline": "tau2_airline", "retail": "tau2_retail", "telecom": "tau2_telecom"}
_NAMES |= {"telecom-workflow": "tau2_telecom", "telecom_workflow": "tau2_telecom"}
# Domains that are told by their tools besides tau2's.
_BY_TOOLS = ("eva_airline",)
_MOST_ASKED = 50
_LONGEST_NAME = 300
# What decides how a call of a task goes and is scored, as far as foreign files tell it.
_TOLD = (
    *("caller", "gold_actions", "init_actions", "db_assertions"),
    *("nl_assertions", "communicate_info", "reward_basis"),
)


def task_to_replay(run: ImportedRun, trial: ImportedTrial, source: TaskSource | None = None) -> ReplayTask:
    """Return the task of a trial; CannotReplay says why there is none.

    ``source`` None takes the file's own definition, failing that the expected actions of its verdict over today's
    task, failing that today's task. A label that does not fit the actions which were checked is set right.
    """
    domain, note = domain_of(run, trial)
    notes = [note] if note else []
    task, relabelled = _checked_label(run, trial)
    if relabelled:
        notes.append(relabelled)
    if source in (None, "file") and task is not None and "initial_scenario_db" in task.definition:
        return eva_task(domain, _today(domain, task.id, trial), task, notes)
    if source in (None, "file") and task is not None and is_reference_task(task):
        return reference_task(domain, _known_today(domain, task.id), task, notes)
    if source in (None, "file") and task is not None:
        return _from_file(domain, task, notes, is_relabelled=bool(relabelled))
    if source == "file":
        raise CannotReplay(_no_task(trial, "the file has no definition of its task"))
    today = _today(domain, task.id if task else trial.task_id, trial)
    checked = [check["action"] for check in trial.verdict.action_checks if isinstance(check.get("action"), Mapping)]
    if source in (None, "verdict") and checked:
        spec = replace(today, gold_actions=tuple(parsed(gold_action, checked, "action_checks")))
        notes.append("expected actions as the file's verdict lists them, the rest as the task stands today")
        return ReplayTask(domain, spec, "verdict", tuple(notes), is_relabelled=bool(relabelled))
    if source is None:
        notes.append("the file has no task definition: today's is used")
    return ReplayTask(domain, today, "today", tuple(notes), is_relabelled=bool(relabelled))


def domain_of(run: ImportedRun, trial: ImportedTrial) -> tuple[Domain, str]:
    """Return the domain by the file's name for it, failing that by the tools, which is noted."""
    known = domains.load()
    called_so = trial.domain_name or run.domain_name or ""
    name = called_so if called_so in known else _NAMES.get(called_so)
    note = ""
    if name is None:
        named = _tools_named(trial)
        name, foreign = _domain_by_tools(named) or _domain_of_run(run), called_so[:60]
        called = f"the file's domain {foreign!r} is unknown" if foreign else "the file names no domain"
        if not name:
            tools = (
                f"its tools are those of none of ours ({', '.join(sorted(named)[:6])})" if named else "it calls no tool"
            )
            raise CannotReplay(f"{called}, and {tools}")
        note = f"{called}; its tools are those of {name}"
    domain = known.get(name)
    if domain is None:
        raise CannotReplay(f"domain {name} is not installed")
    if missing := domain.missing_data():
        raise CannotReplay(f"domain {name} has no data: {missing}")
    return domain, note


def _tools_named(trial: ImportedTrial) -> set[str]:
    names = {call.tool for call in trial.tool_calls}
    names |= {str(check.get("action", {}).get("name")) for check in _mappings(trial.verdict.action_checks)}
    return names | {str(action.get("name")) for action in _expected(trial.task)}


def _mappings(checks: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [check for check in checks if isinstance(check.get("action"), Mapping)]


def _domain_by_tools(named: set[str]) -> str:
    """Return the domain that has most of these tools, "" when none or several do."""
    shared = {}
    for name in sorted({*_NAMES.values(), *_BY_TOOLS}):
        domain = domains.load().get(name)
        tools = {tool.model_name() for side in SIDES for tool in domain.tools(side)} if domain else set()
        shared[name] = len(named & tools)
    best = max(shared, key=lambda name: shared[name])
    return best if shared[best] and list(shared.values()).count(shared[best]) == 1 else ""


def _domain_of_run(run: ImportedRun) -> str:
    """Return the domain that the first trials tell which call a telling tool at all."""
    if run.domain_told is None:
        told = (_domain_by_tools(_tools_named(trial)) for trial in islice(run.read_trials(run), _MOST_ASKED))
        run.domain_told = next(filter(None, told), "")
    return run.domain_told


def _checked_label(run: ImportedRun, trial: ImportedTrial) -> tuple[ImportedTask | None, str]:
    """Return the task whose expected actions are those that the verdict checked, and what was wrong with the label."""
    checks = _mappings(trial.verdict.action_checks)
    checked = {str(check["action"].get("action_id")) for check in checks if check["action"].get("action_id")}
    if not run.tasks or trial.verdict.db_match is None or (trial.task and _fits(trial.task, checked)):
        return trial.task, ""
    fitting = [task for task in run.tasks.values() if _fits(task, checked)]
    label = "no task label" if trial.task_id is None else f"task label {trial.task_id[:80]!r} does not fit"
    if len(fitting) != 1:
        found = "several tasks" if fitting else "no task"
        raise CannotReplay(f"{label}: {found} of the file would fit the actions that its verdict checked")
    return fitting[0], f"{label}: the actions that its verdict checked are those of task {fitting[0].id[:80]!r}"


def _fits(task: ImportedTask, checked: set[str]) -> bool:
    """Return whether a verdict over these actions can be one of the task: every scored run checks all of them."""
    return checked == _action_ids(task)


def _action_ids(task: ImportedTask) -> set[str]:
    return {str(action.get("action_id")) for action in _expected(task)}


def _expected(task: ImportedTask | None) -> list[Mapping[str, Any]]:
    """Return a task's expected actions as far as they can be read, tau2's or tau-bench's."""
    definition = task.definition if task else {}
    criteria = definition.get("evaluation_criteria", definition)
    actions = criteria.get("actions") if isinstance(criteria, Mapping) else None
    return [action for action in actions if isinstance(action, Mapping)] if isinstance(actions, list) else []


def _no_task(trial: ImportedTrial, problem: str) -> str:
    return f"task {trial.task_id[:80]!r}: {problem}" if trial.task_id is not None else f"no task label, and {problem}"


def _today(domain: Domain, task_id: str | None, trial: ImportedTrial) -> ScenarioSpec:
    found = _known_today(domain, task_id)
    if found is None:
        raise CannotReplay(_no_task(trial, f"{domain.name} has no such task today"))
    return found


def _known_today(domain: Domain, task_id: str | None) -> ScenarioSpec | None:
    """Return the scenario of a task, which foreign files call by its id and the reference system by its name."""
    return next((spec for spec in domain.scenarios() if task_id in (spec.task_id, spec.name)), None)


def scenario_name(domain_name: str, task_id: str | None, *, is_tau_bench: bool = False) -> str:
    """Return the name of a task's scenario here: the registered one where there is one.

    tau-bench numbers its tasks otherwise than tau2, so that its names never meet those of tau2's.
    """
    task = (task_id or "no-task-label").replace("/", "-")
    if is_tau_bench:
        return f"{domain_name}__v1-{task}"[:_LONGEST_NAME]
    domain = domains.load().get(domain_name)
    known = _known_today(domain, task_id) if domain is not None and domain.missing_data() is None else None
    if known is not None:
        return known.name
    return (task if task.startswith(f"{domain_name}__") else f"{domain_name}__{task}")[:_LONGEST_NAME]


def task_fingerprint(spec: ScenarioSpec) -> str:
    """Return the registered scenario's fingerprint where the task is the same in all that foreign files tell of it.

    Else a SHA-256 of these parts, so that two files with the same task agree whatever else their versions write.
    """
    told = [getattr(spec, name) for name in _TOLD]
    today = _known_today(domains.load()[spec.domain], spec.name)
    if today is not None and [getattr(today, name) for name in _TOLD] == told:
        return today.fingerprint
    text = json.dumps([asdict(spec)[name] for name in _TOLD], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _from_file(domain: Domain, task: ImportedTask, notes: Sequence[str], *, is_relabelled: bool) -> ReplayTask:
    definition = task.definition
    if "evaluation_criteria" not in definition and "instruction" in definition:
        return ReplayTask(domain, _tau_bench_spec(domain, task), "file", tuple(notes))
    criteria, state = object_of(definition, "evaluation_criteria"), object_of(definition, "initial_state")
    spec = ScenarioSpec(
        name=scenario_name(domain.name, task.id),
        domain=domain.name,
        task_id=task.id,
        caller=_caller(object_of(definition, "user_scenario")),
        success_signals=("db_state_match", "clean_exit"),
        gold_actions=tuple(parsed(gold_action, list_of(criteria, "actions"), "actions")),
        init_actions=tuple(parsed(init_action, list_of(state, "initialization_actions"), "initialization_actions")),
        db_assertions=tuple(parsed(db_assertion, list_of(criteria, "env_assertions"), "env_assertions")),
        nl_assertions=tuple(map(str, list_of(criteria, "nl_assertions"))),
        communicate_info=tuple(map(str, list_of(criteria, "communicate_info"))),
        reward_basis=tuple(map(str, list_of(criteria, "reward_basis"))),
    )
    history = [call for message in list_of(state, "message_history") for call in _calls_of(message)]
    data = object_of(state, "initialization_data")
    return ReplayTask(domain, spec, "file", tuple(notes), data, tuple(history), is_relabelled)


def _tau_bench_spec(domain: Domain, task: ImportedTask) -> ScenarioSpec:
    actions = [
        {"name": action.get("name"), "arguments": action.get("kwargs")}
        for action in list_of(task.definition, "actions")
        if isinstance(action, Mapping) and action.get("name") != "respond"
    ]
    return ScenarioSpec(
        name=scenario_name(domain.name, task.id, is_tau_bench=True),
        domain=domain.name,
        task_id=task.id,
        caller=CallerBrief(goal=str(task.definition.get("instruction") or "")),
        success_signals=("db_state_match", "clean_exit"),
        gold_actions=tuple(parsed(gold_action, actions, "actions")),
        communicate_info=tuple(map(str, list_of(task.definition, "outputs"))),
        reward_basis=("DB", "COMMUNICATE"),
    )


def _caller(scenario: Mapping[str, Any]) -> CallerBrief:
    told = scenario.get("instructions")
    if not isinstance(told, Mapping):
        return CallerBrief(goal=told if isinstance(told, str) else "")
    return CallerBrief(
        goal=str(told.get("reason_for_call") or ""),
        personality=str(told.get("task_instructions") or ""),
        known_info=str(told.get("known_info") or ""),
        unknown_info=str(told.get("unknown_info") or ""),
    )


def _calls_of(message: Any) -> list[GoldAction]:
    calls = list_of(message, "tool_calls") if isinstance(message, Mapping) else ()
    return parsed(gold_action, calls, "message_history")
