"""What of a response time is recorded: parts that make it up with a residual, none of them below nought."""

import random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bots.bridge.latency import is_time, record_latency
from bots.bridge.state import Call
from scenarios.events import LatencyMeasured


def recorded(response_ms: float, parts: dict[str, float]) -> LatencyMeasured:
    events: list[Any] = []
    record_latency(cast(Call, SimpleNamespace(record=events.append)), "agent", 3, response_ms, parts)
    (event,) = events
    return cast(LatencyMeasured, event)


def test_what_is_known_and_the_rest_make_the_response() -> None:
    event = recorded(1500.04, {"response": 1500.04, "endpointing": 900.0, "model": 400.0, "tts": 150.0})
    assert (event.side, event.turn, event.response_ms) == ("agent", 3, 1500.0)
    assert event.parts == {"endpointing": 900.0, "model": 400.0, "tts": 150.0, "residual": 50.0}


@pytest.mark.parametrize("told", [None, True, "12", -1, float("inf"), float("nan"), 1e9])
def test_what_is_no_time_is_none(told: object) -> None:
    assert not is_time(told)
    assert is_time(0)
    assert is_time(12.5)


def test_of_a_response_of_which_nothing_is_known_no_residual_is_recorded() -> None:
    assert recorded(700.0, {"response": 600.0}).parts == {}


def test_nothing_is_below_nought_and_all_of_it_balances() -> None:
    dice = random.Random(3)  # noqa: S311
    for _ in range(500):
        names = ("endpointing", "stt", "model", "tools", "tts", "transport")
        parts = {name: round(dice.uniform(0, 500), 1) for name in names if dice.random() < 0.8}
        response_ms = max(0.0, sum(parts.values()) + dice.choice([-0.15, -30.0, 0.0, 0.04, 200.0]))
        event = recorded(response_ms, parts)
        assert all(ms >= 0 for ms in event.parts.values())
        assert not parts or round(sum(event.parts.values()), 1) == event.response_ms
