"""tau2 results in one file (``spec/trajectories.md`` 3): rewards by upstream's rule, our outcomes under ``info``."""

import json
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import IO, Any

from scenarios.formats.exports.form import CannotExport, Export, Format, pour, spool
from scenarios.formats.exports.results import is_rated, trial_id
from scenarios.formats.exports.tau2_info import info
from scenarios.formats.exports.tau2_tasks import check_lists, domain_of, reward_basis, task, task_id
from scenarios.formats.exports.text import Cleaner
from scenarios.formats.reference_records import RunExport, TrialExport
from scenarios.scoring.evidence import ToolUse, Turn

_ROLES = {"agent": "assistant", "user": "user"}
# Upstream scores the first two only; infrastructure_error it leaves out of its figures, as we do what is not rated.
_ENDS = {"end_tool": "agent_stop", "transfer": "agent_stop", "turn_limit": "max_steps", "loop": "max_steps"}
_ENDS |= {"time_limit": "timeout", "silence": "timeout"}
_LEFT_OUT = "infrastructure_error"
_SCORED = frozenset({"agent_stop", "user_stop"})
_TERMINATIONS = _SCORED | {"max_steps", "timeout", "too_many_errors", "agent_error", "user_error"}
_TERMINATIONS |= {"infrastructure_error", "context_window_exceeded", "unexpected_error"}
_IDS = uuid.UUID("5f0c7f0e-6f63-4a4c-9d0b-0f9a0c4f6f52")
_CHECKS = {
    "ENV_ASSERTION": ("env_assertions", "met"),
    "NL_ASSERTION": ("nl_assertions", "met"),
    "COMMUNICATE": ("communicate_checks", "met"),
    "ACTION": ("action_checks", "action_match"),
}


def write(export: Export, file: IO[bytes]) -> None:
    """Write the file. CannotExport: the trials belong to two of tau2's domains, which one file cannot hold."""
    clean = Cleaner.of(export.run)
    tasks: dict[str, dict[str, Any]] = {}
    domains: dict[str, str] = {}
    policy = ""
    with spool() as simulations:
        for trial in export.trials():
            domains.setdefault(domain_of(trial.scenario), trial.scenario)
            tasks.setdefault(task_id(trial), task(trial))
            policy = policy or str(trial.call.prepared.get("agent", {}).get("prompt") or "")
            between = b",\n" if simulations.tell() else b""
            simulations.write(between + clean.json(_simulation(export.run, trial)))
        _check(domains)
        head = {"timestamp": _time(export.run.started_at), "info": info(export.run, next(iter(domains), ""), policy)}
        file.write(clean.json(head)[:-1] + b',\n"tasks":' + clean.json(list(tasks.values())) + b',\n"simulations":[\n')
        pour(simulations, file)
        file.write(b"\n]}\n")


def _check(domains: Mapping[str, str]) -> None:
    if len(domains) > 1:
        found = ", ".join(f"{name} ({scenario})" for name, scenario in domains.items())
        raise CannotExport(
            f"a tau2 file holds one domain, these trials belong to {len(domains)}: {found}; "
            "choose those of one, for instance by tag"
        )


def _simulation(run: RunExport, trial: TrialExport) -> dict[str, Any]:
    outcome = upstream_outcome(run, trial)
    termination = _termination(trial, outcome)
    seconds = (trial.duration_ms or 0) / 1000
    start = _start(run, trial)
    return {
        "id": str(uuid.uuid5(_IDS, trial_id(run, trial))),
        "task_id": task_id(trial),
        "timestamp": _time(start),
        "start_time": _time(start),
        "end_time": _time(start + timedelta(seconds=seconds)),
        "duration": seconds,
        "termination_reason": termination,
        "agent_cost": None,
        "user_cost": None,
        "reward_info": _verdict(trial, outcome, termination),
        "messages": list(_messages(trial, start)),
        "trial": trial.number - 1,
        "seed": None,
        "mode": "half_duplex",
        "info": {"callboard": _ours(run, trial)},
    }


def upstream_outcome(run: RunExport, trial: TrialExport) -> str:
    """Return the outcome by upstream's rule: that of the file's own tool."""
    return trial.outcome if run.strictness == "upstream" else trial.other_outcome or trial.outcome


def _ours(run: RunExport, trial: TrialExport) -> dict[str, Any]:
    unanswered = [use.call for use in trial.call.tools.values() if use.ok is None]
    return {
        "trial_id": trial_id(run, trial),
        "scenario": trial.scenario,
        "scenario_fingerprint": trial.fingerprint,
        "outcome": trial.outcome,
        "outcome_reason": trial.outcome_reason,
        "in_rate": is_rated(trial.outcome),
        "strictness": run.strictness,
        "is_rehearsal": run.is_rehearsal,
        "by_inaction": trial.by_inaction,
        "end_reason": trial.call.end_reason,
        "ended_by": trial.call.ended_by,
        "has_times": trial.row.is_timed,
        "attempts": trial.row.attempts,
        "cost_usd": trial.row.cost,
        **({"unanswered_calls": unanswered} if unanswered else {}),
        # Held and judged elsewhere: our importer then judges it as its own tool did.
        **({"is_imported": True} if trial.foreign is not None else {}),
    }


def _termination(trial: TrialExport, outcome: str) -> str:
    """Return how the call ended in upstream's words; what is not rated must be in none of its figures."""
    if not is_rated(outcome):
        return _LEFT_OUT
    if trial.foreign is not None:
        # Rated by a tool that does not say how it ended: as one that upstream scores, or it would leave it out.
        said = trial.foreign.termination_reason
        return said if said in _TERMINATIONS else "user_stop"
    # Rated without an end that upstream knows: it counts an unexpected error as failed, and only a stop as passed.
    unknown = "agent_stop" if outcome == "pass" else "unexpected_error"
    end = _ENDS.get(trial.call.end_reason or trial.row.end_reason, unknown)
    return "user_stop" if end == "agent_stop" and trial.call.ended_by == "user" else end


def _verdict(trial: TrialExport, outcome: str, termination: str) -> dict[str, Any] | None:
    """Return the verdict: as tau2 wrote it where it came from there and nobody has decided otherwise since."""
    if not is_rated(outcome):
        return None
    foreign = trial.foreign
    if foreign and foreign.written and foreign.format.startswith("tau2") and not trial.row.judged_outcome:
        return dict(foreign.written)
    return _reward_info(trial, outcome, termination)


def _reward_info(trial: TrialExport, outcome: str, termination: str) -> dict[str, Any]:
    reward = float(outcome == "pass")
    if termination not in _SCORED:
        note = f"Simulation terminated prematurely. Termination reason: {termination}"
        return {"reward": reward, "reward_basis": None, "info": {"note": note}}
    lists = check_lists(trial)
    matched = _databases_match(trial)
    parts: dict[str, bool | None] = {"DB": matched}
    parts |= {basis: _all_met(lists[name], key) for basis, (name, key) in _CHECKS.items()}
    basis = reward_basis(trial)
    return {
        "reward": reward,
        "db_check": None if matched is None else {"db_match": matched, "db_reward": float(matched)},
        **lists,
        "reward_basis": list(basis),
        "reward_breakdown": {name: float(bool(parts[name])) for name in basis if parts.get(name) is not None},
        "info": None,
    }


def _databases_match(trial: TrialExport) -> bool | None:
    """Return whether both sides' databases are as expected; the signal itself looks at the agent's only."""
    database = trial.signal("db_state_match")
    if database is None or not isinstance(database.value, bool):
        return None
    detail = database.detail
    return database.value and detail.get("user_actual_hash") == detail.get("user_expected_hash")


def _all_met(checks: list[dict[str, Any]], key: str) -> bool | None:
    return all(check[key] for check in checks) if checks else None


def _messages(trial: TrialExport, start: datetime) -> Iterator[dict[str, Any]]:
    """Yield turns and tool calls in their order; a blank turn and the tool that ends a call have no place there."""
    called = {event.seq: event.at_ms for event in trial.events}
    answered = [use for use in trial.call.tools.values() if use.ok is not None and not _ends(use)]
    spoken = [turn for turn in trial.call.turns.values() if not turn.is_blank]
    happened: list[Turn | ToolUse] = sorted([*spoken, *answered], key=attrgetter("seq"))
    index = 0
    for entry in happened:
        at = entry.ended_ms if isinstance(entry, Turn) else called.get(entry.seq, 0)
        for message in _of_turn(entry) if isinstance(entry, Turn) else _of_tool(entry):
            yield {**message, "turn_idx": index, "timestamp": _time(start + timedelta(milliseconds=at))}
            index += 1


def _ends(use: ToolUse) -> bool:
    """Return whether a tool is our way to hang up, for which tau2 has no tool."""
    return use.ends_call and use.tool == "end_conversation"


def _of_turn(turn: Turn) -> list[dict[str, Any]]:
    return [{"role": _ROLES[turn.side], "content": turn.said, "tool_calls": None, "cost": None, "usage": None}]


def _of_tool(use: ToolUse) -> list[dict[str, Any]]:
    role, identifier = _ROLES[use.side], f"call_{use.call}"
    call = {"id": identifier, "name": use.tool, "arguments": use.arguments, "requestor": role}
    text = use.result if isinstance(use.result, str) else json.dumps(use.result, ensure_ascii=False, default=str)
    return [
        {"role": role, "content": None, "tool_calls": [call], "cost": None, "usage": None},
        {"role": "tool", "id": identifier, "content": text, "requestor": role, "error": not use.ok},
    ]


def _start(run: RunExport, trial: TrialExport) -> datetime:
    """Return when the call began as nearly as its row, or the file it came from, says."""
    if trial.foreign and trial.foreign.started_at:
        try:
            said = datetime.fromisoformat(trial.foreign.started_at)
        except ValueError:
            return run.started_at
        # Without a zone there and without one here: the same text.
        return said if said.tzinfo else said.replace(tzinfo=UTC)
    return trial.started_at or trial.ended_at or run.started_at


def _time(moment: datetime) -> str:
    """Return a time as tau2 writes it: without a zone; ours are UTC."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat()


FORMAT = Format(
    name="tau2",
    title="tau2 results, one file",
    suffix=".tau2.json",
    media_type="application/json",
    lacks=(
        "rewards by upstream's rule, calls without one as infrastructure_error; no what-was-heard, no latencies, no "
        "judge's evidence; tau2 itself knows the tasks of its own domains only"
    ),
    write=write,
)
