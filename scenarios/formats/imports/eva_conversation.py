"""What was said and done in an eva call, from its audit log; what each side meant and when, from the caller's events.

The audit log has the caller as the agent heard it and the agent as its model wrote it. The caller's own events have the
words that its model meant to say, those that it heard, and the beginning and end of every stretch of audio.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.folder import Folder
from scenarios.formats.imports.pairing import Calls
from scenarios.formats.imports.records import ImportedMessage, ImportedToolCall, ImportedTurn, Remark
from scenarios.formats.imports.redaction import scrub
from scenarios.sides import Side

_SIDE_OF: Mapping[str, Side] = {"user": "user", "assistant": "agent"}
_SPEAKER: Mapping[str, Side] = {"elevenlabs_user": "user", "framework_agent": "agent"}
_EVENTS = ("user_simulator_events.jsonl", "elevenlabs_events.jsonl")
_LATEST_MS = 10**14  # the year 5138: what is later is no time


@dataclass(frozen=True)
class Conversation:
    """The parts of a trial that a conversation gives."""

    messages: tuple[ImportedMessage, ...]
    turns: tuple[ImportedTurn, ...]
    tools: tuple[ImportedToolCall, ...]
    policy: str | None


@dataclass(frozen=True)
class _Entry:
    fields: Fields
    kind: str
    at: int | None  # milliseconds since 1970


@dataclass(frozen=True)
class _Heard:
    """What the caller's side noted: texts, and stretches of audio, each with its time."""

    texts: Mapping[Side, Sequence[tuple[int, str]]]
    starts: Mapping[Side, Sequence[tuple[int, str]]]
    ends: Mapping[Side, Sequence[tuple[int, str]]]
    first: int | None


def read_conversation(folder: Folder, remarks: list[Remark]) -> Conversation:
    """Return messages, turns and tool calls in the order of the audit log."""
    audit = Fields(folder.object("audit_log.json", remarks), folder.placed("audit_log.json"), remarks)
    # What the model wrote comes again as what the agent said.
    entries = [entry for item in audit.each("transcript") if (entry := _entry(item)).kind != "llm_call"]
    entries = [*_greeting(folder, entries, remarks), *entries]
    heard = _heard(folder, remarks)
    begun = _begun(entries, heard)
    calls = Calls()
    messages = _messages(entries, calls)
    calls_at = {message.calls[0]: entries[message.index].at for message in messages if message.calls}
    tools = tuple(replace(call, at_ms=_since(begun, calls_at.get(call.position))) for call in calls.made)
    if not entries:
        audit.remark("no conversation", "transcript")
    return Conversation(messages, _turns(entries, heard, begun), tools, _policy(audit))


def _entry(fields: Fields) -> _Entry:
    return _Entry(fields, fields.text("message_type") or "", _milliseconds(fields.data.get("timestamp")))


def _milliseconds(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _LATEST_MS else None


def _greeting(folder: Folder, entries: list[_Entry], remarks: list[Remark]) -> list[_Entry]:
    """Return what the agent said before the audit log begins: the greeting stands in the transcript alone."""
    first = next((entry.at for entry in entries if entry.at is not None), None)
    found = []
    for line in folder.lines("transcript.jsonl", remarks):
        at = _iso_milliseconds(line.text("timestamp"))
        if line.text("role") != "assistant" or first is None or at is None or at >= first:
            break
        said = Fields({"value": line.text("content")}, line.place, remarks)
        found.append(_Entry(said, "assistant", at))
    return found


def _iso_milliseconds(text: str | None) -> int | None:
    try:
        moment = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return round(moment.timestamp() * 1000) if moment is not None and moment.tzinfo is not None else None


def _messages(entries: Sequence[_Entry], calls: Calls) -> tuple[ImportedMessage, ...]:
    messages = []
    for index, entry in enumerate(entries):
        value = entry.fields.data.get("value")
        content = scrub(value) if isinstance(value, str) else None
        made: tuple[int, ...] = ()
        answers, role = None, {"user": "user", "assistant": "assistant", "tool_response": "tool"}.get(entry.kind)
        if entry.kind == "tool_call":
            role, made = "assistant", (_call(entry, calls, index),)
        elif entry.kind == "tool_response":
            answers = calls.answer(_answer(entry))
            content = calls.made[answers].result if answers is not None else content
        elif role is None:
            entry.fields.remark(f"unknown kind of entry {entry.kind[:40]!r}", "message_type")
        if content is None and entry.kind in _SIDE_OF:
            entry.fields.remark("no text", "value")
        messages.append(ImportedMessage(index, role or entry.kind, content, made, answers))
    return tuple(messages)


def _call(entry: _Entry, calls: Calls, index: int) -> int:
    value = entry.fields.under("value")
    # No ids: a call and its answer follow each other.
    named = {"name": value.data.get("tool"), "arguments": value.data.get("parameters")}
    return calls.call(Fields(named, value.place, entry.fields.remarks), "agent", message=index)


def _answer(entry: _Entry) -> Fields:
    value = entry.fields.under("value")
    response = value.data.get("response")
    status = response.get("status") if isinstance(response, Mapping) else None
    data: dict[str, Any] = {"content": response if isinstance(response, str) else _json(response)}
    if status in ("success", "error"):
        data["error"] = status == "error"
    return Fields(data, value.place, entry.fields.remarks)


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _heard(folder: Folder, remarks: list[Remark]) -> _Heard:
    texts: dict[Side, list[tuple[int, str]]] = {"user": [], "agent": []}
    starts: dict[Side, list[tuple[int, str]]] = {"user": [], "agent": []}
    ends: dict[Side, list[tuple[int, str]]] = {"user": [], "agent": []}
    first = None
    lines = next((lines for name in _EVENTS if (lines := folder.lines(name, remarks))), [])
    for line in lines:
        at = _milliseconds(line.data.get("timestamp"))
        if at is None:
            line.remark("no time; left out", "timestamp")
            continue
        first = at if first is None else min(first, at)
        kind = line.text("type") or line.text("event_type") or ""
        speaker = _SPEAKER.get(line.text("user") or "")
        spoken = line.under("data").text("text") if kind.endswith("_speech") else None
        side = _SIDE_OF.get(kind.removesuffix("_speech"))
        if side and spoken:
            texts[side].append((at, scrub(spoken)))
        elif speaker and kind in ("audio_start", "audio_end"):
            (starts if kind == "audio_start" else ends)[speaker].append((at, ""))
    for moments in (texts, starts, ends):
        for side in moments:
            moments[side].sort(key=_time)
    return _Heard(texts, starts, ends, first)


def _begun(entries: Iterable[_Entry], heard: _Heard) -> int | None:
    """Return when the call began: with the first event of the caller's side, failing that with the first entry."""
    times = [entry.at for entry in entries if entry.at is not None]
    return min([*times, *([heard.first] if heard.first is not None else [])], default=None)


def _turns(entries: Sequence[_Entry], heard: _Heard, begun: int | None) -> tuple[ImportedTurn, ...]:
    spoken = [(index, entry) for index, entry in enumerate(entries) if entry.kind in _SIDE_OF]
    spoken = [(index, entry) for index, entry in spoken if isinstance(entry.fields.data.get("value"), str)]
    noted: dict[Side, list[int]] = {
        side: sorted(entry.at for _, entry in spoken if entry.kind == kind and entry.at is not None)
        for kind, side in _SIDE_OF.items()
    }
    turns = []
    for index, entry in spoken:
        side, text = _SIDE_OF[entry.kind], scrub(entry.fields.data["value"])
        if entry.at is None:
            turns.append(ImportedTurn(side, text, first_message=index))
            continue
        build = _user_turn if side == "user" else _agent_turn
        turn = build(text, entry.at, noted[side], heard, begun)
        turns.append(replace(turn, first_message=index))
    return tuple(turns)


def _user_turn(text: str, at: int, noted: Sequence[int], heard: _Heard, begun: int | None) -> ImportedTurn:
    """Return a turn of the caller, which the audit log notes when it was over: ``said`` is what its model meant."""
    position = bisect_left(noted, at)
    before = noted[position - 1] if position else 0
    meant = [text for _, text in _between(heard.texts["user"], before, at)]
    started = _between(heard.starts["user"], before, at)
    return ImportedTurn(
        side="user",
        spoken=text,
        said=" ".join(meant) or None,
        started_ms=_since(begun, started[0][0] if started else None),
        ended_ms=_since(begun, at),
    )


def _agent_turn(text: str, at: int, noted: Sequence[int], heard: _Heard, begun: int | None) -> ImportedTurn:
    """Return a turn of the agent, which the audit log notes when its model had written it, before it was spoken."""
    position = bisect_right(noted, at)
    after = noted[position] if position < len(noted) else _LATEST_MS
    came_over = " ".join(text for _, text in _between(heard.texts["agent"], at, after))
    started = _between(heard.starts["agent"], at - 1, after - 1)
    ended = _between(heard.ends["agent"], at, after)
    return ImportedTurn(
        side="agent",
        spoken=came_over or text,
        said=text if came_over else None,
        started_ms=_since(begun, started[0][0] if started else at),
        ended_ms=_since(begun, ended[-1][0] if started and ended else None),
    )


def _between(moments: Sequence[tuple[int, str]], after: int, until: int) -> Sequence[tuple[int, str]]:
    """Return what lies after one moment and until another, the latter included."""
    return moments[bisect_right(moments, after, key=_time) : bisect_right(moments, until, key=_time)]


def _time(moment: tuple[int, str]) -> int:
    return moment[0]


def _since(begun: int | None, at: int | None) -> int | None:
    return at - begun if begun is not None and at is not None and at >= begun else None


def _policy(audit: Fields) -> str | None:
    for prompt in audit.each("llm_prompts"):
        for message in prompt.each("prompt"):
            if message.text("role") == "system":
                text = message.text("content")
                return None if text is None else scrub(text)
    return None
