"""A scenario as a task of tau2 (``spec/trajectories.md`` 3.3), and its checks as upstream writes them (3.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from scenarios.domains.base import CallerBrief, DbAssertion, GoldAction, ScenarioSpec
from scenarios.formats.foreign_tasks import tau2_definition
from scenarios.formats.reference_records import TrialExport, VerdictRecord
from scenarios.scoring.evidence import Evidence
from scenarios.scoring.upstream import checks

# What tau2 calls the domains, by the prefix of a scenario's name.
DOMAINS: Mapping[str, str] = {
    "tau2_airline": "airline",
    "tau2_retail": "retail",
    "tau2_telecom": "telecom",
    "tau2_telecom_workflow": "telecom-workflow",
}
_ROLES = {"agent": "assistant", "user": "user"}
# Parts of the reward that our signals stand for, where the task itself names none.
_BASES = {"db_state_match": "DB", "db_state_assertion": "ENV_ASSERTION", "nl_assertion": "NL_ASSERTION"}


def domain_of(scenario: str) -> str:
    """Return tau2's name of a scenario's domain; our own where tau2 has none."""
    prefix = scenario.partition("__")[0]
    return DOMAINS.get(prefix, prefix)


def task_id(trial: TrialExport) -> str:
    """Return the id of a trial's task: that of the file it came from, else the benchmark's own, else its name."""
    if trial.foreign and trial.foreign.task_id:
        return trial.foreign.task_id
    return trial.spec.task_id if trial.spec else trial.scenario


def task(trial: TrialExport) -> dict[str, Any]:
    """Return the task of a trial: the file's own where it came from one of tau2's.

    Of a scenario that the code has dropped there is only what its row knows.
    """
    definition = tau2_definition(trial.foreign) if trial.foreign else None
    if definition is not None:
        return dict(definition)
    spec = trial.spec
    if spec is None:
        bare = _task(task_id(trial), CallerBrief(goal=""), trial.scenario)
        return bare | {"evaluation_criteria": _checked(trial)}
    described = spec.extra.get("description") or {}
    made = _task(task_id(trial), spec.caller, spec.name)
    made["description"] = {name: described.get(name) for name in ("purpose", "relevant_policies", "notes")}
    made["user_scenario"]["persona"] = spec.persona or None
    made["ticket"] = spec.extra.get("ticket") or None
    if spec.init_actions:
        steps = [
            {"env_type": _ROLES[step.side], "func_name": step.func_name, "arguments": step.arguments}
            for step in spec.init_actions
        ]
        made["initial_state"] = {"initialization_data": None, "initialization_actions": steps, "message_history": None}
    made["evaluation_criteria"] = {
        "actions": _actions(spec),
        "env_assertions": [_assertion(assertion) for assertion in spec.db_assertions],
        "communicate_info": list(spec.communicate_info),
        "nl_assertions": list(spec.nl_assertions),
        "reward_basis": list(reward_basis(trial)),
    }
    return made


def _checked(trial: TrialExport) -> dict[str, Any] | None:
    """Return the criteria that a file's verdict shows, where the file has no task: else it would fit no task here."""
    written = trial.foreign.written if trial.foreign else None
    if not written or not written.get("action_checks"):
        return None
    return {
        "actions": _parts(written, "action_checks", "action"),
        "env_assertions": _parts(written, "env_assertions", "env_assertion"),
        "communicate_info": _parts(written, "communicate_checks", "info"),
        "nl_assertions": _parts(written, "nl_assertions", "nl_assertion"),
        "reward_basis": written.get("reward_basis") or ["DB"],
    }


def _parts(written: Mapping[str, Any], checks_of: str, part: str) -> list[Any]:
    found = written.get(checks_of)
    listed = [check for check in found if isinstance(check, Mapping)] if isinstance(found, list) else []
    return [check[part] for check in listed if check.get(part) is not None]


def _task(identifier: str, caller: CallerBrief, scenario: str) -> dict[str, Any]:
    told = {
        "domain": domain_of(scenario),
        "reason_for_call": caller.goal,
        "known_info": caller.known_info or None,
        "unknown_info": caller.unknown_info or None,
        "task_instructions": "\n".join(filter(None, (caller.personality, *caller.instructions))),
    }
    return {
        "id": identifier,
        "description": None,
        "user_scenario": {"persona": None, "instructions": told},
        "ticket": None,
        "initial_state": None,
        "evaluation_criteria": None,
    }


def reward_basis(trial: TrialExport) -> tuple[str, ...]:
    """Return which parts make the reward: the task's own, else those that gate here."""
    if trial.spec and trial.spec.reward_basis:
        return trial.spec.reward_basis
    return tuple(_BASES[signal] for signal in trial.success_signals if signal in _BASES)


def check_lists(trial: TrialExport) -> dict[str, list[dict[str, Any]]]:
    """Return the checks of a call that ended as upstream scores it: expected calls, facts, predicates and claims."""
    spec = trial.spec
    if spec is None:
        return {"action_checks": [], "communicate_checks": [], "env_assertions": [], "nl_assertions": _claims(trial)}
    rulings = checks(replace(spec, reward_basis=("ACTION", "COMMUNICATE")), _evidence(trial))
    made = [ruling for ruling in rulings if ruling.signal == "action"]
    said = [ruling for ruling in rulings if ruling.signal == "communicate"]
    predicates = _rulings(trial, "db_state_assertion")
    return {
        "action_checks": [
            {"action": action, "action_match": ruling.passed, "action_reward": float(ruling.passed)}
            for action, ruling in zip(_actions(spec), made, strict=True)
        ],
        "communicate_checks": [
            {"info": fact, "met": ruling.passed, "justification": ruling.reason}
            for fact, ruling in zip(spec.communicate_info, said, strict=True)
        ],
        "env_assertions": [
            {"env_assertion": _assertion(assertion), "met": ruling.passed, "reward": float(ruling.passed)}
            for assertion, ruling in zip(spec.db_assertions, predicates, strict=False)
        ],
        "nl_assertions": _claims(trial),
    }


def _claims(trial: TrialExport) -> list[dict[str, Any]]:
    return [
        {
            "nl_assertion": ruling.claim,
            "met": ruling.passed if ruling.effective is None else ruling.effective,
            # The importer knows a judge that failed by how its justification begins.
            "justification": f"Judge error: {ruling.reason}" if ruling.error else ruling.reason,
        }
        for ruling in _rulings(trial, "nl_assertion")
    ]


def _rulings(trial: TrialExport, signal: str) -> list[VerdictRecord]:
    return sorted((row for row in trial.verdicts if row.signal == signal), key=lambda row: row.index)


def _actions(spec: ScenarioSpec) -> list[dict[str, Any]]:
    return [_action(spec.task_id, number, action) for number, action in enumerate(spec.gold_actions)]


def _action(task: str, number: int, action: GoldAction) -> dict[str, Any]:
    compared: Sequence[str] | None = action.compare_args
    return {
        "action_id": f"{task}_{number}",
        "requestor": _ROLES[action.side],
        "name": action.tool,
        "arguments": action.arguments,
        "info": None,
        "compare_args": None if compared is None else list(compared),
    }


def _assertion(assertion: DbAssertion) -> dict[str, Any]:
    value, arguments = assertion.assert_value, assertion.arguments
    if not isinstance(value, bool):  # tau2 asserts that something is true or false, nothing else
        value, arguments = True, {**arguments, "expected_value": value}
    return {
        "env_type": _ROLES[assertion.side],
        "func_name": assertion.func_name,
        "arguments": arguments,
        "assert_value": value,
        "message": assertion.message or None,
    }


def _evidence(trial: TrialExport) -> Evidence:
    """Return what the checks read: turns and tool calls, no databases."""
    call = trial.call
    return Evidence(
        turns=tuple(call.turns.values()),
        tools=tuple(call.tools.values()),
        actions=(),
        databases={},
        end_reason=call.end_reason,
        duration_ms=call.duration_ms,
        agent_turns=0,
        intervened_by=call.intervened_by,
        usage=call.usage,
        response_ms={},
    )
