"""Thousands of damaged replies: whatever a judge says, nothing passes that it did not plainly pass."""

import json
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from scenarios.scoring.judge_reply import JudgeReply, read
from scenarios.scoring.reference_reply import normalise
from tests.scenarios.scoring.cases import evidence

CLAIMS = ("The agent confirms.", "The agent says goodbye.", "The agent offers help.")
CALL = evidence()
ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2.5,
    "",
    "true",
    "1",
    [],
    {},
    [True],
    {"passed": True},
    10**30,
)


def good(rng: random.Random) -> dict[str, Any]:
    verdicts = [
        {"index": i, "evidence": [], "reason": "r", "passed": rng.random() < 0.5} for i in range(1, len(CLAIMS) + 1)
    ]
    return {"reason": "why", "score": round(rng.random(), 2), "nl_assertion_verdicts": verdicts}


def mutated(rng: random.Random, value: dict[str, Any]) -> dict[str, Any]:
    """Change one thing in the structure of a reply."""
    verdicts = value["nl_assertion_verdicts"]
    target: dict[str, Any] = rng.choice([value, *verdicts])
    kind = rng.randrange(5)
    if kind == 0:
        target.pop(rng.choice(list(target)))
    elif kind == 1:
        target[rng.choice(list(target))] = rng.choice(ODD_VALUES)
    elif kind == 2:
        verdicts.append(rng.choice([*verdicts, *ODD_VALUES]))
    elif kind == 3:
        verdicts.pop(rng.randrange(len(verdicts)))
    else:
        rng.shuffle(verdicts)
    return value


def damaged(rng: random.Random, text: str) -> str:
    """Cut, double or disturb a reply's text."""
    kind, at = rng.randrange(5), rng.randrange(len(text))
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[at:]
    if kind == 2:
        return text[:at] + rng.choice('{}[]",:\\0t\n') + text[at:]
    if kind == 3:
        return text[:at] + text[at + 1 :]
    return text + rng.choice([text, text.replace("true", "false", 1), "]", "}", " and that is all."])


def replies(seed: int, count: int) -> Iterator[str]:
    rng = random.Random(seed)
    for _ in range(count):
        value = good(rng)
        if rng.random() < 0.7:
            value = mutated(rng, value)
        text = json.dumps(value)
        yield damaged(rng, text) if rng.random() < 0.7 else text


def check(text: str, result: JudgeReply) -> None:
    assert [verdict.index for verdict in result.verdicts] == [1, 2, 3]
    for verdict in result.verdicts:
        assert isinstance(verdict.passed, bool)
        if verdict.error:
            assert not verdict.passed
            assert verdict.reason.startswith("Judge error: ")
        if verdict.passed:
            assert re.search(r'"passed"\s*:\s*true', text)
    if result.error:
        assert result.score is None
        assert {verdict.error for verdict in result.verdicts} == {result.error}
    else:
        assert result.score is not None
        assert 0 <= result.score <= 1


@pytest.mark.parametrize("seed", range(5))
def test_no_damage_makes_a_claim_pass_or_the_parser_raise(seed: int) -> None:
    seen = set()
    for text in replies(seed, 1000):
        result = read(text, CLAIMS, CALL)
        check(text, result)
        seen.add(result.first_error)
    # The damage is real and the undamaged get through.
    assert {None, "unparseable", "wrong_count", "missing_verdict", "not_boolean"} <= seen


@pytest.mark.parametrize("seed", range(5))
def test_where_both_readings_stand_they_agree(seed: int) -> None:
    agreed = 0
    for text in replies(100 + seed, 1000):
        ours, theirs = read(text, CLAIMS, CALL), normalise(text, CLAIMS)
        assert len(theirs.verdicts) == 3
        if ours.is_complete and not theirs.reason.startswith("Error"):
            assert [verdict.passed for verdict in ours.verdicts] == [row["passed"] for row in theirs.verdicts]
            assert ours.score == theirs.score
            agreed += 1
    assert agreed > 100


@pytest.mark.parametrize("seed", range(3))
def test_random_text_is_never_a_ruling(seed: int) -> None:
    rng = random.Random(seed)
    alphabet = '{}[]":, \n\\truefalsnx0123456789passed'
    for _ in range(500):
        text = "".join(rng.choice(alphabet) for _ in range(rng.randrange(200)))
        assert read(text, CLAIMS, CALL).error is not None
