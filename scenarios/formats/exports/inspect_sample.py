"""One trial as a sample of an Inspect log: messages, scores, and what the form has no field for under metadata."""

import json
from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Any

from scenarios.formats.exports.results import claim_id, is_rated, ruled_by, trial_id, verdict_id
from scenarios.formats.foreign_tasks import tau2_definition
from scenarios.formats.reference_records import RunExport, SignalRecord, TrialExport, VerdictRecord
from scenarios.formats.transcripts import text_of
from scenarios.scoring.evidence import ToolUse, Turn
from scenarios.sides import SIDES

OUTCOME = "outcome"
# Inspect's own letters; an outcome that no rate counts gets no score, since every letter would count for something.
_LETTERS = {True: "C", False: "I"}


def sample(run: RunExport, trial: TrialExport) -> dict[str, Any]:
    """Return the sample: scenario as id, trial as epoch."""
    usage = {
        run.party("agent" if side == "agent" else "caller").get("model") or side: _usage(counts)
        for side, counts in trial.call.usage.items()
        if counts["n_calls"]
    }
    return {
        "id": trial.scenario,
        "epoch": trial.number,
        "input": trial.spec.caller.goal if trial.spec else trial.scenario,
        "target": list(trial.spec.nl_assertions) if trial.spec and trial.spec.nl_assertions else "",
        "messages": list(_messages(trial)),
        "output": {"model": run.party("agent").get("model") or "external", "choices": []},
        "scores": scores(run, trial),
        "metadata": _metadata(run, trial),
        "store": {},
        "events": [],
        "model_usage": usage,
        "started_at": trial.started_at.isoformat() if trial.started_at else None,
        "completed_at": trial.ended_at.isoformat() if trial.ended_at else None,
        "total_time": None if trial.duration_ms is None else trial.duration_ms / 1000,
        "error": _error(trial),
        "attachments": {},
        **_invalidation(trial),
    }


def summary(made: Mapping[str, Any]) -> dict[str, Any]:
    """Return what lists of samples show of one."""
    names = ("id", "epoch", "input", "target", "scores", "model_usage", "started_at", "completed_at", "total_time")
    metadata = {name: made["metadata"][name] for name in ("outcome", "outcome_reason", "is_rehearsal")}
    error = {"error": made["error"]["message"]} if made["error"] else {}
    return {
        **{name: made[name] for name in names},
        **error,
        "metadata": metadata,
        "completed": made["error"] is None,
        "message_count": len(made["messages"]),
    }


def scores(run: RunExport, trial: TrialExport) -> dict[str, dict[str, Any]]:
    """Return outcome, signals and claims as scores; what was not decided has none."""
    found: dict[str, dict[str, Any]] = {}
    if is_rated(trial.outcome):
        found[OUTCOME] = {
            "value": _LETTERS[trial.outcome == "pass"],
            "answer": trial.outcome,
            "explanation": trial.outcome_reason,
        }
    for signal in trial.signals:
        if (value := _value(signal)) is not None:
            found[signal.signal] = {"value": value, "metadata": {"state": signal.state}}
    for verdict in trial.verdicts:
        if (ruled := _ruling(verdict)) is not None:
            found[f"{verdict.signal}.{verdict.index}"] = {
                "value": _LETTERS[ruled],
                "explanation": verdict.reason,
                "metadata": {
                    "claim": verdict.claim,
                    "claim_id": claim_id(trial.scenario, verdict),
                    "verdict_id": verdict_id(run, trial, verdict),
                    "judge": verdict.judge,
                    "evidence": list(verdict.evidence),
                    "ruled_by": ruled_by(verdict),
                },
            }
    return found


def _value(signal: SignalRecord) -> str | float | None:
    if isinstance(signal.value, bool):
        return _LETTERS[signal.value]
    return signal.value if signal.state != "undecided" else None


def _ruling(verdict: VerdictRecord) -> bool | None:
    if verdict.effective is not None:
        return verdict.effective
    return None if verdict.error else verdict.passed


def _messages(trial: TrialExport) -> Iterator[dict[str, Any]]:
    prompt = trial.call.prepared.get("agent", {}).get("prompt")
    if prompt:
        yield {"id": "prompt", "role": "system", "content": prompt}
    uses = [use for use in trial.call.tools.values() if use.side == "agent"]
    happened: list[Turn | ToolUse] = sorted([*trial.call.turns.values(), *uses], key=attrgetter("seq"))
    for entry in happened:
        yield from _of_turn(entry) if isinstance(entry, Turn) else _of_tool(entry)


def _messages_before(trial: TrialExport, use: ToolUse) -> int:
    """Return how many messages stand before a call of the caller's, which has no place among them."""
    prompt = 1 if trial.call.prepared.get("agent", {}).get("prompt") else 0
    turns = sum(turn.seq < use.seq for turn in trial.call.turns.values())
    others = [one for one in trial.call.tools.values() if one.side == "agent" and one.seq < use.seq]
    return prompt + turns + sum(1 if one.ok is None else 2 for one in others)


def _of_turn(turn: Turn) -> Iterator[dict[str, Any]]:
    yield {
        "id": f"turn-{turn.turn}-{turn.seq}",
        "role": "assistant" if turn.side == "agent" else "user",
        "content": text_of(turn),
        "metadata": {
            "turn": turn.turn,
            "heard": turn.heard,
            "start_ms": turn.started_ms,
            "end_ms": turn.ended_ms,
            "interrupted": turn.interrupted,
        },
    }


def _of_tool(use: ToolUse) -> Iterator[dict[str, Any]]:
    identifier = f"call_{use.call}"
    call = {"id": identifier, "function": use.tool, "arguments": use.arguments, "type": "function"}
    yield {"id": f"{identifier}-asked", "role": "assistant", "content": "", "tool_calls": [call]}
    if use.ok is None:
        return
    text = use.result if isinstance(use.result, str) else json.dumps(use.result, ensure_ascii=False, default=str)
    failed = {} if use.ok else {"error": {"type": "unknown", "message": use.error or "refused"}}
    answer = {"id": f"{identifier}-answered", "role": "tool", "content": text, "tool_call_id": identifier}
    yield {**answer, "function": use.tool, "metadata": {"changes": use.changes}, **failed}


def _metadata(run: RunExport, trial: TrialExport) -> dict[str, Any]:
    caller = [use for use in trial.call.tools.values() if use.side == "user"]
    definition = _own_task(trial)
    return {
        "trial_id": trial_id(run, trial),
        "scenario_fingerprint": trial.fingerprint,
        "outcome": trial.outcome,
        "outcome_reason": trial.outcome_reason,
        "in_rate": is_rated(trial.outcome),
        "other_outcome": trial.other_outcome or trial.outcome,
        "by_inaction": trial.by_inaction,
        "is_rehearsal": run.is_rehearsal,
        "strictness": run.strictness,
        "end_reason": trial.call.end_reason,
        "attempts": trial.row.attempts,
        "cost_usd": trial.row.cost,
        "tags": list(trial.tags),
        # Whose databases the verdict on them is about: tau2 compares both sides', we the agent's.
        "db_sides": list(SIDES) if trial.foreign and trial.foreign.format.startswith("tau") else ["agent"],
        # The task that an imported call was held on, without which nobody could judge it again.
        **({"task": definition} if definition else {}),
        "response_ms": [row.response_ms for row in trial.call.latencies if row.side == "agent"],
        # A user's message has no tool calls in Inspect.
        "caller_tool_calls": [
            {
                **{"tool": use.tool, "arguments": use.arguments, "ok": use.ok, "result": use.result},
                "after_message": _messages_before(trial, use),
            }
            for use in caller
        ],
    }


def _own_task(trial: TrialExport) -> Mapping[str, Any] | None:
    """Return the file's task of an imported call; None where the call was of another task than its label."""
    definition = tau2_definition(trial.foreign) if trial.foreign else None
    domain, _, task = trial.scenario.partition("__")
    # Telecom's ids are no names.
    is_its = definition and (domain == "tau2_telecom" or task.removeprefix("v1-") == str(definition.get("id")))
    return definition if is_its else None


def _error(trial: TrialExport) -> dict[str, str] | None:
    if trial.outcome != "infra_error":
        return None
    kind = trial.row.error_kind
    return {"message": f"{kind}: {trial.outcome_reason}" if kind else trial.outcome_reason, **_NO_TRACE}


_NO_TRACE = {"traceback": "", "traceback_ansi": ""}


def _invalidation(trial: TrialExport) -> dict[str, Any]:
    """Return Inspect's mark of a sample that is not to be counted: a person touched the call."""
    if trial.outcome != "tainted":
        return {}
    who = {"author": trial.call.intervened_by or "unknown", "reason": trial.outcome_reason or "a person intervened"}
    return {"invalidation": {**who, **({"timestamp": trial.ended_at.isoformat()} if trial.ended_at else {})}}


def _usage(counts: Mapping[str, int]) -> dict[str, int]:
    asked, answered = counts["prompt"], counts["completion"]
    return {"input_tokens": asked, "output_tokens": answered, "total_tokens": asked + answered}
