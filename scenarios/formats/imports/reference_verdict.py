"""The reference system's verdict: kept as written, and mapped to what it counts as here.

The reference counts a judge that failed, and a hash that never came, as failures of the agent, and a judge that was
switched off as a pass (``spec/reference-system.md`` 6, 9). Here they are what they are.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.records import ForeignVerdict, MappedVerdict
from scenarios.formats.imports.redaction import scrubbed

JUDGED = frozenset({"nl_assertion", "judge_passed"})
_JUDGE_FAILED = re.compile(
    r"\s*(?:Judge error|Error|Missing verdict)\b|\s*No judge evidence was provided", re.IGNORECASE
)
_WRITTEN = (
    *("is_successful", "is_task_successful", "success_breakdown", "insufficient_agent_turns", "stop_reason"),
    *("clean_exit", "is_action_match", "db_state_match", "db_state_expected_hash", "db_state_actual_hash"),
    *("db_state_assertion_pass_rate", "db_state_assertion_verdicts", "nl_assertion_pass_rate", "judge_score"),
    *("judge_passed", "callboard"),
)
# What the signals are called in a basis; the others have no name but their own there.
_BASIS_OF: Mapping[str, str] = {
    "db_state_match": "DB",
    "db_state_assertion": "ENV_ASSERTION",
    "nl_assertion": "NL_ASSERTION",
}
# Outcomes of our own that are in no rate.
_LEFT_OUT = frozenset({"infra_error", "tainted", "cancelled", "over_budget"})
_OURS: Mapping[str, MappedVerdict] = {
    "pass": "pass",
    "fail": "fail",
    "stalled": "fail",
    "judge_error": "judge_error",
    "unscored": "not_scored",
}


def reference_verdict(metrics: Fields, judge: Fields, metadata: Fields) -> ForeignVerdict:
    """Return the verdict of a call; ``judge`` and ``metadata`` are empty where their files are missing."""
    claims = [
        {"nl_assertion": one.data.get("assertion"), "met": one.boolean("passed"), "justification": one.text("reason")}
        for one in judge.each("nl_assertion_verdicts")
    ]
    predicates = [
        {"env_assertion": {name: value for name, value in one.data.items() if name != "passed"},
         "met": one.boolean("passed")}
        for one in metrics.each("db_state_assertion_verdicts")
    ]  # fmt: skip
    mapped, why = _mapping(metrics, judge, claims)
    signals = metadata.data.get("success_signals")
    written = {name: metrics.data[name] for name in _WRITTEN if name in metrics.data}
    return ForeignVerdict(
        mapped=mapped,
        why=why,
        reward=None,
        written=scrubbed(written) or None,
        db_match=_db_match(metrics),
        env_assertions=tuple(scrubbed(predicates)),
        nl_assertions=tuple(scrubbed(claims)),
        reward_basis=tuple(_BASIS_OF.get(str(one), str(one)) for one in signals) if isinstance(signals, list) else None,
        db_sides=("agent",),
    )


def by_outcome(outcome: str | None) -> tuple[MappedVerdict, str] | None:
    """Return what an outcome of our own counts as, and why; None when it is none."""
    if outcome in _LEFT_OUT:
        return "excluded", f"outcome {outcome}, which is in no rate"
    if outcome is None or outcome not in _OURS:
        return None
    return _OURS[outcome], "" if outcome in ("pass", "fail") else f"outcome {outcome}"


def _db_match(metrics: Fields) -> bool | None:
    """Return whether the agent's database matched; unknown where no hash of it ever came."""
    match = metrics.boolean("db_state_match")
    return None if match is False and not metrics.text("db_state_actual_hash") else match


def _mapping(metrics: Fields, judge: Fields, claims: Sequence[Mapping[str, Any]]) -> tuple[MappedVerdict, str]:
    ours = by_outcome(metrics.under("callboard").text("outcome"))
    if ours is not None:
        return ours
    success = metrics.data.get("is_successful")
    if not isinstance(success, bool):
        return "not_scored", "the file has no verdict" if success is None else "is_successful is neither true nor false"
    breakdown = metrics.under("success_breakdown")
    if success:
        missing = sorted(JUDGED & set(_names(breakdown, "not_applicable")))
        if missing:
            return "not_scored", f"no judge ruled on {' and '.join(missing)}; the reference counts this as passed"
        return "pass", ""
    return _failed(metrics, judge, claims, set(_names(breakdown, "failed")))


def _failed(
    metrics: Fields, judge: Fields, claims: Sequence[Mapping[str, Any]], failed: set[str]
) -> tuple[MappedVerdict, str]:
    if metrics.boolean("insufficient_agent_turns"):
        return "fail", "stalled: the agent took fewer turns than the least that count"
    if failed and failed <= JUDGED and _judge_failed(judge, claims, failed):
        return "judge_error", "the only failed signals are the judge's, and the judge itself failed"
    if failed == {"db_state_match"} and _db_match(metrics) is None:
        return "excluded", "no hash of the agent's database ever came: nothing was compared"
    return "fail", ""


def _judge_failed(judge: Fields, claims: Sequence[Mapping[str, Any]], failed: set[str]) -> bool:
    whole = bool(_JUDGE_FAILED.match(str(judge.data.get("reason") or "")))
    unmet = [claim for claim in claims if claim["met"] is not True]
    each = bool(unmet) and all(_JUDGE_FAILED.match(str(claim["justification"] or "")) for claim in unmet)
    return whole or ("judge_passed" not in failed and each)


def _names(breakdown: Fields, name: str) -> list[str]:
    value = breakdown.data.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        breakdown.remark("expected a list of signals; read as empty", name)
        return []
    return [item for item in value if isinstance(item, str)]
