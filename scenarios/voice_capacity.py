"""How many voice calls this machine bears at once: as the settings say, else as measured here, else by its cores.

``manage.py voice_capacity`` measures and keeps the result in a file of this machine (``VAR_DIR``): another machine that
shares the database has another capacity.
"""

import json
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from pydantic import BaseModel, ConfigDict, ValidationError

from scenarios.voice import Clock

FILE = "voice_capacity.json"
# Without a measurement.
CALLS_A_CORE: Mapping[Clock, int] = {"lockstep": 2, "realtime": 1}
# Of a lane's places, what voice calls leave to text: a fourth.
LEFT_TO_TEXT = 4


class Point(BaseModel):
    """So many calls at once: what was seen. Ticks are those of audio in real time."""

    model_config = ConfigDict(frozen=True)

    calls: int
    seconds: float  # from the first call's start to the last one's end
    speech_s: float  # length of all recordings together
    ticks: int = 0
    late: int = 0
    failed: int = 0

    @property
    def late_share(self) -> float | None:
        """Return the share of audio ticks that came late; None without ticks."""
        return self.late / self.ticks if self.ticks else None

    @property
    def calls_a_minute(self) -> float:
        """Return how many calls of one minute a minute holds."""
        return self.speech_s / self.seconds


class ClockCapacity(BaseModel):
    """What was found for one clock; ``calls`` is the limit, 1 even where one call was too many (``is_short``)."""

    model_config = ConfigDict(frozen=True)

    calls: int
    is_short: bool = False
    points: tuple[Point, ...]


class Capacity(BaseModel):
    """One measurement of this machine."""

    model_config = ConfigDict(frozen=True)

    host: str
    cores: int
    load: float  # of the machine before it began: others' work lowers the limit
    speech: str
    measured_at: str
    lockstep: ClockCapacity | None = None
    realtime: ClockCapacity | None = None

    def of(self, clock: Clock) -> ClockCapacity | None:
        """Return what was found for a clock."""
        return self.lockstep if clock == "lockstep" else self.realtime


@dataclass(frozen=True)
class Limit:
    """The calls of a clock at once, and where the number is from."""

    clock: Clock
    calls: int
    origin: str
    found: ClockCapacity | None = None


def path() -> Path:
    """Return where this machine's measurement is kept."""
    return Path(settings.VAR_DIR) / FILE


def save(capacity: Capacity) -> None:
    """Keep a measurement; lanes and the launch form go by it from now on."""
    fresh = path().with_suffix(".new")
    fresh.write_text(capacity.model_dump_json(indent=1))
    fresh.replace(path())


def measured() -> Capacity | None:
    """Return this machine's measurement; None without one, or when it is another machine's or cannot be read."""
    try:
        found = Capacity.model_validate(json.loads(path().read_text()))
    except (OSError, ValueError, ValidationError):
        return None
    return found if (found.host, found.cores) == here() else None


def here() -> tuple[str, int]:
    """Return the name and the cores of this machine."""
    return socket.gethostname(), os.cpu_count() or 1


def limit(clock: Clock) -> Limit:
    """Return how many calls of a clock this machine bears at once."""
    name = "VOICE_LOCKSTEP_CALLS" if clock == "lockstep" else "VOICE_REALTIME_CALLS"
    said = getattr(settings, name)
    capacity = measured()
    found = capacity.of(clock) if capacity else None
    if said:
        return Limit(clock, said, f"set by {name}", found)
    if capacity and found:
        return Limit(clock, found.calls, f"measured with {capacity.speech} speech", found)
    cores = here()[1]
    return Limit(clock, CALLS_A_CORE[clock] * cores, f"{CALLS_A_CORE[clock]} a core; not measured here yet")


def load_of(config: Mapping[str, Any]) -> float:
    """Return the share of this machine that one call of a stored configuration takes: 0 for text.

    A run that says how many of its calls go at once, and says more than the machine's limit, is taken at its word.
    """
    clock: Clock | None = config.get("clock")
    if clock is None:
        return 0.0
    return 1 / max(limit(clock).calls, (config.get("limits") or {}).get("concurrency") or 0)


@dataclass
class VoiceRoom:
    """What a lane may still take of voice calls: its part of the machine, and not all of its places."""

    share: float  # of the machine: 1 over the number of lanes
    places: int

    @classmethod
    def of_lane(cls, width: int, held: list[Mapping[str, Any]]) -> "VoiceRoom":
        """Return the room of a lane that holds calls of these configurations."""
        loads = [load for config in held if (load := load_of(config))]
        return cls(1 / settings.LANES - sum(loads), max(1, width - width // LEFT_TO_TEXT) - len(loads))

    def fit(self, config: Mapping[str, Any], width: int) -> int:
        """Return how many of ``width`` calls fit; a lane that holds no voice call has room for one in any case."""
        load = load_of(config)
        if not load:
            return width
        is_empty = self.share >= 1 / settings.LANES - 1e-9
        return max(0, min(width, self.places, max(int(self.share / load + 1e-6), int(is_empty))))

    def take(self, config: Mapping[str, Any], calls: int) -> None:
        """Note that so many were taken."""
        if load := load_of(config):
            self.share -= calls * load
            self.places -= calls
