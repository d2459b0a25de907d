import json
import math
from typing import Any

import pytest

from scenarios.scoring.judge_reply import NO_EVIDENCE
from scenarios.scoring.reference_reply import MISSING, broken, normalise

CLAIMS = ("a", "b")


def reply(verdicts: Any, score: Any = 0.9) -> str:
    return json.dumps({"score": score, "reason": "why", "nl_assertion_verdicts": verdicts})


def row(index: Any, passed: Any) -> dict[str, Any]:
    return {"index": index, "passed": passed, "reason": f"r{index}"}


def test_rows_are_the_references() -> None:
    result = normalise(reply([row(2, True), row(1, False)]), CLAIMS)
    assert list(result.verdicts) == [
        {"index": 1, "assertion": "a", "passed": False, "reason": "r1"},
        {"index": 2, "assertion": "b", "passed": True, "reason": "r2"},
    ]
    assert (result.score, result.reason, result.pass_count, result.pass_rate) == (0.9, "why", 1, 0.5)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nothing",
        "[]",
        "5",
        '{"reason": "no score"}',
        '{"score": null}',
        '{"score": "good"}',
        reply(5),
        reply([], 10**400),
    ],
)
def test_what_cannot_be_read_is_zero_and_fails_all(text: str) -> None:
    result = normalise(text, CLAIMS)
    assert result.score == 0
    assert result.reason.startswith("Error")
    assert [entry["passed"] for entry in result.verdicts] == [False, False]
    assert all(entry["reason"].startswith("Judge error") for entry in result.verdicts)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        pytest.param(None, [(False, MISSING), (False, MISSING)], id="absent"),
        pytest.param([1, "x"], [(False, MISSING), (False, MISSING)], id="not objects"),
        pytest.param([row(1, True)], [(True, "r1"), (False, MISSING)], id="one missing"),
        pytest.param([row("1", True), row(2, True)], [(True, "r1"), (True, "r2")], id="numeric text"),
        pytest.param([row(7, True), row("x", True)], [(False, MISSING), (False, MISSING)], id="dropped"),
        pytest.param(
            [row(1, True), {**row(1, False), "reason": "last"}], [(False, "last"), (False, MISSING)], id="last"
        ),
        pytest.param([row(1, "true"), row(2, 1)], [(False, "r1"), (False, "r2")], id="not boolean"),
    ],
)
def test_malformed_verdicts_follow_the_references_table(verdicts: Any, expected: list[tuple[bool, str]]) -> None:
    result = normalise(reply(verdicts), CLAIMS)
    assert [(entry["passed"], entry["reason"]) for entry in result.verdicts] == expected


def test_scores_are_not_clamped() -> None:
    assert normalise(reply([], 1.7), CLAIMS).score == 1.7
    assert normalise(reply([], True), CLAIMS).score == 1.0
    assert math.isnan(normalise(reply([], float("nan")), CLAIMS).score)


def test_a_fence_is_found_and_a_nested_reply_in_prose_is_not() -> None:
    assert normalise(f"Sure:\n```json\n{reply([row(1, True)])}\n```", CLAIMS).pass_count == 1
    assert normalise(f"Sure: {reply([row(1, True)])}", CLAIMS).score == 0
    assert normalise('Sure: {"score": 0.4, "reason": "x"}', CLAIMS).score == 0.4


def test_no_assertions_have_no_rate() -> None:
    assert normalise(reply([]), ()).pass_rate is None


def test_no_evidence_keeps_its_own_words() -> None:
    result = broken(CLAIMS, NO_EVIDENCE)
    assert result.reason == NO_EVIDENCE
    assert {entry["reason"] for entry in result.verdicts} == {NO_EVIDENCE}
