"""The reference system's own reading of a judge's reply, kept for export (``spec/reference-system.md`` 6.4)."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scenarios.scoring.judge_reply import ERROR_PREFIX, NO_EVIDENCE

MISSING = "Missing verdict for this assertion."
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)
_FLAT = re.compile(r"\{[^{}]*\"score\"\s*:\s*[-+0-9.eE]+[^{}]*\}")


@dataclass(frozen=True)
class ReferenceJudgement:
    """``judge_result.json`` as the reference would have written it for the same reply."""

    score: float
    reason: str
    verdicts: tuple[dict[str, Any], ...]  # index, assertion, passed, reason

    @property
    def pass_count(self) -> int:
        """Return how many assertions passed."""
        return sum(row["passed"] for row in self.verdicts)

    @property
    def pass_rate(self) -> float | None:
        """Return passed over all, None without assertions."""
        return self.pass_count / len(self.verdicts) if self.verdicts else None


def normalise(text: str, claims: Sequence[str]) -> ReferenceJudgement:
    """Read a reply as the reference does: any failure is score 0 and every verdict failed; only boolean true passes."""
    try:
        reply = _parse(text)
        score = float(reply["score"])
        rows = _rows(reply.get("nl_assertion_verdicts"), claims)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as problem:
        return broken(claims, f"{type(problem).__name__}: {problem}")
    return ReferenceJudgement(score, str(reply.get("reason", "")), tuple(rows))


def broken(claims: Sequence[str], message: str) -> ReferenceJudgement:
    """Return the reference's result for a judge that failed (or, with its own message, that had nothing to judge)."""
    is_empty = message == NO_EVIDENCE
    reason = NO_EVIDENCE if is_empty else ERROR_PREFIX + message
    verdicts = tuple(_row(i, claim, False, reason) for i, claim in _numbered(claims))
    return ReferenceJudgement(0.0, NO_EVIDENCE if is_empty else f"Error: {message}", verdicts)


def _parse(text: str) -> dict[str, Any]:
    fence, flat = _FENCE.search(text), _FLAT.search(text)
    for candidate in (text, fence and fence.group(1), flat and flat.group(0)):
        try:
            value = json.loads(candidate or "")
        except ValueError:
            continue
        if not isinstance(value, dict):
            raise TypeError(f"the judge's reply is a {type(value).__name__}, not an object")
        return value
    raise ValueError("the judge's reply cannot be parsed")


def _rows(entries: Any, claims: Sequence[str]) -> list[dict[str, Any]]:
    by_index: dict[int, dict[str, Any]] = {}
    for entry in entries or []:  # a number here raises, which makes the whole reply an error
        if isinstance(entry, dict) and str(entry.get("index")).strip().isdecimal():
            by_index[int(str(entry["index"]).strip())] = entry
    return [
        _row(i, claim, by_index[i].get("passed") is True, str(by_index[i].get("reason", "")))
        if i in by_index
        else _row(i, claim, False, MISSING)
        for i, claim in _numbered(claims)
    ]


def _row(index: int, claim: str, passed: bool, reason: str) -> dict[str, Any]:
    return {"index": index, "assertion": claim, "passed": passed, "reason": reason}


def _numbered(claims: Sequence[str]) -> list[tuple[int, str]]:
    return list(enumerate(claims, 1))
