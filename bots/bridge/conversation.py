"""The talk: one side's turn after the other's, until something ends it."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bots.bridge.contract import PartyFailed
from bots.bridge.latency import is_time, record_latency
from bots.bridge.link import Heard
from bots.bridge.said import clean
from bots.bridge.state import Call, Ended, other
from bots.bridge.theirs.actions import close_calls
from bots.bridge.theirs.hearing import hear
from bots.bridge.toolbench import answer_tool_call
from bots.bridge.wire import Message
from bots.tokens import token_count
from scenarios.events import Noted, TurnEnded, TurnStarted, UsageReported
from scenarios.sides import Side

OPENING = "Hello"  # starts the agent; the caller listens first
SILENCE = "(silence)"  # what a side hears when the other gives a blank turn
INAUDIBLE = "(inaudible)"  # what it is told of speech that it took for none
BLANK_TURNS = 3
SPOKEN = {"run_immediately": True, "audio_response": True}  # how RTVI's send-text is to be answered
# Bounds for a party that never comes to the end of a turn.
MAX_TOOL_CALLS_PER_TURN = 100
MAX_MESSAGES_PER_TURN = 10_000
# After the end tool the last words may still come; then the harness hangs up itself.
LAST_WORDS_S = 5.0


@dataclass
class Turn:
    """One turn as it goes on."""

    side: Side
    number: int
    asked_at: float
    tool_ms: float = 0.0
    tools: list[str] = field(default_factory=list)
    messages: int = 0


async def converse(call: Call) -> Ended:
    """Let the sides talk and return how the talk ended. Raises PartyFailed."""
    watcher = asyncio.create_task(pass_on_stop(call), name="stop watcher")
    try:
        call.record(Noted("info", f"the agent was started with {OPENING!r}", "agent"))
        side: Side = "agent"
        heard = OPENING
        while True:
            said = await take_turn(call, side, heard)
            heard, side = said or SILENCE, other(side)
    except Ended as end:
        await take_last_words(call)
        return end
    finally:
        watcher.cancel()


async def pass_on_stop(call: Call) -> None:
    """Turn a request to stop into a message, so that a call waits in one place only."""
    await call.stop.wait()
    call.inbox.put_nowait(("agent", Message("stop", {})))


async def take_turn(call: Call, side: Side, heard: str) -> str:
    """Deliver what the other side said and return the answer. Raises Ended or PartyFailed."""
    turn = Turn(side, call.turn + 1, time.monotonic())
    await say(call, turn, heard)
    complete: Mapping[str, Any] = {}
    while not complete:
        speaker, message = await next_message(call, turn)
        complete = await take_message(call, turn, speaker, message)
    response_ms = (complete.get("answered_at", time.monotonic()) - turn.asked_at) * 1000
    said, raw = clean(str(complete.get("text") or ""))
    if said or call.ending is None:
        await _record_turn(call, turn, said, raw)
        record_latency(call, side, turn.number, response_ms, _parts(turn, complete))
    report_usage(call, side, complete)
    check_ends(call, turn, said, is_empty=not said and raw is None)
    return said


async def say(call: Call, turn: Turn, heard: str) -> None:
    """Have a side hear something: it owes a turn now."""
    link, their = call.links[turn.side], call.theirs.get(turn.side)
    if their is None:
        await link.send("say", {"turn": turn.number, "text": heard})
        return
    if their.parts:
        text = "words that came after its last turn was taken to be over are heard with its next one"
        call.record(Noted("warning", text, turn.side))
    their.begin(turn.asked_at)
    their.say_id = await link.send_message("send-text", {"content": heard, "options": SPOKEN})


async def take_last_words(call: Call) -> None:
    """Record what such a party said after its last turn, when there is no next one to hear it."""
    for side, their in call.theirs.items():
        said, raw = clean(their.take_words())
        if said:
            await _record_turn(call, Turn(side, call.turn + 1, time.monotonic()), said, raw)


async def next_message(call: Call, turn: Turn) -> Heard:
    """Wait for a message, but not past a limit; ``quiet`` stands for a turn that is over by its silence."""
    now = time.monotonic()
    patience = LAST_WORDS_S if call.ending else call.config.limits.silence_s
    their = call.theirs.get(turn.side)
    # Such bots send much that is no sign of a turn, so theirs is counted from the last that is.
    limit = min(call.deadline, (now if their is None or call.ending else their.active_at) + patience)
    quiet_at = their.quiet_at if their else None
    try:
        async with asyncio.timeout(max(0.0, min(limit, quiet_at or limit) - now)):
            return await call.inbox.get()
    except TimeoutError:
        pass
    if quiet_at is not None and time.monotonic() >= quiet_at:
        return turn.side, Message("quiet", {})
    if call.ending is not None:
        call.ending.message = "the party did not finish its last turn, so the harness hung up"
        raise call.ending
    if time.monotonic() >= call.deadline:
        raise _out_of_time(call)
    waited = f"limit {patience:g} s, measured {time.monotonic() - now:.1f} s"
    if turn.side == "user":
        raise PartyFailed(
            "caller_silent", f"the caller owed turn {turn.number} and gave no sign; {waited}", side="user"
        )
    raise Ended("silence", message=f"the agent owed turn {turn.number} and gave no sign; {waited}")


async def take_message(call: Call, turn: Turn, speaker: Side, message: Message) -> Mapping[str, Any]:
    """Act on one message; return the data of the ``turn-complete`` that ends this turn, else nothing."""
    turn.messages += 1
    if turn.messages > MAX_MESSAGES_PER_TURN:
        raise PartyFailed("party_flood", f"over {MAX_MESSAGES_PER_TURN} messages in one turn", side=speaker)
    data = message.data
    if speaker in call.theirs and message.type != "stop":
        return await _take_theirs(call, turn, speaker, message)
    kind = data.get("type") if message.type == "server-message" else message.type
    match kind:
        case "turn-complete" if speaker == turn.side and data.get("turn") == turn.number:
            return {"turn": turn.number, **data}
        case "turn-complete":
            call.record(Noted("warning", f"a turn-complete for turn {data.get('turn')} was ignored", speaker))
        case "tool-call":
            await _take_tool_call(call, turn, speaker, data)
        case "note":
            level = data.get("level")
            call.record(Noted(level if level in ("info", "error") else "warning", _text(data), speaker))
        case "failed" | "closed":
            retry = data.get("is_passing", True) is not False
            raise PartyFailed(str(data.get("kind") or "party_failed")[:60], _text(data), retry=retry, side=speaker)
        case "error-response" if call.links[speaker].has_sent(message.id):
            raise PartyFailed("party_refused", str(data.get("error"))[:2000], side=speaker)
        case "error-response" | "server-response":
            text = f"an answer with the id {message.id[:60]!r}, which nobody waits for, was ignored"
            call.record(Noted("warning", text, speaker))
        case "error":  # RTVI's own, from any pipecat bot
            if data.get("fatal"):
                raise PartyFailed("bot_error", str(data.get("error")), side=speaker)
            call.record(Noted("warning", f"the bot reports: {str(data.get('error'))[:500]}", speaker))
        case "stop":
            raise Ended(call.stop.reason)
    return {}


async def _take_theirs(call: Call, turn: Turn, speaker: Side, message: Message) -> Mapping[str, Any]:
    """Act on a message of a party that keeps its tools; return what its turn was when that is over by its silence."""
    their = call.theirs[speaker]
    if message.type == "quiet":
        close_calls(call, speaker)
        words, requests = their.take_words(), their.take_requests()
        answered_at = their.first_output_at or time.monotonic()
        return {"turn": turn.number, "text": words, "requests": requests, "answered_at": answered_at}
    tool = await hear(call, speaker, message)
    if tool is not None and speaker == turn.side:
        if len(turn.tools) >= MAX_TOOL_CALLS_PER_TURN:
            raise Ended("loop", speaker, f"over {MAX_TOOL_CALLS_PER_TURN} tool calls in one turn")
        turn.tools.append(tool)
    return {}


async def _take_tool_call(call: Call, turn: Turn, speaker: Side, data: Mapping[str, Any]) -> None:
    if len(turn.tools) >= MAX_TOOL_CALLS_PER_TURN:
        raise Ended("loop", speaker, f"over {MAX_TOOL_CALLS_PER_TURN} tool calls in one turn")
    turn.tools.append(f"{data.get('name')} {data.get('arguments')}")
    turn.tool_ms += await answer_tool_call(call, speaker, data)


async def _record_turn(call: Call, turn: Turn, said: str, raw: str | None) -> None:
    call.turn = turn.number
    started_ms = call.record.now_ms
    call.record(TurnStarted(turn.side, turn.number))
    if call.config.pace_s:
        await _pace(call)
    call.record(TurnEnded(turn.side, turn.number, said, said, started_ms, raw=raw))


async def _pace(call: Call) -> None:
    """Let a turn last, so that people can watch, but no longer than the call may."""
    remaining_s = max(0.0, call.deadline - time.monotonic())
    try:
        async with asyncio.timeout(min(call.config.pace_s, remaining_s)):
            await call.stop.wait()
    except TimeoutError:
        pass


def _parts(turn: Turn, complete: Mapping[str, Any]) -> dict[str, float]:
    """Return the known parts of a response time; a party that does not tell its model's time leaves it in the rest."""
    if "answered_at" in complete:  # to its first word, which nothing is known of
        return {}
    parts = {"tools": turn.tool_ms}
    requests = _requests(complete)
    times = [ms for request in requests if is_time(ms := request.get("model_ms"))]
    if times and len(times) == len(requests):
        parts["model"] = float(sum(times))
    return parts


def report_usage(call: Call, side: Side, told: Mapping[str, Any]) -> None:
    """Record the tokens of each model request that a party tells of; what it does not tell is not made up."""
    for request in _requests(told):
        prompt, completion = (token_count(request.get(f"{name}_tokens")) for name in ("prompt", "completion"))
        if prompt is not None and completion is not None:
            call.record(UsageReported(side, prompt, completion))


def _requests(told: Mapping[str, Any]) -> list[dict[str, Any]]:
    requests = told.get("requests")
    return [request for request in requests if isinstance(request, dict)] if isinstance(requests, list) else []


def check_ends(call: Call, turn: Turn, said: str, is_empty: bool) -> None:
    """Raise Ended when this turn was the last."""
    if call.ending is not None:
        raise call.ending
    if call.stop.is_requested:
        raise Ended(call.stop.reason)
    _check_blank(call, turn.side, said, is_empty)
    if call.watch.is_loop(turn.side, said, tuple(turn.tools)):
        raise Ended("loop", message=f"the same exchange {call.watch.limit} times in a row")
    if call.turn >= call.config.limits.max_turns:
        raise Ended("turn_limit", message=f"limit {call.config.limits.max_turns} turns, measured {call.turn}")
    if time.monotonic() >= call.deadline:
        raise _out_of_time(call)


def _out_of_time(call: Call) -> Ended:
    measured_s = time.monotonic() - call.deadline + call.max_duration_s
    return Ended(
        "time_limit", message=f"limit {call.max_duration_s} s, measured {measured_s:.1f} s, in turn {call.turn}"
    )


def _check_blank(call: Call, side: Side, said: str, is_empty: bool) -> None:
    """Note a blank turn; several in a row end the talk. The caller's are its model's fault, never the agent's."""
    if said:
        call.blanks[side] = 0
        return
    call.blanks[side] += 1
    call.record(Noted("warning", f"a blank turn of the {side}; the other side hears {SILENCE!r}", side))
    if side == "user" and (is_empty or call.blanks[side] >= BLANK_TURNS):
        raise PartyFailed("caller_empty", "the caller's model said nothing, though it was asked again", side=side)
    if call.blanks[side] >= BLANK_TURNS:
        raise Ended("silence", message=f"{BLANK_TURNS} blank turns of the agent in a row (the limit)")


def _text(data: Mapping[str, Any]) -> str:
    return str(data.get("message") or data.get("text") or "")[:2000]
