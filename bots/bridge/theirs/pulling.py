"""The end of a party that keeps its tools: hash and actions first, as they decide, then database and history."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any

from bots.bridge.contract import PartyFailed
from bots.bridge.conversation import report_usage
from bots.bridge.state import Call
from bots.bridge.theirs import control
from bots.bridge.theirs.actions import ask_tool, close_calls, stop_tool, take_action
from bots.bridge.theirs.control import Summary
from bots.bridge.theirs.side import EXIT_SETTLE_S
from scenarios.events import ContextPulled, Noted, StatePulled
from scenarios.sides import Side
from scenarios.state.changes import Change, changes_between
from scenarios.state.overlay import Overlay

# A database whose canonical text is longer might not fit into the frame of an answer, so its hash has to do.
MAX_DB_BYTES = 600_000
MAX_CALLS_IN_HISTORY = 1_000


async def pull_theirs(call: Call, side: Side) -> None:
    """Record the end state and the history of a side. Raises PartyFailed without an end state."""
    await asyncio.sleep(EXIT_SETTLE_S)  # a last write may still be on its way
    close_calls(call, side)
    summary, db, no_database = await _read_state(call, side)
    history = await _read_history(call, side)
    if history is not None:
        again = await _still(call, side, summary)
        if again is not None:
            summary, db, no_database = again
    await _catch_up(call, side, summary)
    _add_unreported(call, side, history or [])
    _record_state(call, side, summary, db, no_database)
    report_usage(call, side, {"requests": call.theirs[side].take_requests()})
    if history is not None:
        call.record(ContextPulled(side, history))


State = tuple[Summary, Mapping[str, Any] | None, str]


async def _read_state(call: Call, side: Side) -> State:
    """Return summary, database (None: not known) and why it is not known. Raises PartyFailed."""
    link = call.links[side]
    summary = await control.scenario_summary(link, include_db=False)
    database = call.environment.databases.get(side)
    if database is None or summary.db_hash is None:
        return summary, None, "this side has no database"
    size = sum(len(database.seed.table_bytes(table)) for table in database.seed.data)
    if size > MAX_DB_BYTES:
        return summary, None, f"it is too large to be sent: {size} bytes, of {MAX_DB_BYTES} that are asked for"
    try:
        whole = await control.scenario_summary(link, include_db=True)
    except PartyFailed as failure:
        return summary, None, f"asked for its database, the bot failed: {failure}"
    if whole.db is None:
        return whole, None, "asked for its database, the bot gave only a hash"
    return whole, whole.db, ""


async def _still(call: Call, side: Side, summary: Summary) -> State | None:
    """Return the state again where a late write changed it while the history was read."""
    try:
        later = await control.scenario_summary(call.links[side], include_db=False)
    except PartyFailed as failure:
        call.record(Noted("warning", f"the end state could not be asked for a second time: {failure}", side))
        return None
    if later.db_hash == summary.db_hash and len(later.actions) == len(summary.actions):
        return None
    call.record(Noted("info", "a write came while the end was read, so the end state was read again", side))
    return await _read_state(call, side)


async def _read_history(call: Call, side: Side) -> list[dict[str, Any]] | None:
    """Return the history; without it the record is whole all the same."""
    try:
        return await control.context_history(call.links[side])
    except PartyFailed as failure:
        call.record(Noted("warning", f"the context could not be read: {failure}", side))
        return None


async def _catch_up(call: Call, side: Side, summary: Summary) -> None:
    """Make the writes of the bot's own log that it never reported on our copy as well, and note both lacks."""
    reported = [_key(action) for action in call.theirs[side].actions]
    missed = []
    for action in summary.actions:
        if (key := _key(action)) in reported:
            reported.remove(key)
        else:
            missed.append(action)
    if reported:
        text = f"{len(reported)} reported actions are not in the bot's own log, which is what is scored"
        call.record(Noted("warning", text, side))
    if missed:
        text = f"{len(missed)} actions of the bot's own log were never reported; they stand at the end of the call"
        call.record(Noted("warning", text, side))
    for action in missed:
        if isinstance(action.get("name") or action.get("action_type"), str):
            await take_action(call, side, {"action": action})


def _key(action: Mapping[str, Any]) -> str:
    return json.dumps({name: value for name, value in action.items() if name != "side"}, sort_keys=True)


def _add_unreported(call: Call, side: Side, history: list[dict[str, Any]]) -> None:
    """Record the reads, and the refused writes, that only the history tells of (reference bots report writes alone)."""
    known = {event.data.get("call_id") for event in call.record.events if event.kind == "tool.called"}
    results = {m.get("tool_call_id"): m.get("content") for m in history if m.get("role") == "tool"}
    done = [_used(event.data) for event in call.record.events if event.kind == "tool.called" and event.side == side]
    added = 0
    for call_id, name, arguments in _calls_in(history):
        tool = call.environment.find_tool(side, name)
        used = _used({"tool": tool.model_name() if tool else name, "arguments": arguments})
        if call_id in known or used in done:
            if used in done:
                done.remove(used)
            continue
        ask_tool(call, side, name, arguments, call_id)
        stop_tool(call, side, call_id, _parsed(results.get(call_id)))
        added += 1
    close_calls(call, side)
    if added:
        text = f"{added} tool calls are known from the bot's history only; they stand at the end of the call"
        call.record(Noted("info", text, side))


def _used(data: Mapping[str, Any]) -> str:
    return json.dumps([data["tool"], data["arguments"]], sort_keys=True)


def _calls_in(history: list[dict[str, Any]]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield id, name and arguments of the tool calls in a history in OpenAI's form."""
    count = 0
    for message in history:
        asked = message.get("tool_calls")
        for entry in asked if isinstance(asked, list) else []:
            function = entry.get("function") if isinstance(entry, dict) else None
            if not isinstance(function, dict) or not isinstance(function.get("name"), str):
                continue
            count += 1
            if count > MAX_CALLS_IN_HISTORY:
                return
            arguments = _parsed(function.get("arguments"))
            yield (
                str(entry.get("id") or f"history-{count}"),
                function["name"],
                (arguments if isinstance(arguments, dict) else {}),
            )


def _parsed(content: Any) -> Any:
    if not isinstance(content, str):
        return content
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content


def _record_state(call: Call, side: Side, summary: Summary, db: Mapping[str, Any] | None, no_database: str) -> None:
    """Record the end state. Raises PartyFailed for a database that has not the hash that was given with it."""
    copy = call.environment.databases.get(side)
    changes = None
    if copy is not None and db is not None:
        changes = _changes(copy, db, side)
        given = _hash_of(copy, changes)
        if given != summary.db_hash:
            text = (
                f"the {side} party gave the hash {summary.db_hash} together with a database whose hash is {given}: "
                "its canonical hash is not that of docs/external-agents.md"
            )
            raise PartyFailed("state_contradicts_itself", text, retry=False, side=side)
    copy_hash = copy.hash if copy is not None else None
    if copy is not None and summary.db_hash not in (None, copy_hash):
        text = "the bot's database is not what its reported actions make of our copy; scored is the bot's"
        call.record(Noted("warning", text, side))
    stored = None if changes is None else [{"side": side, **change.to_json()} for change in changes]
    call.record(StatePulled(side, summary.db_hash, summary.actions, stored, no_database, copy_hash))


def _changes(copy: Overlay, db: Mapping[str, Any], side: Side) -> list[Change]:
    try:
        return list(changes_between(dict(copy.seed.data), dict(db)))
    except RecursionError as error:
        raise PartyFailed("bad_summary", f"the {side} party's database is nested too deeply", side=side) from error


def _hash_of(copy: Overlay, changes: list[Change]) -> str:
    database = Overlay(copy.seed)
    database.apply(changes)
    return database.hash
