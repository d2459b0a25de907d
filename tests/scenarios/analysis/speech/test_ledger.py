"""The latency ledger: parts and residual make the response, whatever parts are missing, or come to more than it."""

import math
import random

import pytest

from scenarios.analysis.speech.ledger import PARTS, Ledger, Part, summarize

PARTS_OF_FULL: dict[Part, float] = {
    "endpointing": 800.0,
    "stt": 200.0,
    "model": 490.0,
    "tools": 190.0,
    "tts": 190.0,
    "transport": 50.0,
}

# As events hold them: names that are any text.
FULL: dict[str, float] = {str(part): ms for part, ms in PARTS_OF_FULL.items()}


def balances(ledger: Ledger) -> bool:
    parts = [*ledger.parts.values(), ledger.residual_ms]
    return sum(round(part * 1000) for part in parts) == round(ledger.response_ms * 1000)


def test_a_response_is_split_and_what_is_left_is_the_residual() -> None:
    ledger = Ledger.of_event(1950.0, {**FULL, "residual": 7.0, "unknown": 5.0})
    assert ledger == Ledger(1950.0, PARTS_OF_FULL, 30.0)
    assert list(ledger.parts) == list(PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_was_not_measured_is_absent_and_its_time_is_in_the_residual(part: Part) -> None:
    told: dict[str, float] = {name: ms for name, ms in FULL.items() if name != part}
    ledger = Ledger.of_event(1950.0, told)
    assert set(PARTS) - set(ledger.parts) == {part}
    assert ledger.residual_ms == 30.0 + FULL[part]


def test_no_tool_at_all_is_a_measured_nought() -> None:
    assert Ledger.of_event(700.0, {"tools": 0.0}).parts == {"tools": 0.0}


def test_a_barge_in_is_apart() -> None:
    assert Ledger.of_event(-40.0, {}) == Ledger(-40.0, {}, -40.0, is_barge_in=True)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_time_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="is no time"):
        Ledger.of_event(value, {})
    with pytest.raises(ValueError, match="is no time"):
        Ledger.of_event(100.0, {"model": value})


def test_whatever_comes_it_balances_and_nothing_is_negative() -> None:
    dice = random.Random(7)
    for _ in range(2000):
        parts: dict[str, float] = {part: dice.uniform(-500, 3000) for part in PARTS if dice.random() < 0.7}
        ledger = Ledger.of_event(dice.uniform(0, 5000), parts)
        assert balances(ledger)
        assert ledger.residual_ms >= 0
        assert all(value >= 0 for value in ledger.parts.values())
        assert set(ledger.parts) == set(parts)


def test_lengths_that_come_to_more_than_the_response_count_once() -> None:
    # A tool ran while speech was made; a party's clock is not the bridge's.
    ledger = Ledger.of_event(1000.0, {"endpointing": 800.0, "model": 50.0, "tools": 100.0, "tts": 90.0})
    assert ledger.parts == {"endpointing": 800.0, "model": 50.0, "tools": 100.0, "tts": 50.0}
    assert ledger.residual_ms == 0.0
    rounded = Ledger.of_event(1000.0, {"stt": 333.4, "model": 333.4, "tts": 333.4})
    assert (rounded.parts["tts"], rounded.residual_ms) == (333.2, 0.0)
    assert balances(rounded)
    assert Ledger.of_event(-40.0, {"model": 30.0}).parts == {}
    assert Ledger.of_event(100.0, {"model": -30.0}).residual_ms == 100.0


def test_percentiles_follow_the_reference_and_carry_the_share_measured() -> None:
    rows = [Ledger(float(n), {"model": float(n)} if n % 2 else {}, 0.0) for n in range(1, 101)]
    found = summarize([*rows, Ledger(-50.0, {}, -50.0, is_barge_in=True)])
    assert found.barge_ins == 1
    assert (found.response.measured, found.response.responses) == (100, 100)
    assert (found.response.p50, found.response.p95) == (51.0, 96.0)
    assert (found.parts["model"].share, found.parts["model"].p50) == (0.5, 51.0)
    assert (found.parts["tts"].measured, found.parts["tts"].p50, found.parts["tts"].share) == (0, None, 0.0)
    assert found.residual.measured == 50
    assert not found.response.is_thin


def test_parts_that_are_missing_lower_the_share_and_never_become_nought() -> None:
    without: dict[str, float] = {name: ms for name, ms in FULL.items() if name != "tts"}
    rows = [Ledger.of_event(1950.0, FULL), Ledger.of_event(1950.0, without), Ledger.of_event(1950.0, without)]
    found = summarize(rows).parts["tts"]
    assert (found.measured, found.responses, found.p50) == (1, 3, 190.0)
    assert found.is_thin


def test_nothing_at_all_has_no_figures() -> None:
    found = summarize([])
    assert (found.response.p50, found.response.share, found.barge_ins) == (None, None, 0)
