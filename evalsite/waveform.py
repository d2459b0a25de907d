"""A recording as lines of an SVG: drawn on the server, so that a page shows it without loading any audio."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# More than a page has pixels for is drawn together.
MAX_COLUMNS = 1_000
# Below this (of 127) there is nothing to hear; above, the loudest sound of the call fills its lane.
QUIET, FULL_AT_LEAST = 1, 16
# Middle and half height of each lane, in the units of the timeline.
LANES = {"user": (5.0, 4.8), "agent": (17.0, 4.8), "both": (11.0, 10.0)}


@dataclass(frozen=True)
class Wave:
    """One lane: ``d`` is the path of an SVG whose unit is a millisecond; ``side`` is both for a mixed recording."""

    side: str
    d: str


def duration_ms(outline: Mapping[str, Any]) -> int:
    """Return how long a recording is, to the length of a point (50 ms)."""
    return int(outline["length"] * outline["samples_per_pixel"] * 1000 / outline["sample_rate"])


def waves(outline: Mapping[str, Any]) -> list[Wave]:
    """Return the lanes of a recording: left the caller, right the agent, or one for both."""
    channels = outline["channels"]
    sides = ("user", "agent") if channels == 2 else ("both",) if channels == 1 else ()
    data = outline["data"]
    loudest = max((abs(value) for value in data), default=0)
    point_ms = outline["samples_per_pixel"] * 1000 / outline["sample_rate"]
    lanes = []
    for channel, side in enumerate(sides):
        lows, highs = data[2 * channel :: 2 * channels], data[2 * channel + 1 :: 2 * channels]
        lanes.append(Wave(side, "".join(_columns(lows, highs, point_ms, LANES[side], loudest))))
    return lanes


def _columns(
    lows: list[int], highs: list[int], point_ms: float, lane: tuple[float, float], loudest: int
) -> Iterator[str]:
    middle, half = lane
    scale = half / max(loudest, FULL_AT_LEAST)
    together = max(1, -(-len(lows) // MAX_COLUMNS))
    for start in range(0, len(lows), together):
        low, high = min(lows[start : start + together]), max(highs[start : start + together])
        if max(-low, high) > QUIET:
            at = round((start + together / 2) * point_ms)
            yield f"M{at} {middle - high * scale:.2f}V{middle - low * scale:.2f}"
