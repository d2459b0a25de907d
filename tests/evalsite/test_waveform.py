"""The waveform as lines of an SVG."""

import re
from typing import Any

import pytest

from evalsite.waveform import MAX_COLUMNS, duration_ms, waves


def outline(*points: tuple[int, ...], channels: int = 2) -> dict[str, Any]:
    """Return an outline of points of 50 ms, each lowest and highest a channel."""
    data = [value for point in points for value in point]
    return {"channels": channels, "sample_rate": 16_000, "samples_per_pixel": 800, "length": len(points), "data": data}


def columns(d: str) -> list[tuple[int, float, float]]:
    return [(int(x), float(top), float(end)) for x, top, end in re.findall(r"M(\d+) ([\d.]+)V([\d.]+)", d)]


def test_each_point_stands_at_its_time_in_the_lane_of_its_side() -> None:
    user, agent = waves(outline((-100, 100, 0, 0), (0, 0, 0, 0), (0, 0, -50, 100)))
    assert (user.side, agent.side) == ("user", "agent")
    assert columns(user.d) == [(25, 0.2, 9.8)]
    assert columns(agent.d) == [(125, 12.2, 19.4)]
    assert duration_ms(outline(*[(0, 0, 0, 0)] * 3)) == 150


def test_a_quiet_call_is_seen_and_silence_is_not_blown_up() -> None:
    loud = columns(waves(outline((-20, 20, 0, 0)))[0].d)
    assert loud == [(25, 0.2, 9.8)]
    assert waves(outline((-1, 1, 0, 0)))[0].d == ""
    (noise,) = columns(waves(outline((-2, 2, 0, 0)))[0].d)
    assert noise[2] - noise[1] < 1.3


def test_a_long_call_is_drawn_in_as_many_lines_as_a_page_has_pixels() -> None:
    points = [(0, 0, 0, 0)] * 18_000  # a quarter of an hour
    points[9_000] = (-90, 90, 0, 0)
    found = columns(waves(outline(*points))[0].d)
    assert len(found) == 1
    assert abs(found[0][0] - 450_000) <= 18 * 50
    every = waves(outline(*[(-9, 9, -9, 9)] * 18_000))
    assert len(columns(every[0].d)) == MAX_COLUMNS


@pytest.mark.parametrize(("channels", "sides"), [(1, ["both"]), (2, ["user", "agent"]), (3, [])])
def test_a_mixed_recording_has_one_lane(channels: int, sides: list[str]) -> None:
    assert [wave.side for wave in waves(outline((-9, 9) * channels, channels=channels))] == sides
