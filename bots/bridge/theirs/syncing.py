"""One side did something that shows on the other: both databases here, and a side that keeps its own is told."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from bots.bridge.state import Call
from bots.bridge.theirs import control
from scenarios.events import StateSynced
from scenarios.sides import Side


async def sync_start(call: Call) -> None:
    """Tell the sides what the first synchronisation, after initialisation, changed for them. Raises PartyFailed."""
    deltas = _deltas(call, call.environment.start_sync)
    if deltas:
        acknowledged, failure = await _tell(call, deltas)
        # The changes are part of the start of the call already.
        call.record(StateSynced([], None, deltas, acknowledged))
        if failure is not None:
            raise failure


async def sync_sides(call: Call, after_call: int) -> None:
    """Bring the sides together after a tool call and wait until each has acknowledged it. Raises PartyFailed."""
    changes = call.environment.sync()
    if not changes:
        return
    deltas = _deltas(call, changes)
    acknowledged, failure = await _tell(call, deltas)
    call.record(StateSynced(changes, after_call, deltas, acknowledged))
    if failure is not None:
        raise failure


def _deltas(call: Call, changes: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    deltas: dict[str, dict[str, Any]] = {}
    for side in call.theirs:
        own = [change for change in changes if change["side"] == side]
        if delta := call.domain.sync_delta(side, own, call.environment.databases):
            deltas[side] = delta
    return deltas


async def _tell(call: Call, deltas: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, float], BaseException | None]:
    """Send each side its delta; return how many ms each took to acknowledge it, and the first failure."""
    sides: list[Side] = [side for side in call.theirs if side in deltas]
    answers = await asyncio.gather(*(_tell_side(call, side, deltas[side]) for side in sides), return_exceptions=True)
    acknowledged: dict[str, float] = {
        side: ms for side, ms in zip(sides, answers, strict=True) if isinstance(ms, float)
    }
    return acknowledged, next((answer for answer in answers if isinstance(answer, BaseException)), None)


async def _tell_side(call: Call, side: Side, delta: Mapping[str, Any]) -> float:
    started = time.monotonic()
    await control.apply_sync_delta(call.links[side], call.spec.domain, delta)
    return round((time.monotonic() - started) * 1000, 1)
