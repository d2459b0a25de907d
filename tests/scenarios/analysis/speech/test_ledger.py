"""The latency ledger: parts and residual make the response, whatever marks are missing, overlap or run backwards."""

import math
import random
from dataclasses import replace
from typing import Any

import pytest

from scenarios.analysis.speech.ledger import PARTS, Ledger, TurnMarks, balance, summarize

FULL = TurnMarks(
    user_speech_end=1000.0,
    vad_stop=1800.0,
    stt_final=2000.0,
    model=((2010.0, 2300.0), (2500.0, 2700.0)),
    tools=((2300.0, 2490.0),),
    tts_start=2710.0,
    tts_first_audio=2900.0,
    first_audio=2950.0,
)


def with_marks(**marks: Any) -> TurnMarks:
    return replace(FULL, **marks)


def balances(ledger: Ledger) -> bool:
    parts = [*ledger.parts.values(), ledger.residual_ms]
    return sum(round(part * 1000) for part in parts) == round(ledger.response_ms * 1000)


def test_a_response_is_split_and_what_is_left_is_the_residual() -> None:
    ledger = balance(FULL)
    assert ledger.response_ms == 1950.0
    assert ledger.parts == {
        "endpointing": 800.0,
        "stt": 200.0,
        "model": 490.0,
        "tools": 190.0,
        "tts": 190.0,
        "transport": 50.0,
    }
    assert ledger.residual_ms == 30.0
    assert ledger.remarks == ()
    assert list(ledger.parts) == list(PARTS)


@pytest.mark.parametrize(
    ("mark", "missing"),
    [
        ("vad_stop", {"endpointing", "stt"}),
        ("stt_final", {"stt"}),
        ("model", {"model"}),
        ("tools", {"tools"}),
        ("tts_start", {"tts"}),
        ("tts_first_audio", {"tts", "transport"}),
    ],
)
def test_a_part_without_its_mark_is_absent_and_its_time_is_in_the_residual(mark: str, missing: set[str]) -> None:
    whole, ledger = balance(FULL), balance(with_marks(**{mark: None}))
    assert set(PARTS) - set(ledger.parts) == missing
    assert ledger.residual_ms == whole.residual_ms + sum(whole.parts[part] for part in PARTS if part in missing)
    assert balances(ledger)


def test_no_tool_at_all_is_a_measured_nought() -> None:
    assert balance(replace(FULL, tools=())).parts["tools"] == 0.0


def test_without_any_mark_all_of_it_is_residual() -> None:
    ledger = balance(TurnMarks(0.0, 700.0))
    assert (ledger.parts, ledger.residual_ms) == ({}, 700.0)


def test_time_that_two_parts_share_counts_once() -> None:
    marks = TurnMarks(0.0, 1000.0, model=((100.0, 600.0),), tools=((200.0, 400.0), (300.0, 450.0)))
    ledger = balance(marks)
    assert ledger.parts == {"model": 250.0, "tools": 250.0}
    assert ledger.residual_ms == 500.0


def test_a_clock_that_differs_is_a_remark_and_no_negative_part() -> None:
    ledger = balance(replace(FULL, vad_stop=990.0, tts_first_audio=2700.0))
    assert "endpointing" not in ledger.parts
    assert "tts" not in ledger.parts
    assert ledger.remarks == (
        "endpointing ends 10 ms before it begins: clocks differ",
        "tts ends 10 ms before it begins: clocks differ",
    )
    assert balances(ledger)


def test_a_span_beyond_the_response_is_cut_or_named() -> None:
    ledger = balance(replace(FULL, model=((500.0, 2300.0), (5000.0, 6000.0))))
    assert ledger.remarks == ("model lies outside the response",)
    assert balances(ledger)
    assert ledger.parts["model"] == 300.0 - 0.0  # from the transcript on: what was before is endpointing and stt


def test_a_barge_in_is_apart() -> None:
    ledger = balance(replace(FULL, first_audio=900.0))
    assert ledger.is_barge_in
    assert (ledger.response_ms, ledger.parts) == (-100.0, {})


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_mark_that_is_no_time_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="is no time"):
        balance(replace(FULL, first_audio=value))
    with pytest.raises(ValueError, match="is no time"):
        balance(replace(FULL, user_speech_end=-value))


def test_whatever_comes_it_balances_and_nothing_is_negative() -> None:
    dice = random.Random(7)  # noqa: S311

    def some(value: float) -> float | None:
        return None if dice.random() < 0.3 else value

    for _ in range(2000):
        times = sorted(dice.uniform(0, 5000) for _ in range(8))
        if dice.random() < 0.5:
            dice.shuffle(times)
        spans = tuple((dice.uniform(-500, 6000), dice.uniform(-500, 6000)) for _ in range(dice.randint(0, 4)))
        ledger = balance(
            TurnMarks(
                times[0], times[7], some(times[1]), some(times[2]), spans[:2], spans[2:], some(times[5]), some(times[6])
            )
        )
        assert balances(ledger)
        assert all(value >= 0 for value in ledger.parts.values())
        assert ledger.is_barge_in or ledger.residual_ms >= 0


def test_a_stored_latency_is_a_ledger_again() -> None:
    whole = balance(FULL)
    stored: dict[str, float] = dict(whole.parts.items())
    assert Ledger.of_event(whole.response_ms, {**stored, "residual": 30.0}) == whole
    assert Ledger.of_event(-40.0, {}).is_barge_in
    assert Ledger.of_event(100.0, {"model": 30.0, "unknown": 5.0}).residual_ms == 70.0


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


def test_dropped_marks_lower_the_share_and_never_become_nought() -> None:
    rows = [balance(FULL), balance(replace(FULL, tts_start=None)), balance(replace(FULL, tts_start=None))]
    found = summarize(rows).parts["tts"]
    assert (found.measured, found.responses, found.p50) == (1, 3, 190.0)
    assert found.is_thin


def test_remarks_are_counted_over_calls() -> None:
    row = balance(replace(FULL, vad_stop=990.0))
    assert summarize([row, row]).remarks == {"endpointing ends 10 ms before it begins: clocks differ": 2}


def test_nothing_at_all_has_no_figures() -> None:
    found = summarize([])
    assert (found.response.p50, found.response.share, found.barge_ins) == (None, None, 0)
