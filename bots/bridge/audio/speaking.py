"""A turn that is spoken: what is known of it, and how it gets into the record."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bots.bridge.latency import is_time
from bots.bridge.state import Call
from bots.bridge.theirs.side import TheirSide
from bots.bridge.wire import Message
from scenarios.analysis.speech.ledger import PARTS
from scenarios.events import TurnEnded
from scenarios.sides import SIDES, Side

MAX_HEARD = 20_000  # characters
_TOLD = frozenset({"response", *PARTS})


@dataclass(frozen=True)
class Spoken:
    """A turn that was spoken and is not recorded as ended yet: the other side has not said what it heard."""

    side: Side
    number: int
    said: str
    raw: str | None
    started_ms: int
    ended_ms: int
    interrupted: bool = False

    def record(self, call: Call, heard: str | None) -> None:
        """Record the turn with what the other side understood (None: not measured)."""
        call.record(
            TurnEnded(
                self.side,
                self.number,
                self.said,
                heard,
                self.started_ms,
                interrupted=self.interrupted,
                raw=self.raw,
                ended_ms=self.ended_ms,
            )
        )


class Transcript:
    """The turns of both sides until it is known what the other side understood of them.

    Recognition works in stretches: one may come before its turn is over, one after it was recorded. All belong to the
    turn that was spoken; a turn that is recorded again takes the place of what was recorded before.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self._open: dict[Side, Spoken] = {}  # the sound is over, the words are not known
        self._recorded: dict[Side, Spoken] = {}
        self._parts: dict[Side, list[str]] = {side: [] for side in SIDES}  # heard of the newest turn

    def begins(self, side: Side) -> None:
        """Note that a side begins a turn: what is heard from now on is of that one."""
        self.settle(side)
        self._recorded.pop(side, None)
        self._parts[side] = []

    def ended(self, spoken: Spoken) -> None:
        """Take the turn of a side whose sound is over."""
        self._open[spoken.side] = spoken

    def heard(self, side: Side, text: str) -> bool:
        """Take what was understood of a side; return whether that settled its turn."""
        self._parts[side].append(text)
        if side in self._recorded:  # late: the turn grows
            self._recorded[side].record(self._call, self._words(side))
        return self.settle(side)

    def settle(self, side: Side) -> bool:
        """Record a side's turn with what is known of it by now; return whether there was one."""
        spoken = self._open.pop(side, None)
        if spoken is None:
            return False
        self._recorded[side] = spoken
        spoken.record(self._call, self._words(side))
        return True

    def _words(self, side: Side) -> str | None:
        parts = self._parts[side]
        return " ".join(filter(None, parts)) if parts else None


def heard_in(message: Message, their: TheirSide | None) -> str | None:
    """Return what a party says that it heard; None for any other message. ``their``: of one that keeps its tools.

    A party whose tools run with us says ``heard`` for a whole turn; one that keeps them only has RTVI's transcriptions
    of each stretch (a pipecat bot of the first kind may send both). Those are ``user-transcription`` and, since RTVI
    2.2, ``user-input``, after which the former says the same once more; pipecat 2.0 will send the latter alone.
    """
    data = message.data
    if their is None:
        is_it = message.type == "server-message" and data.get("type") == "heard"
    elif message.type == "user-input":
        is_it = data.get("input_type") == "transcription" and data.get("final") is True
        their.sends_input = their.sends_input or is_it
    else:
        is_it = message.type == "user-transcription" and data.get("final") is True and not their.sends_input
    return str(data.get("text") or "")[:MAX_HEARD] if is_it else None


def told_parts(complete: Mapping[str, Any]) -> dict[str, float]:
    """Return ``response`` and the parts of it that a party tells of, in ms; unknown ones and no times are left out."""
    told = complete.get("timings")
    if not isinstance(told, Mapping):
        return {}
    return {str(name): float(ms) for name, ms in told.items() if name in _TOLD and is_time(ms)}
