"""The task of an imported call, as its own file defines it: for exports, which must not give it today's instead."""

from collections.abc import Mapping
from typing import Any

from scenarios.domains.base import CallerBrief, ScenarioSpec, Signal
from scenarios.domains.tau2 import db_assertion, gold_action, init_action
from scenarios.formats.reference_records import ForeignRecord

# What reading a damaged task raises; the importer has said so to the person who brought the file.
_DAMAGE = (KeyError, TypeError, AttributeError)
_SIGNALS: tuple[Signal, ...] = ("db_state_match", "clean_exit")


def tau2_definition(foreign: ForeignRecord) -> Mapping[str, Any] | None:
    """Return the task in tau2's form: of tau2's own files and of tau-bench's lists; None of others and without one."""
    task = foreign.task
    if not task:
        return None
    if foreign.format.startswith("tau2"):
        return task
    try:
        return _of_tau_bench(foreign.task_id, task) if foreign.format == "tau_bench" else None
    except _DAMAGE:
        return None


def spec_of(foreign: ForeignRecord, domain: str, scenario: str, today: ScenarioSpec | None) -> ScenarioSpec | None:
    """Return the task as a scenario; that of today for tools that run our scenarios, None where it cannot be read."""
    if not foreign.format.startswith("tau"):
        return today
    definition = tau2_definition(foreign)
    try:
        return None if definition is None else _spec(definition, foreign.task_id, domain, scenario)
    except _DAMAGE:
        return None


def _of_tau_bench(task_id: str, task: Mapping[str, Any]) -> Mapping[str, Any]:
    actions = [action for action in task.get("actions") or () if action.get("name") != "respond"]
    return {
        "id": task_id,
        "description": None,
        "user_scenario": {"persona": None, "instructions": str(task.get("instruction") or "")},
        "ticket": None,
        "initial_state": None,
        "evaluation_criteria": {
            "actions": [
                {
                    "action_id": f"{task_id}_{number}",
                    "requestor": "assistant",
                    "name": action["name"],
                    "arguments": action["kwargs"],
                    "info": None,
                    "compare_args": None,
                }
                for number, action in enumerate(actions)
            ],
            "env_assertions": [],
            "communicate_info": [str(output) for output in task.get("outputs") or ()],
            "nl_assertions": [],
            "reward_basis": ["DB", "COMMUNICATE"],
        },
    }


def _spec(definition: Mapping[str, Any], task_id: str, domain: str, scenario: str) -> ScenarioSpec:
    criteria, state = definition.get("evaluation_criteria") or {}, definition.get("initial_state") or {}
    told = (definition.get("user_scenario") or {}).get("instructions")
    return ScenarioSpec(
        name=scenario,
        domain=domain,
        task_id=task_id,
        caller=_caller(told),
        success_signals=_SIGNALS,
        gold_actions=tuple(map(gold_action, criteria.get("actions") or ())),
        init_actions=tuple(map(init_action, state.get("initialization_actions") or ())),
        db_assertions=tuple(map(db_assertion, criteria.get("env_assertions") or ())),
        nl_assertions=tuple(criteria.get("nl_assertions") or ()),
        communicate_info=tuple(criteria.get("communicate_info") or ()),
        reward_basis=tuple(criteria.get("reward_basis") or ()),
    )


def _caller(told: Any) -> CallerBrief:
    if not isinstance(told, Mapping):
        return CallerBrief(goal=str(told or ""))
    names = ("reason_for_call", "task_instructions", "known_info", "unknown_info")
    goal, personality, known, unknown = (str(told.get(name) or "") for name in names)
    return CallerBrief(goal=goal, personality=personality, known_info=known, unknown_info=unknown)
