"""What was said and done in a call of the reference system, from whichever of its files have it.

Turns: our record of events, else segLST, else the metrics, else the text log. Tool calls: our record, else the
two sides' contexts, else the recorded actions, which are successful writes only.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.folder import Folder
from scenarios.formats.imports.messages import read_messages
from scenarios.formats.imports.pairing import Calls
from scenarios.formats.imports.records import ImportedMessage, ImportedToolCall, ImportedTurn, Remark
from scenarios.formats.imports.redaction import scrub, scrubbed
from scenarios.formats.imports.reference_record import read_record
from scenarios.sides import SIDES, Side

_SIDE_OF: Mapping[str, Side] = {"agent": "agent", "assistant": "agent", "bot": "agent", "user": "user"}
_LINE = re.compile(
    r"\[(\d{1,9}(?:\.\d+)?)s? - (\d{1,9}(?:\.\d+)?)s?\] (?:\([^)]{0,40}\) )?(\w{1,20}): (.*)\Z", re.DOTALL
)
_LATEST_S = 10**7


@dataclass(frozen=True)
class Conversation:
    """The parts of a trial that a conversation gives."""

    messages: tuple[ImportedMessage, ...]
    turns: tuple[ImportedTurn, ...]
    tools: tuple[ImportedToolCall, ...]
    policy: str | None


@dataclass(frozen=True)
class _Context:
    messages: tuple[ImportedMessage, ...]
    # Each call with how many texts of the user and of the agent stood before it, and how many of its own side.
    calls: tuple[tuple[ImportedToolCall, int, int], ...]
    policy: str | None


def read_conversation(folder: Folder, metrics: Fields, remarks: list[Remark]) -> Conversation:
    """Return messages (the agent's context), turns and tool calls of a call."""
    recorded = read_record(folder, remarks)
    contexts = {side: _context(folder, side, remarks) for side in SIDES}
    turns = recorded.turns or _segments(folder, remarks) or _of_metrics(metrics) or _of_text(folder, remarks)
    agent = contexts["agent"]
    turns = turns or tuple(_of_messages(agent.messages))
    tools = recorded.calls or _merged(contexts, turns, folder, remarks) or _actions(folder, remarks)
    if not turns:
        remarks.append(Remark("warning", folder.place, "nothing of what was said is there"))
    return Conversation(agent.messages, turns, tools, agent.policy)


def _context(folder: Folder, side: Side, remarks: list[Remark]) -> _Context:
    name = f"bot_logs_{side}/llm_context.json"
    entries = folder.objects(name, remarks)
    if folder.find(name) is not None and not entries:
        remarks.append(Remark("warning", folder.placed(name), f"no context of the {side}: the log is empty"))
    calls = Calls()
    messages, _ = read_messages(entries, calls)
    said = own = 0
    counted: dict[int, tuple[int, int]] = {}
    for message in messages:
        # The call stands before the words of its own message, which are spoken after the answer came.
        counted |= {position: (said, own) for position in message.calls}
        if message.role in ("user", "assistant") and message.content:
            said += 1
            own += message.role == "assistant"
    # In the context of a side, the assistant is that side.
    made = [replace(call, side=side) for call in calls.made]
    policy = next((message.content for message in messages if message.role == "system"), None)
    return _Context(messages, tuple((call, *counted.get(call.position, (said, own))) for call in made), policy)


def _merged(
    contexts: Mapping[Side, _Context], turns: Sequence[ImportedTurn], folder: Folder, remarks: list[Remark]
) -> tuple[ImportedToolCall, ...]:
    """Return both sides' calls in one order, which the files do not tell: by the words said before each."""
    rows = [(said, side == "user", call, own) for side in SIDES for call, said, own in contexts[side].calls]
    if len({call.side for _, _, call, _ in rows}) > 1:
        text = "the order of the two sides' tool calls is taken from the words before them: no file has their times"
        remarks.append(Remark("warning", folder.placed("bot_logs_user/llm_context.json"), text))
    places = {side: [index for index, turn in enumerate(turns) if turn.side == side] for side in SIDES}
    merged = []
    for position, (_, _, call, own) in enumerate(sorted(rows, key=lambda row: row[:2])):
        mine = places[call.side]
        after = mine[own] if own < len(mine) else len(turns)
        # The message is one of the side's own context, so it is kept for the agent only.
        message = call.message if call.side == "agent" else None
        merged.append(replace(call, position=position, message=message, after_turn=after))
    return tuple(merged)


def _actions(folder: Folder, remarks: list[Remark]) -> tuple[ImportedToolCall, ...]:
    name = "final_agent_response.json"
    value = folder.json(name, [])  # what is wrong with it is remarked on where its facts are taken
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, Mapping):
        return ()
    calls: list[ImportedToolCall] = []
    for action in Fields(first, folder.placed(name), remarks).each("actions"):
        tool, arguments = action.text("name"), action.data.get("arguments")
        if tool is None or not isinstance(arguments, Mapping):
            action.remark("an action without a name and arguments: it cannot be run again")
            continue
        result = action.data.get("result")
        calls.append(
            ImportedToolCall(
                position=len(calls),
                id=None,
                side=_SIDE_OF.get(action.text("side") or "", "agent"),
                tool=tool,
                arguments=scrubbed(arguments),
                result=None if result is None else scrub(json.dumps(result, ensure_ascii=False)),
                is_error=False,
            )
        )
    if calls:
        text = "only successful writes are known: no context and no record of the tool calls is there"
        remarks.append(Remark("warning", folder.placed(name), text))
    return tuple(calls)


def _segments(folder: Folder, remarks: list[Remark]) -> tuple[ImportedTurn, ...]:
    turns = []
    for segment in folder.objects("conversation_log.seglst.json", remarks):
        side = _SIDE_OF.get((segment.text("speaker") or "").lower())
        words = segment.text("words")
        if side is None or words is None:
            segment.remark("a segment without a known speaker or without words; left out")
            continue
        started, ended = _ms(segment, "start_time"), _ms(segment, "end_time")
        if started is not None and ended is not None and ended < started:
            segment.remark("it ends before it begins", "end_time")
            ended = None
        turns.append(ImportedTurn(side, scrub(words), started_ms=started, ended_ms=ended))
    return _by_start(turns)


def _of_metrics(metrics: Fields) -> tuple[ImportedTurn, ...]:
    turns = []
    for turn in metrics.each("turns"):
        side, text = _SIDE_OF.get((turn.text("role") or "").lower()), turn.text("text")
        if side is None or text is None:
            turn.remark("a turn without a known role or without text; left out")
            continue
        turns.append(ImportedTurn(side, scrub(text), started_ms=_ms(turn, "timestamp")))
    return _by_start(turns)


def _of_text(folder: Folder, remarks: list[Remark]) -> tuple[ImportedTurn, ...]:
    turns = []
    for line in (folder.text("conversation_log.txt", remarks) or "").split("\n"):
        match = _LINE.match(line.strip())
        side = _SIDE_OF.get(match[3].lower()) if match else None
        if match and side:
            start, end = round(float(match[1]) * 1000), round(float(match[2]) * 1000)
            turns.append(ImportedTurn(side, scrub(match[4]), started_ms=start, ended_ms=end))
    return _by_start(turns)


def _of_messages(messages: Sequence[ImportedMessage]) -> list[ImportedTurn]:
    spoken = [message for message in messages if message.role in ("user", "assistant") and message.content]
    return [
        ImportedTurn(_SIDE_OF[message.role], message.content or "", first_message=message.index) for message in spoken
    ]


def _by_start(turns: list[ImportedTurn]) -> tuple[ImportedTurn, ...]:
    """Return turns as they began; as written where not all have a time."""
    if all(turn.started_ms is not None for turn in turns):
        turns.sort(key=lambda turn: turn.started_ms or 0)
    return tuple(turns)


def _ms(fields: Fields, name: str) -> int | None:
    seconds = fields.number(name)
    if seconds is None:
        return None
    if not 0 <= seconds < _LATEST_S:
        fields.remark(f"{seconds:g} s is no time within a call", name)
        return None
    return round(seconds * 1000)
