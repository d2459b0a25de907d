"""What is known of a side that keeps its tools itself, while the call goes on."""

import time
from dataclasses import dataclass, field
from typing import Any

# How long nothing may happen after its last word until such a bot's turn is over: it does not say when it is.
# A profile's parameter ``turn_settle_s`` sets another time.
SETTLE_S = 2.0
LONGEST_SETTLE_S = 30.0
# After the exit marker the bot's contexts are given this long, as the reference's bridge gives them.
EXIT_SETTLE_S = 0.5
# A tool's result is followed by another inference, unless the bot ended the call.
OWED_S = 10.0


@dataclass
class OpenCall:
    """A tool call that the bot told of and that is not recorded as answered. ``asked_at`` is monotonic."""

    number: int
    tool: str
    call_id: str
    arguments: dict[str, Any]
    asked_at: float
    is_stopped: bool = False
    result: Any = None  # None: not told


@dataclass
class TheirSide:
    """One such side. Times are monotonic, in seconds."""

    settle_s: float = SETTLE_S
    parts: list[str] = field(default_factory=list)  # said since the words were last taken
    is_speaking: bool = False
    is_thinking: bool = False
    has_exited: bool = False
    owed_until: float = 0.0
    first_output_at: float | None = None
    active_at: float = 0.0  # of the last sign of a turn
    say_id: str = ""  # of the last text that was sent to it
    open_calls: dict[str, OpenCall] = field(default_factory=dict)  # by the model's id of the call
    running: set[str] = field(default_factory=set)  # ids of calls in progress, named or not
    actions: list[dict[str, Any]] = field(default_factory=list)  # reported writes, as they came
    requests: list[dict[str, Any]] = field(default_factory=list)  # tokens told of, not yet recorded
    sends_input: bool = False  # tells what it heard as ``user-input``
    last_action_ends: bool = False  # the last reported write hands the caller over

    def begin(self, now: float) -> None:
        """Start waiting for an answer; words that came too late for the last one stay."""
        self.first_output_at = None
        self.is_thinking = False
        self.owed_until = 0.0
        self.active_at = now

    def has_output(self) -> None:
        """Note that something was said or begun to be said."""
        self.owed_until = 0.0
        self.first_output_at = self.first_output_at or time.monotonic()

    @property
    def quiet_at(self) -> float | None:
        """Return when its turn is over if nothing more happens; None while it owes something."""
        if self.has_exited:
            return self.active_at + EXIT_SETTLE_S
        if self.first_output_at is None or self.is_speaking or self.is_thinking or self.running:
            return None
        return max(self.active_at + self.settle_s, self.owed_until)

    def take_words(self) -> str:
        """Return what was said since this was last asked; pieces are joined as they are."""
        said = "".join(self.parts)
        self.parts = []
        return said

    def take_requests(self) -> list[dict[str, Any]]:
        """Return the token counts that were not recorded yet."""
        requests, self.requests = self.requests, []
        return requests


def settle_s(parameters: dict[str, Any]) -> float:
    """Return a profile's own time of silence that ends a turn, else the usual one."""
    value = parameters.get("turn_settle_s", SETTLE_S)
    return min(float(value), LONGEST_SETTLE_S) if isinstance(value, int | float) and value > 0 else SETTLE_S
