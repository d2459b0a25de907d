"""Measuring how many voice calls a machine bears: when it stops, what it makes of what it sees, and one real call."""

from collections.abc import Awaitable
from typing import Any

import pytest

from bots.capacity import best_in_lockstep, configuration, hold_at_once, most_in_real_time
from scenarios.voice import Speech
from scenarios.voice_capacity import Point
from tests.bots.conftest import Stage


def machine(late: list[int] | None = None, a_minute: list[float] | None = None, failed: int = 0) -> Any:
    """Return a machine of which it is known what so many calls at once do to it."""

    def hold(calls: int) -> Awaitable[Point]:
        async def point() -> Point:
            return Point(
                calls=calls,
                seconds=60,
                speech_s=60 * (a_minute[calls - 1] if a_minute else 1),
                ticks=1000 * calls,
                late=late[calls - 1] * calls if late else 0,
                failed=failed if calls == 2 else 0,
            )

        return point()

    return hold


def said(text: str) -> None:
    """Take what is told on the way."""
    assert "at once: " in text


async def test_real_time_is_borne_until_one_tick_in_a_hundred_is_late() -> None:
    found = await most_in_real_time(machine(late=[0, 2, 9, 10, 0]), 8, said)
    assert (found.calls, found.is_short, len(found.points)) == (3, False, 4)


async def test_a_machine_that_bears_no_call_says_so() -> None:
    found = await most_in_real_time(machine(late=[50]), 8, said)
    assert (found.calls, found.is_short) == (1, True)


async def test_a_call_that_fails_is_not_borne() -> None:
    assert (await most_in_real_time(machine(late=[0, 0, 0], failed=1), 3, said)).calls == 1
    assert (await best_in_lockstep(machine(a_minute=[2, 4, 6], failed=1), 3, said)).calls == 1


async def test_lockstep_grows_while_more_at_once_bring_more() -> None:
    found = await best_in_lockstep(machine(a_minute=[3, 5, 6.5, 6.6, 9]), 8, said)
    assert (found.calls, len(found.points)) == (3, 4)


async def test_nobody_goes_beyond_what_was_asked_for() -> None:
    assert len((await most_in_real_time(machine(late=[0] * 9), 2, said)).points) == 2


@pytest.mark.parametrize("clock", ["lockstep", "realtime"])
async def test_two_calls_at_once_are_held_and_counted(
    stage: Stage, base_url: str, settings: Any, recordings_elsewhere: None, clock: Any
) -> None:
    settings.STANDIN_URL = base_url
    config = configuration(clock, Speech(service="tones"), 3)
    point = await hold_at_once(2, config)
    assert (point.calls, point.failed) == (2, 0)
    assert point.speech_s > 5
    assert (point.ticks > 250) == (clock == "realtime")


@pytest.fixture
def recordings_elsewhere(tmp_path: Any, settings: Any) -> None:
    here_only = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "default": here_only}
