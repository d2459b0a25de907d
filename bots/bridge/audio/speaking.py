"""A turn that is spoken: what is known of it, and how it gets into the record."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bots.bridge.state import Call
from bots.bridge.wire import Message
from scenarios.events import LatencyMeasured, TurnEnded
from scenarios.sides import Side

MAX_HEARD = 20_000  # characters


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


def heard_in(message: Message) -> str | None:
    """Return what a party says that it heard; None for any other message. The second kind is RTVI's own."""
    data = message.data
    if message.type == "server-message" and data.get("type") == "heard":
        return str(data.get("text") or "")[:MAX_HEARD]
    if message.type == "user-transcription" and data.get("final") is True:
        return str(data.get("text") or "")[:MAX_HEARD]
    return None


def told_parts(complete: Mapping[str, Any]) -> dict[str, float]:
    """Return the parts of a response time that a party tells of, in milliseconds; what is no number is left out."""
    told = complete.get("timings")
    if not isinstance(told, Mapping):
        return {}
    return {
        str(name): float(ms)
        for name, ms in told.items()
        if isinstance(ms, int | float) and not isinstance(ms, bool) and 0 <= ms < 1e7
    }


def record_latency(call: Call, side: Side, number: int, response_ms: float, parts: Mapping[str, float]) -> None:
    """Record a response time; what its known parts leave over is the residual."""
    known = {name: ms for name, ms in parts.items() if name != "response"}
    known["residual"] = response_ms - sum(known.values())
    rounded = {name: round(ms, 1) for name, ms in known.items()}
    call.record(LatencyMeasured(side, number, round(response_ms, 1), rounded))
