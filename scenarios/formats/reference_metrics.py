"""``metrics.json`` and ``judge_result.json`` of the reference system, field by field (``reference-system.md`` 6, 7).

The figures are the reference's: its own success rule, with a judge that failed as a failed signal and a judge that is
missing as one that does not apply. Our outcome stands beside them under ``callboard``.
"""

from collections.abc import Sequence
from typing import Any, Literal

from scenarios.formats.reference_records import TrialExport, VerdictRecord
from scenarios.formats.transcripts import text_of
from scenarios.scoring.reference_reply import ReferenceJudgement, broken, normalise
from scenarios.scoring.results import RATED
from scenarios.sides import SIDES

NOT_APPLICABLE: Literal["N/A"] = "N/A"
# Outcomes of calls that the reference would have scored; the others have no composite.
_SCORED = RATED | {"judge_error", "unscored"}


def metrics(trial: TrialExport) -> dict[str, Any]:
    """Return a trial's ``metrics.json``; keys that do not apply are absent, as in the reference."""
    call = trial.call
    spoken = latencies(trial)
    states = signal_states(trial)
    is_scored = trial.outcome in _SCORED
    gating = {name: states.get(name) for name in trial.success_signals}
    success, task = composite(gating, stalled=trial.outcome == "stalled")
    found: dict[str, Any] = {
        "total_turns": len(call.turns),
        "duration_seconds": round((trial.duration_ms or 0) / 1000, 3),
        "turns": [
            {"timestamp": turn.started_ms / 1000, "role": turn.side, "text": text_of(turn)}
            for turn in call.turns.values()
        ],
        "latency_stats": latency_stats([row["latency_ms"] for row in spoken]),
        "latencies": spoken,
        "scenario_name": trial.scenario,
        "scenario_directory": trial.folder,
        "scenario_duration": round((trial.duration_ms or 0) / 1000, 3),
        "stop_reason": stop_reason(trial),
        "clean_exit": stop_reason(trial) == "[EXIT]",
        "is_action_match": _reference_match(trial),
        "token_usage": {side: dict(call.usage[side]) for side in reversed(SIDES)},
    }
    if trial.outcome == "stalled":
        found["insufficient_agent_turns"] = True
    found |= _database_fields(trial) | _judge_fields(trial) | _predicate_fields(trial)
    found |= {
        "success_breakdown": _breakdown(trial, states),
        "is_successful": success if is_scored else NOT_APPLICABLE,
        "is_task_successful": task if is_scored else NOT_APPLICABLE,
        "callboard": {
            "trial": trial.number,
            "outcome": trial.outcome,
            "other_outcome": trial.other_outcome or trial.outcome,
            "reason": trial.outcome_reason,
            "by_inaction": trial.by_inaction,
            "end_reason": call.end_reason,
        },
    }
    return found


def signal_states(trial: TrialExport) -> dict[str, bool | None]:
    """Return each signal by the reference's rule: True, False, or None where it does not apply."""
    judgement = judge_result(trial)
    states: dict[str, bool | None] = {}
    database = _database_fields(trial)
    states["db_state_match"] = database.get("db_state_match")
    states["clean_exit"] = stop_reason(trial) == "[EXIT]"
    match = _reference_match(trial)
    states["is_action_match"] = None if match == NOT_APPLICABLE else match
    predicates = _verdicts(trial, "db_state_assertion")
    states["db_state_assertion"] = all(verdict.passed for verdict in predicates) if predicates else None
    rate = judgement.pass_rate if judgement else None
    states["nl_assertion"] = None if rate is None else rate >= 1.0
    states["judge_passed"] = None if judgement is None else judgement.score >= _threshold(trial)
    return states


def composite(gating: dict[str, bool | None], *, stalled: bool) -> tuple[bool, bool]:
    """Return ``is_successful`` and ``is_task_successful``: AND over what applies, the latter without the exit."""
    applicable = {name: state for name, state in gating.items() if state is not None}
    whole = all(applicable.values())
    task = all(state for name, state in applicable.items() if name != "clean_exit")
    return (False, False) if stalled else (whole, task)


def judge_result(trial: TrialExport) -> ReferenceJudgement | None:
    """Return the judge's result as the reference would hold it; None when no judge was asked.

    A complete reply is given as stored; any other is read again by the reference's own rules.
    """
    judging, verdicts = trial.judging, _verdicts(trial, "nl_assertion")
    claims = [verdict.claim for verdict in verdicts]
    if judging is None:  # a judge that could not even be asked leaves rulings without a judging
        return broken(claims, _message(verdicts[0].reason)) if verdicts else None
    if judging.error:
        return normalise(judging.reply, claims) if judging.reply else broken(claims, _message(judging.reason))
    rows = tuple(
        {"index": row.index, "assertion": row.claim, "passed": row.passed, "reason": row.reason} for row in verdicts
    )
    return ReferenceJudgement(judging.score if judging.score is not None else 0.0, judging.reason, rows)


def judge_file(trial: TrialExport) -> dict[str, Any] | None:
    """Return the content of ``judge_result.json``; None when no judge was asked."""
    result, judging = judge_result(trial), trial.judging
    if result is None:
        return None
    return {
        "score": result.score,
        "reason": result.reason,
        "nl_assertion_verdicts": list(result.verdicts),
        "nl_assertion_pass_count": result.pass_count,
        "nl_assertion_total": len(result.verdicts),
        "nl_assertion_pass_rate": result.pass_rate,
        "judge_input": {
            "system_prompt": judging.system_prompt if judging else "",
            "user_content": judging.user_content if judging else "",
        },
        "callboard": {"judge_error": judging.error if judging else "not_asked"},
    }


def latencies(trial: TrialExport) -> list[dict[str, Any]]:
    """Return the agent's response times with what was said before and in the turn.

    The reference measures from the end of the caller's speech: one a stop of the caller, so none for the greeting.
    """
    turns = {(turn.side, turn.turn): turn for turn in trial.call.turns.values()}
    asked = [turn for turn in trial.call.turns.values() if turn.side == "user"]
    rows = []
    for row in trial.call.latencies:
        before = [turn for turn in asked if turn.turn < row.turn]
        if row.side == "agent" and before:
            answer = turns.get(("agent", row.turn))
            rows.append(
                {
                    "user_transcript": text_of(before[-1]),
                    "agent_transcript": text_of(answer) if answer else "",
                    "latency_ms": row.response_ms,
                }
            )
    return rows


def latency_stats(values: Sequence[float]) -> dict[str, float]:
    """Return the reference's statistics: percentiles without interpolation, zeros over nothing."""
    if not values:
        return {"count": 0, "mean_ms": 0, "p50_ms": 0, "p95_ms": 0, "min_ms": 0, "max_ms": 0}
    ordered = sorted(values)
    return {
        "count": len(ordered),
        "mean_ms": sum(ordered) / len(ordered),
        "p50_ms": ordered[len(ordered) // 2],
        "p95_ms": ordered[int(0.95 * len(ordered))],
        "min_ms": ordered[0],
        "max_ms": ordered[-1],
    }


def stop_reason(trial: TrialExport) -> str:
    """Return ``[EXIT]`` for a call that the agent ended, else the reference's only other value."""
    return "[EXIT]" if trial.call.end_reason in ("end_tool", "transfer") else "[TIMEOUT]"


def _reference_match(trial: TrialExport) -> bool | Literal["N/A"]:
    record = trial.signal("is_action_match")
    return bool(record.detail["reference_match"]) if record and "reference_match" in record.detail else NOT_APPLICABLE


def _database_fields(trial: TrialExport) -> dict[str, Any]:
    record = trial.signal("db_state_match")
    if record is None or "expected_hash" not in record.detail:
        return {}
    return {
        "db_state_expected_hash": record.detail["expected_hash"],
        "db_state_match": record.value is True,
        "db_state_actual_hash": record.detail["actual_hash"],
    }


def _judge_fields(trial: TrialExport) -> dict[str, Any]:
    result = judge_result(trial)
    if result is None:
        return {}
    rate = {"nl_assertion_pass_rate": result.pass_rate} if result.pass_rate is not None else {}
    return {"judge_score": result.score, "judge_passed": result.score >= _threshold(trial), **rate}


def _predicate_fields(trial: TrialExport) -> dict[str, Any]:
    verdicts = _verdicts(trial, "db_state_assertion")
    if not verdicts:
        return {}
    names = ("func_name", "side", "expected", "actual", "message", "error")
    rows = [{**{name: row.detail.get(name) for name in names}, "passed": row.passed} for row in verdicts]
    rate = sum(verdict.passed for verdict in verdicts) / len(verdicts)
    return {"db_state_assertion_verdicts": rows, "db_state_assertion_pass_rate": rate}


def _breakdown(trial: TrialExport, states: dict[str, bool | None]) -> dict[str, list[str]]:
    gating = trial.success_signals
    return {
        "passed": [name for name in gating if states.get(name) is True],
        "failed": [name for name in gating if states.get(name) is False],
        "not_applicable": [name for name in gating if states.get(name) is None],
        "excluded": [name for name, state in states.items() if name not in gating and state is not None],
    }


def _verdicts(trial: TrialExport, signal: str) -> list[VerdictRecord]:
    return sorted((row for row in trial.verdicts if row.signal == signal), key=lambda row: row.index)


def _threshold(trial: TrialExport) -> float:
    record = trial.signal("judge_passed")
    return float(record.detail.get("threshold", 0.9)) if record else 0.9


def _message(reason: str) -> str:
    return reason.removeprefix("Judge error: ")
