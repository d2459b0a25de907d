"""What a party that keeps its tools says and does: its RTVI messages, one by one."""

import time
from collections.abc import Mapping
from typing import Any

from bots.bridge.contract import PartyFailed
from bots.bridge.state import Call, Ended
from bots.bridge.theirs.actions import MAX_NAME, ask_tool, stop_tool, take_action
from bots.bridge.theirs.side import OWED_S, TheirSide
from bots.bridge.wire import Message
from scenarios.events import Noted
from scenarios.sides import Side

_EXIT, _FINAL = "<exit>", "<final_response>"
# What a bot does in its turn; levels, metrics and the like go on without end.
_SIGNS = frozenset(
    {
        "bot-started-speaking",
        "bot-stopped-speaking",
        "bot-tts-text",
        "bot-llm-started",
        "bot-llm-stopped",
        "llm-function-call-in-progress",
        "llm-function-call-stopped",
        "server-message",
    }
)
MAX_SPOKEN = 100_000  # characters of one turn
MAX_REQUESTS = 1_000


async def hear(call: Call, side: Side, message: Message) -> str | None:
    """Act on one message; return what a tool call is known by, if it was one. Raises PartyFailed."""
    their, data = call.theirs[side], message.data
    if message.type in _SIGNS:
        their.active_at = time.monotonic()
    match message.type:
        case "bot-started-speaking":
            their.is_speaking = True
            their.has_output()
            if their.parts:
                their.parts.append("\n")  # another utterance of the same turn
        case "bot-stopped-speaking":
            their.is_speaking = False
        case "bot-tts-text":
            _hear_words(their, side, data)
        case "bot-llm-started":
            their.is_thinking, their.owed_until = True, 0.0
        case "bot-llm-stopped":
            their.is_thinking = False
        case "llm-function-call-in-progress":
            return _tool_begins(call, side, data)
        case "llm-function-call-stopped":
            _tool_stops(call, side, data)
        case "metrics":
            _count_tokens(their, data)
        case "server-message":
            return await _server_message(call, side, data)
        case "server-response" | "error-response":
            _stray(call, side, message)
        case "closed":
            raise PartyFailed(str(data.get("kind")), str(data.get("message"))[:2000], side=side)
        case "error":
            _reported_error(call, side, data)
    return None


def _hear_words(their: TheirSide, side: Side, data: Mapping[str, Any]) -> None:
    text = data.get("text")
    if not isinstance(text, str):
        return
    their.parts.append(text)
    their.has_output()
    if sum(map(len, their.parts)) > MAX_SPOKEN:
        text = f"the {side} party said over {MAX_SPOKEN} characters in one turn"
        raise PartyFailed("party_flood", text, side=side)


def _tool_begins(call: Call, side: Side, data: Mapping[str, Any]) -> str | None:
    their = call.theirs[side]
    call_id = str(data.get("tool_call_id") or "")[:MAX_NAME]
    their.running.add(call_id)
    name, arguments = data.get("function_name"), data.get("arguments")
    if not isinstance(name, str) or not name:
        return None  # a bot that reports no names: its writes come as actions, its reads with its history
    given = dict(arguments) if isinstance(arguments, Mapping) else {}
    ask_tool(call, side, name, given, call_id)
    return f"{name} {given}"


def _tool_stops(call: Call, side: Side, data: Mapping[str, Any]) -> None:
    their = call.theirs[side]
    call_id = str(data.get("tool_call_id") or "")[:MAX_NAME]
    their.running.discard(call_id)
    their.owed_until = time.monotonic() + OWED_S
    stop_tool(call, side, call_id, data.get("result"), is_cancelled=data.get("cancelled") is True)


async def _server_message(call: Call, side: Side, data: Mapping[str, Any]) -> str | None:
    if data.get("type") == "action-applied":
        return await take_action(call, side, data)
    text = data.get("text")
    if not isinstance(text, str):
        call.record(Noted("info", f"a server-message that is not known was ignored: {str(dict(data))[:200]}", side))
    elif _EXIT in text:
        _exit(call, side)
    elif _FINAL in text:
        call.record(Noted("info", f"the bot's final response: {text[:2000]}", side))
    return None


def _exit(call: Call, side: Side) -> None:
    their = call.theirs[side]
    if side == "user":
        call.record(Noted("warning", "an exit marker of the caller was ignored: only the agent ends a call", side))
        return
    their.has_exited, their.owed_until = True, 0.0
    if call.ending is None:
        call.ending = Ended("transfer" if their.last_action_ends else "end_tool", by=side)


def _count_tokens(their: TheirSide, data: Mapping[str, Any]) -> None:
    tokens = data.get("tokens")
    for entry in tokens if isinstance(tokens, list) else []:
        if isinstance(entry, dict) and len(their.requests) < MAX_REQUESTS:
            their.requests.append(entry)


def _stray(call: Call, side: Side, message: Message) -> None:
    if message.type == "error-response" and message.id == call.theirs[side].say_id:
        raise PartyFailed("party_refused", f"the bot took no text: {str(message.data.get('error'))[:500]}", side=side)
    known = "with the id " + repr(message.id[:60]) if message.id else "without an id"
    call.record(Noted("warning", f"an answer {known}, which nobody waits for, was ignored", side))


def _reported_error(call: Call, side: Side, data: Mapping[str, Any]) -> None:
    text = str(data.get("error") or data.get("message"))[:500]
    if data.get("fatal"):
        raise PartyFailed("bot_error", text, side=side)
    call.record(Noted("warning", f"the bot reports: {text}", side))
