"""The record of events in our own export (``bridge_log.txt``): turns with what was heard, tool calls with their times.

The reference system's log of this name has lines of another form; of those nothing is read.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from scenarios.events import AttemptStarted, ToolCalled, ToolReturned, TurnEnded
from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.folder import Folder
from scenarios.formats.imports.records import ImportedToolCall, ImportedTurn, Remark
from scenarios.formats.imports.redaction import scrub, scrubbed
from scenarios.formats.imports.source import json_within
from scenarios.sides import SIDES, Side

_LINE = re.compile(
    r"#(\d{1,9}) (\d{1,9}\.\d{3})s (?:\[(\w{1,10})\] )?(?:EVENT|METRICS) ([a-z.]{1,40}) (\{.*\})\Z", re.DOTALL
)
_READ = frozenset({AttemptStarted.kind, TurnEnded.kind, ToolCalled.kind, ToolReturned.kind})


@dataclass(frozen=True)
class Record:
    """Turns and tool calls of the last attempt; both empty where there is no record of ours."""

    turns: tuple[ImportedTurn, ...] = ()
    calls: tuple[ImportedToolCall, ...] = ()


def read_record(folder: Folder, remarks: list[Remark]) -> Record:
    """Return what the record says of the last attempt."""
    text = folder.text("bridge_log.txt", remarks) or ""
    turns: list[ImportedTurn] = []
    calls: dict[int, ImportedToolCall] = {}
    for number, line in enumerate(text.split("\n"), 1):
        match = _LINE.match(line)
        if match is None or match[4] not in _READ:
            continue
        data = _data(match[5])
        if data is None:
            remarks.append(Remark("warning", f"{folder.placed('bridge_log.txt')}:{number}", "damaged; left out"))
            continue
        fields = Fields(data, f"{folder.placed('bridge_log.txt')}:{number}", remarks)
        at_ms = round(float(match[2]) * 1000)
        if match[4] == AttemptStarted.kind:
            turns.clear()
            calls.clear()
        elif match[4] == TurnEnded.kind:
            turns += _turn(fields, at_ms)
        elif match[4] == ToolCalled.kind:
            _called(fields, at_ms, calls)
        else:
            _returned(fields, calls)
    return Record(tuple(turns), tuple(calls.values()))


def _data(text: str) -> Mapping[str, Any] | None:
    try:
        data = json_within(text)
    except ValueError:
        return None
    return data if isinstance(data, Mapping) else None


def _side(fields: Fields) -> Side | None:
    named = fields.text("side")
    return next((side for side in SIDES if side == named), None)


def _turn(fields: Fields, at_ms: int) -> list[ImportedTurn]:
    side, said, heard = _side(fields), fields.text("said"), fields.text("heard")
    if side is None or said is None:
        fields.remark("a turn without a side or without words; left out")
        return []
    differs = heard is not None and heard != said
    return [
        ImportedTurn(
            side=side,
            spoken=scrub(heard if heard is not None else said),
            said=scrub(said) if differs else None,
            started_ms=fields.integer("started_ms"),
            ended_ms=at_ms,
        )
    ]


def _called(fields: Fields, at_ms: int, calls: dict[int, ImportedToolCall]) -> None:
    side, call, tool = _side(fields), fields.integer("call"), fields.text("tool")
    if side is None or call is None or tool is None or call in calls:
        fields.remark("a tool call without side, number or name, or one that was there; left out")
        return
    raw = fields.text("raw_arguments")
    arguments = fields.data.get("arguments")
    calls[call] = ImportedToolCall(
        position=len(calls),
        id=fields.text("call_id") or None,
        side=side,
        tool=tool,
        arguments=scrubbed(arguments) if isinstance(arguments, Mapping) and raw is None else None,
        raw_arguments=None if raw is None else scrub(raw),
        at_ms=at_ms,
    )


def _returned(fields: Fields, calls: dict[int, ImportedToolCall]) -> None:
    call = fields.integer("call")
    if call is None or call not in calls:
        fields.remark("an answer to no tool call; left out")
        return
    result, ok = fields.data.get("result"), fields.boolean("ok")
    text = result if isinstance(result, str) or result is None else json.dumps(result, ensure_ascii=False)
    calls[call] = replace(
        calls[call],
        result=None if text is None else scrub(text),
        is_error=None if ok is None else not ok,
        paired_by="id",
    )
