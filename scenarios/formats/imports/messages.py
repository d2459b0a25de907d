"""A conversation that is written as a list of messages: tau2's half-duplex runs and tau-bench's chats."""

from collections.abc import Iterable

from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.pairing import SIDE_OF, Calls, content_of
from scenarios.formats.imports.records import ImportedMessage, ImportedTurn
from scenarios.formats.imports.redaction import redact

_ROLES = ("system", "assistant", "user", "tool")


def read_messages(
    entries: Iterable[Fields], calls: Calls, *, only_first_call: bool = False
) -> tuple[tuple[ImportedMessage, ...], tuple[ImportedTurn, ...]]:
    """Return messages and turns; ``calls`` collects the tool calls.

    With ``only_first_call`` the harness ran the first call of a message and dropped the others (tau-bench).
    """
    messages, turns = [], []
    for index, entry in enumerate(entries):
        message = _message(index, entry, calls, only_first_call)
        messages.append(message)
        side = SIDE_OF.get(message.role)
        if side and message.content:
            turns.append(ImportedTurn(side, message.content, started_at=message.timestamp, first_message=message.index))
    return tuple(messages), tuple(turns)


def _message(index: int, entry: Fields, calls: Calls, only_first_call: bool) -> ImportedMessage:
    role = entry.text("role") or ""
    if role not in _ROLES:
        entry.remark(f"unknown role {role[:40]!r}", "role")
    positions: list[int] = []
    answers = None
    if role == "tool":
        answers = calls.answer(entry)
    elif entry.data.get("tool_calls"):
        calls.close()
        for call in entry.each("tool_calls"):
            why_not = "tau-bench runs the first call of a message only" if only_first_call and positions else ""
            positions.append(calls.call(call, SIDE_OF.get(role, "agent"), message=index, why_not=why_not))
    return ImportedMessage(
        index=index,
        role=role,
        content=content_of(entry),
        calls=tuple(positions),
        answers=answers,
        timestamp=entry.text("timestamp"),
        cost=entry.number("cost"),
        usage=entry.object("usage") or None,
        raw=redact(entry.data.get("raw_data")),
    )
