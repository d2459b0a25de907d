"""Function calls of either party, run on the call's own environment."""

import time
from collections.abc import Mapping
from typing import Any

from bots.bridge.shorten import shorten
from bots.bridge.state import Call, Ended
from bots.bridge.theirs.syncing import sync_sides
from scenarios.domains.base import ToolResult
from scenarios.events import Noted, ToolCalled, ToolReturned
from scenarios.sides import Side

MAX_NAME = 200


async def answer_tool_call(call: Call, side: Side, data: Mapping[str, Any]) -> float:
    """Run the tool of a ``tool-call`` message once and send the result back; return how long it took in ms."""
    call_id = str(data.get("call_id") or "")[:MAX_NAME]
    if (answer := call.answers.get((side, call_id))) is not None:
        call.record(Noted("warning", f"the call {call_id} came a second time and was not run again", side))
        await call.links[side].send("tool-result", answer)
        return 0.0
    started = time.monotonic()
    number = call.tool_calls + 1
    result = _run(call, side, call_id, data)
    await sync_sides(call, number)
    duration_ms = (time.monotonic() - started) * 1000
    content, rule = shorten(result.for_model)
    if rule is not None:
        call.record(Noted("warning", f"{result.tool}: {rule}", side))
    answer = {"call_id": call_id, "result": content, "ends_call": result.ok and result.ends_call is not None}
    call.answers[side, call_id] = answer
    await call.links[side].send("tool-result", answer)
    return duration_ms


def _run(call: Call, side: Side, call_id: str, data: Mapping[str, Any]) -> ToolResult:
    """Run one call and record it; a malformed one is answered by the environment like any other."""
    call.tool_calls += 1
    number, name = call.tool_calls, str(data.get("name") or "")[:MAX_NAME]
    arguments, raw = data.get("arguments"), data.get("raw_arguments")
    if not isinstance(arguments, dict):
        arguments, raw = {}, raw if isinstance(raw, str) else repr(arguments)
    call.record(ToolCalled(side, number, name, arguments, call_id, raw if isinstance(raw, str) else None))
    started = time.monotonic()
    result = call.environment.call_tool(side, name, arguments if raw is None else raw)
    call.record(
        ToolReturned(
            side,
            number,
            name,
            ok=result.ok,
            result=result.for_model,
            duration_ms=round((time.monotonic() - started) * 1000, 2),
            error=result.error,
            changes=list(result.changes),
            action=result.action,
            ends_call=result.ok and result.ends_call is not None,
        )
    )
    if result.ok and result.ends_call is not None and call.ending is None:
        call.ending = Ended(result.ends_call, by=side)
    return result
