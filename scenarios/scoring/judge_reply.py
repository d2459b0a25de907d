"""Reading a judge's reply: strict, failing closed, one row a claim whatever came back.

What cannot be read is a judge error, kept apart from a ruling; it is stored as ``passed=false`` with the reason
"Judge error: ...", as the reference's files expect. ``reference_reply.py`` has the reference's own reading.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scenarios.scoring.evidence import Evidence
from scenarios.scoring.json_text import DuplicateKey, Found, json_in
from scenarios.scoring.quotes import is_in_record, read_quotes
from scenarios.scoring.results import Quote, VerdictResult

# The reference's words, which importers of its files look for.
ERROR_PREFIX = "Judge error: "
NO_EVIDENCE = "No judge evidence was provided."
_MAX_REASON = 4000
_MAX_SHOWN = 80  # characters of a wrong value that a message repeats
_DENIES = re.compile(
    r"\b(?:never|did(?: not|n['\u2019]t)|does(?: not|n['\u2019]t)|was(?: not|n['\u2019]t)|were(?: not|n['\u2019]t)|"
    r"failed to|not (?:met|satisfied|fulfilled|stated|said)|without (?:ever )?)\b",
    re.IGNORECASE,
)
_AFFIRMS = re.compile(
    r"\b(?:claim|assertion|requirement|statement) (?:is|was) (?:fully |clearly )?(?:met|satisfied|fulfilled|true)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class JudgeReply:
    """A judge's reply as scoring uses it: always one verdict a claim, in order.

    ``score`` is 0 to 1 or None; ``error`` is a short kind when the whole reply is no ruling, with ``message`` in words.
    """

    score: float | None
    reason: str
    verdicts: tuple[VerdictResult, ...]
    error: str | None = None
    message: str = ""

    @property
    def is_complete(self) -> bool:
        """Return whether the reply rules on everything that was asked."""
        return self.error is None and all(verdict.error is None for verdict in self.verdicts)

    @property
    def first_error(self) -> str | None:
        """Return the kind of what is wrong with the reply, None when nothing is."""
        return self.error or next((verdict.error for verdict in self.verdicts if verdict.error), None)


class BadReply(Exception):
    """The whole reply is no ruling: ``kind`` is short and stable, the text says what was wrong."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def read(text: str, claims: Sequence[str], evidence: Evidence) -> JudgeReply:
    """Read a reply of the form of ``judge_request.reply_schema``; never raises for what a judge may say."""
    try:
        reply = _only_ruling(text, evidence)
        score = _score(reply)
        entries = _entries(reply, len(claims))
    except BadReply as problem:
        return failed(claims, problem.kind, str(problem))
    verdicts = tuple(
        _verdict(index, claim, entry, evidence)
        for index, (claim, entry) in enumerate(zip(claims, entries, strict=True), 1)
    )
    return JudgeReply(score=score, reason=_reason(reply), verdicts=verdicts)


def failed(claims: Sequence[str], kind: str, message: str) -> JudgeReply:
    """Return the reply of a judge that gave none: every claim without a ruling, for the same reason."""
    verdicts = tuple(_error(index, claim, kind, message) for index, claim in enumerate(claims, 1))
    return JudgeReply(score=None, reason=ERROR_PREFIX + message, verdicts=verdicts, error=kind, message=message)


def without_evidence(claims: Sequence[str]) -> JudgeReply:
    """Return the reply when nothing was observed, so that no judge is asked."""
    return failed(claims, "no_evidence", NO_EVIDENCE)


def contradicts(claim: str, passed: bool, reason: str) -> bool:
    """Return whether a reason seems to deny its verdict: a mark for a person, nothing is ever flipped."""
    if passed:
        return bool(_DENIES.search(reason)) and not _DENIES.search(claim) and " not " not in f" {claim.lower()} "
    return bool(_AFFIRMS.search(reason)) and not _DENIES.search(reason)


def _only_ruling(text: str, evidence: Evidence) -> dict[str, Any]:
    if not text.strip():
        raise BadReply("empty", "the reply is empty")
    try:
        found = json_in(text)
    except DuplicateKey as problem:
        raise BadReply("conflicting", str(problem)) from None
    rulings = [item for item in found if _is_ruling(item)]
    # What somebody in the call said is a quotation, even when the judge repeats it without marks.
    own = [item.value for item in rulings if not is_in_record(item.text, evidence)]
    if len(own) > 1 and any(ruling != own[0] for ruling in own):
        raise BadReply("conflicting", f"the reply holds {len(own)} JSON objects that differ")
    if own:
        return dict(own[0])
    if rulings:
        raise BadReply("quoted", "the only ruling in the reply is a quotation from the call")
    raise _no_ruling(text, found)


def _is_ruling(item: Found) -> bool:
    return isinstance(item.value, dict) and ("nl_assertion_verdicts" in item.value or "score" in item.value)


def _no_ruling(text: str, found: Sequence[Found]) -> BadReply:
    if any(isinstance(item.value, dict) for item in found):
        return BadReply("missing_verdict", "the reply's JSON has neither a score nor verdicts")
    if found:
        return BadReply("not_object", "the reply is a JSON list where one object was asked for")
    return BadReply("unparseable", f"the reply holds no JSON object: {text.strip()[:120]!r}")


def _score(reply: Mapping[str, Any]) -> float:
    score = reply.get("score")
    if score is None:
        raise BadReply("missing_score", "the reply has no score")
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise BadReply("bad_score", f"the score is {type(score).__name__} {_shown(score)}, not a number")
    if not 0 <= score <= 1:  # neither is NaN
        raise BadReply("bad_score", f"the score {_shown(score)} is not between 0 and 1")
    return float(score)


def _entries(reply: Mapping[str, Any], count: int) -> list[Mapping[str, Any]]:
    entries = reply.get("nl_assertion_verdicts", [] if count == 0 else None)
    if entries is None:
        raise BadReply("missing_verdict", "the reply has no nl_assertion_verdicts")
    if not isinstance(entries, list):
        raise BadReply("bad_verdicts", f"nl_assertion_verdicts is {type(entries).__name__}, not a list")
    by_index: dict[int, Mapping[str, Any]] = {}
    for entry in entries:
        index = _index(entry)
        if not 1 <= index <= count:
            raise BadReply("bad_index", f"a verdict has the index {_shown(index)}, but the claims are 1 to {count}")
        if index in by_index:
            raise BadReply("duplicate", f"two verdicts have the index {index}")
        by_index[index] = entry
    if len(by_index) != count:
        raise BadReply("wrong_count", f"{len(by_index)} verdicts came for {count} claims")
    return [by_index[index] for index in range(1, count + 1)]


def _index(entry: Any) -> int:
    if not isinstance(entry, Mapping):
        raise BadReply("bad_verdicts", f"a verdict is {type(entry).__name__}, not an object")
    index = entry.get("index")
    if isinstance(index, str) and re.fullmatch(r"[0-9]{1,6}", index.strip()):
        return int(index)
    if isinstance(index, bool) or not isinstance(index, int):
        raise BadReply("bad_index", f"a verdict has the index {_shown(index)}")
    return index


def _verdict(index: int, claim: str, entry: Mapping[str, Any], evidence: Evidence) -> VerdictResult:
    passed, reason = entry.get("passed"), _reason(entry)
    if "passed" not in entry:
        return _error(index, claim, "missing_verdict", f"no ruling on this claim. The judge said: {reason}")
    if not isinstance(passed, bool):
        return _error(
            index, claim, "not_boolean", f"passed is {_shown(passed)}, not true or false. The judge said: {reason}"
        )
    quotes = read_quotes(entry.get("evidence"), evidence)
    return VerdictResult(
        signal="nl_assertion",
        index=index,
        claim=claim,
        passed=passed,
        reason=reason,
        evidence=quotes,
        detail=_flags(claim, passed, reason, quotes),
    )


def _flags(claim: str, passed: bool, reason: str, quotes: Sequence[Quote]) -> dict[str, Any]:
    """Return what a person should look at; ``flagged`` is there for queries, the others say why."""
    unfound = sum(not quote.found for quote in quotes)
    marks: dict[str, Any] = {"contradiction": True} if contradicts(claim, passed, reason) else {}
    if unfound:
        marks["unfound"] = unfound
    return {**marks, "flagged": True} if marks else {}


def _reason(value: Mapping[str, Any]) -> str:
    reason = value.get("reason")
    return reason[:_MAX_REASON] if isinstance(reason, str) else ""


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


def _error(index: int, claim: str, kind: str, message: str) -> VerdictResult:
    return VerdictResult("nl_assertion", index, claim, passed=False, reason=ERROR_PREFIX + message, error=kind)
