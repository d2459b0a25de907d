"""What of a response time gets into the record: its parts, and what they leave over."""

from collections.abc import Mapping
from typing import Any, TypeGuard

from bots.bridge.state import Call
from scenarios.analysis.speech.ledger import Ledger
from scenarios.events import LatencyMeasured
from scenarios.sides import Side

LONGEST_MS = 1e7  # more is no time of a call


def is_time(told: Any) -> TypeGuard[float]:
    """Return whether what a party tells of is a length of time in milliseconds."""
    return isinstance(told, int | float) and not isinstance(told, bool) and 0 <= told < LONGEST_MS


def record_latency(call: Call, side: Side, number: int, response_ms: float, parts: Mapping[str, float]) -> None:
    """Record the response time of turn ``number``, in milliseconds to a tenth; parts and residual make it up exactly.

    Nothing is known of a response without a part: its residual would say nothing and is left out.
    """
    ledger = Ledger.of_event(round(response_ms, 1), {name: round(ms, 1) for name, ms in parts.items()})
    known: dict[str, float] = {part: ms for part, ms in ledger.parts.items()}
    if known:
        known["residual"] = ledger.residual_ms
    call.record(LatencyMeasured(side, number, ledger.response_ms, known))
