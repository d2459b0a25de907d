"""Tool calls of a party that runs them itself: told of as they happen, its writes made again on our copy.

The copy is what synchronisation is worked out from, as the reference's bridge does on its shadow databases. It never
scores a call by itself: ``scenarios.scoring.end_state``.
"""

import time
from collections.abc import Mapping
from typing import Any

from bots.bridge.contract import PartyFailed
from bots.bridge.state import Call
from bots.bridge.theirs.side import OpenCall
from bots.bridge.theirs.syncing import sync_sides
from scenarios.domains.base import Domain, Tool, ToolResult
from scenarios.events import Noted, ToolCalled, ToolReturned
from scenarios.sides import Side

MAX_NAME = 200
MAX_ACTIONS = 1_000


def ask_tool(call: Call, side: Side, name: str, arguments: dict[str, Any], call_id: str) -> OpenCall:
    """Record that the bot called a tool."""
    tool = call.environment.find_tool(side, name)
    call.tool_calls += 1
    shown = (tool.model_name() if tool else name)[:MAX_NAME]
    asked = OpenCall(call.tool_calls, shown, call_id, arguments, time.monotonic())
    call.record(ToolCalled(side, asked.number, asked.tool, arguments, call_id))
    call.theirs[side].open_calls[call_id or f"#{asked.number}"] = asked
    return asked


def stop_tool(call: Call, side: Side, call_id: str, result: Any, *, is_cancelled: bool = False) -> None:
    """Note that the bot's tool answered; a write waits for its report, which may come after its answer."""
    asked = call.theirs[side].open_calls.get(call_id)
    if asked is None:
        return
    asked.is_stopped, asked.result = True, {"error": "cancelled"} if is_cancelled else result
    tool = call.environment.find_tool(side, asked.tool)
    if tool is None or tool.kind == "read" or is_cancelled or _is_error(result):
        _answer(call, side, asked)


def close_calls(call: Call, side: Side) -> None:
    """Record the answers of calls that stopped and of which no write was reported."""
    for asked in [asked for asked in call.theirs[side].open_calls.values() if asked.is_stopped]:
        _answer(call, side, asked)


async def take_action(call: Call, side: Side, data: Mapping[str, Any]) -> str:
    """Take a reported write: record it, make it on our copy, tell the other side. Raises PartyFailed."""
    action = data.get("action")
    name = (action.get("name") or action.get("action_type")) if isinstance(action, dict) else None
    if not isinstance(action, dict) or not isinstance(name, str):
        raise PartyFailed("bad_action", f"an action without a name was reported: {str(dict(data))[:200]}", side=side)
    their = call.theirs[side]
    if len(their.actions) >= MAX_ACTIONS:
        raise PartyFailed("party_flood", f"over {MAX_ACTIONS} actions were reported", side=side)
    their.actions.append(action)
    if (domain := data.get("tool_domain")) not in (None, call.spec.domain, "default"):
        call.record(Noted("warning", f"the action {name} is of the domain {str(domain)[:60]!r}", side))
    await _apply(call, side, name, action)
    return f"{name} {action.get('arguments')}"


async def _apply(call: Call, side: Side, name: str, action: dict[str, Any]) -> None:
    tool = call.environment.find_tool(side, name)
    if tool is None:
        _check_unknown(call, side, name)
    asked = _asked(call, side, tool.model_name() if tool else name, action)
    made = _on_copy(call, side, tool, asked, action)
    ends = made is not None and made.ok and made.ends_call is not None
    call.theirs[side].last_action_ends = ends and made is not None and made.ends_call == "transfer"
    call.theirs[side].open_calls = {
        key: other for key, other in call.theirs[side].open_calls.items() if other is not asked
    }
    call.record(
        ToolReturned(
            side,
            asked.number,
            asked.tool,
            ok=True,
            result=action.get("result", action) if asked.result is None else asked.result,
            duration_ms=_duration_ms(asked),
            changes=list(made.changes) if made is not None else [],
            action={**action, "side": side},
            ends_call=ends,
        )
    )
    await sync_sides(call, asked.number)


def _check_unknown(call: Call, side: Side, name: str) -> None:
    text = f"{call.spec.domain} has no tool {name[:MAX_NAME]!r} on the {side} side, yet an action of it was reported"
    if type(call.domain).sync is not Domain.sync:
        # What the other side must be told of it cannot be known.
        raise PartyFailed("unknown_action", text, retry=False, side=side)
    call.record(Noted("warning", text, side))


def _asked(call: Call, side: Side, name: str, action: Mapping[str, Any]) -> OpenCall:
    """Return the open call that an action belongs to; one that was not told of is recorded now."""
    for asked in call.theirs[side].open_calls.values():
        if asked.tool == name:
            return asked
    arguments = action.get("arguments")
    if not isinstance(arguments, dict):  # eva's records are flat
        arguments = {key: value for key, value in action.items() if key not in ("action_type", "name", "side")}
    return ask_tool(call, side, name, arguments, "")


def _on_copy(
    call: Call, side: Side, tool: Tool | None, asked: OpenCall, action: Mapping[str, Any]
) -> ToolResult | None:
    """Make a write on our copy; None where its arguments are not known. What does not go is noted."""
    if tool is None:
        return None
    arguments = action.get("arguments")
    if not isinstance(arguments, dict):
        known = tool.Arguments.model_fields
        arguments = {key: value for key, value in asked.arguments.items() if key in known}
    made = call.environment.call_tool(side, tool.model_name(), arguments)
    if not made.ok:
        text = f"the bot did {tool.model_name()}, but on our copy of its database it is refused: {made.error}"
        call.record(Noted("warning", text, side))
        return None
    return made


def _answer(call: Call, side: Side, asked: OpenCall) -> None:
    their = call.theirs[side]
    their.open_calls = {key: other for key, other in their.open_calls.items() if other is not asked}
    tool = call.environment.find_tool(side, asked.tool)
    ok = not _is_error(asked.result)
    error = "refused" if not ok else None
    if ok and tool is not None and tool.kind == "write" and asked.result is None:
        ok, error = False, "no_action_reported"
    ends = ok and tool is not None and tool.ends_call is not None
    result = asked.result if asked.result is not None else "(the bot did not tell)"
    call.record(ToolReturned(side, asked.number, asked.tool, ok, result, _duration_ms(asked), error, ends_call=ends))


def _is_error(result: Any) -> bool:
    return isinstance(result, dict) and (result.get("status") == "error" or "error" in result)


def _duration_ms(asked: OpenCall) -> float:
    return round((time.monotonic() - asked.asked_at) * 1000, 2)
