"""The one state object of a call, which its phases share."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bots.bridge.contract import Record, Stop
from bots.bridge.link import Heard, Link
from bots.bridge.repeats import RepeatWatch
from bots.bridge.theirs.side import TheirSide
from scenarios.domains.base import Domain, ScenarioSpec
from scenarios.domains.environment import Environment
from scenarios.events import EndReason
from scenarios.launch import FrozenProfile, RunConfig
from scenarios.sides import Side

if TYPE_CHECKING:  # arrays, which a text call does without
    from bots.bridge.conditions import CallConditions


class Ended(Exception):
    """The conversation is over, and why; ``by`` is the side that ended it, None when neither did."""

    def __init__(self, reason: EndReason, by: Side | None = None, message: str = "") -> None:
        super().__init__(message or reason)
        self.reason: EndReason = reason
        self.by = by
        self.message = message


@dataclass
class Call:
    """Everything one conversation is about. Monotonic times in seconds."""

    name: str  # for logs: run, scenario, repetition
    spec: ScenarioSpec
    domain: Domain
    environment: Environment
    config: RunConfig
    record: Record
    stop: Stop
    inbox: "asyncio.Queue[Heard]"
    links: dict[Side, Link]
    watch: RepeatWatch
    turn: int = 0
    tool_calls: int = 0
    deadline: float = 0.0
    # Set by a tool whose success ends the call; the turn it came in is still heard out.
    ending: Ended | None = None
    blanks: dict[Side, int] = field(default_factory=lambda: {"user": 0, "agent": 0})
    # The sides that keep their tools and database themselves.
    theirs: dict[Side, TheirSide] = field(default_factory=dict)
    # Of the voice channel: what happens to the caller's speech, and how it behaves.
    conditions: "CallConditions | None" = None
    # Answers already given, by side and the model's id of the call.
    answers: dict[tuple[Side, str], dict[str, Any]] = field(default_factory=dict)

    def profile(self, side: Side) -> FrozenProfile:
        """Return the profile that plays a side."""
        return self.config.agent if side == "agent" else self.config.caller

    @property
    def max_duration_s(self) -> int:
        """Return the run's own limit, else the scenario's."""
        return self.config.limits.max_duration_s or self.spec.max_duration_s

    def start(self, clock: Callable[[], int] | None = None) -> None:
        """Make now the time zero of the call; with ``clock``, its milliseconds are the time of the call."""
        self.record.start_clock(clock)
        self.deadline = time.monotonic() + self.max_duration_s


def other(side: Side) -> Side:
    """Return the other end of the call."""
    return "user" if side == "agent" else "agent"
