"""Database match: is the final database of the agent's side the expected one, and if not, which call made it so?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scenarios.domains.base import ScenarioSpec
from scenarios.replay import Gold
from scenarios.scoring.config import ScoringConfig
from scenarios.scoring.evidence import Evidence
from scenarios.scoring.results import SignalResult
from scenarios.sides import Side
from scenarios.state.canonical import NOT_COMPARED
from scenarios.state.diff import three_way

# Rows of the diff that a signal stores; the count of all of them is stored beside them.
MAX_ROWS = 500


@dataclass(frozen=True)
class GoldStep:
    """A gold call with its arguments and what it changed, as the diff wants it."""

    tool: str
    arguments: Mapping[str, Any]
    changes: Sequence[Mapping[str, Any]]


def score(spec: ScenarioSpec, gold: Gold, evidence: Evidence, config: ScoringConfig) -> SignalResult:
    """Return the signal. Only the agent's side counts, as in the reference; the caller's is in ``detail``.

    A scenario with an expected database and a call without one fails: a missing hash is never a match.
    """
    expected = gold.expected_hashes.get("agent")
    if expected is None:
        return SignalResult("db_state_match", applicable=False, passed=None, value=None)
    actual = evidence.hash_of("agent")
    passed = actual == expected
    detail: dict[str, Any] = {"expected_hash": expected, "actual_hash": actual, "not_compared": _not_compared(evidence)}
    if evidence.unread:
        detail["no_diff"] = dict(evidence.unread)
    for side in evidence.databases:
        if side in gold.databases:
            detail |= _diff(spec, gold, evidence, side)
    if (caller_hash := evidence.hash_of("user")) is not None:
        detail |= {"user_expected_hash": gold.expected_hashes.get("user"), "user_actual_hash": caller_hash}
    return SignalResult("db_state_match", applicable=True, passed=passed, value=passed, detail=detail)


def _not_compared(evidence: Evidence) -> list[str]:
    """Return what the databases hold that neither hash nor diff looks at."""
    return sorted(
        {table for database in evidence.databases.values() for table in NOT_COMPARED & set(database.to_json())}
    )


def _diff(spec: ScenarioSpec, gold: Gold, evidence: Evidence, side: Side) -> dict[str, Any]:
    expected, actual, steps = gold.databases[side], evidence.databases[side], _gold_steps(spec, gold)
    fields = three_way(expected, actual, evidence.tools, steps, side, gold.start_databases.get(side))
    seqs = {use.call: use.seq for use in evidence.tools}
    rows = [field.to_json() | {"seq": seqs.get(field.call) if field.call is not None else None} for field in fields]
    prefix = "" if side == "agent" else "user_"
    return {f"{prefix}diff": rows[:MAX_ROWS], f"{prefix}diff_total": len(rows)}


def _gold_steps(spec: ScenarioSpec, gold: Gold) -> list[GoldStep]:
    return [
        GoldStep(action.tool, action.arguments, call.changes)
        for action, call in zip(spec.gold_actions, gold.calls, strict=True)
    ]
