"""Counts of tokens that a party makes up: none of them keeps a call from being stored."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bots.bridge.conversation import report_usage
from bots.bridge.state import Call
from bots.scorer import facts_of
from bots.tokens import MOST, MOST_IN_SUM, token_count
from scenarios.events import UsageReported
from tests.scenarios.scoring.cases import evidence


@pytest.mark.parametrize("told", [-1, MOST + 1, 10**400, "7", 7.0, True, None, [], {}])
def test_what_is_no_count_is_unknown(told: Any) -> None:
    assert token_count(told) is None


@pytest.mark.parametrize("told", [0, 7, MOST])
def test_a_count_is_itself(told: int) -> None:
    assert token_count(told) == told


def test_of_what_a_party_tells_only_counts_are_recorded() -> None:
    recorded: list[UsageReported] = []
    call = cast(Call, SimpleNamespace(record=recorded.append))
    told = [(100, 7), (-1, 7), (100, 10**30), ("100", "7"), (True, False), (0, 0)]
    requests: list[Any] = [{"prompt_tokens": prompt, "completion_tokens": done} for prompt, done in told]
    report_usage(call, "agent", {"requests": [*requests, "none", {}]})
    assert [(one.prompt_tokens, one.completion_tokens) for one in recorded] == [(100, 7), (0, 0)]


def test_a_sum_that_no_column_holds_is_cut_to_what_it_does() -> None:
    call = replace(evidence(), usage={"agent": {"n_calls": 9_000, "prompt": 9_000 * MOST, "completion": 12}})
    facts = facts_of(call)
    assert (facts.prompt_tokens, facts.completion_tokens) == (MOST_IN_SUM, 12)
