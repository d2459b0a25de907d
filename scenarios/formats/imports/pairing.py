"""Tool calls and their answers: paired by id where ids tell them apart, by position where they do not."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.records import ImportedToolCall
from scenarios.formats.imports.redaction import scrub, scrubbed
from scenarios.formats.imports.source import json_within
from scenarios.sides import Side

# Answers that a harness made up in the tool's place.
_INJECTED = re.compile(r"\s*Error: (?:429|5\d\d)\b")
SIDE_OF: Mapping[str | None, Side] = {"assistant": "agent", "user": "user"}


@dataclass
class Calls:
    """Collects the calls of one conversation in order and hands each answer to the call it belongs to."""

    made: list[ImportedToolCall] = field(default_factory=list)
    # Calls of the last message or tick that are still without an answer, in order.
    _open: list[int] = field(default_factory=list)

    def call(
        self, data: Fields, side: Side, *, message: int | None = None, tick: int | None = None, why_not: str = ""
    ) -> int:
        """Take a call as tau2 or OpenAI write it; return its position."""
        inner = data.under("function") if "function" in data.data else data
        tool = inner.text("name")
        if tool is None:
            inner.remark("a tool call without a name", "name")
        arguments, raw = _arguments(inner.data.get("arguments"))
        if arguments is None:
            inner.remark("the arguments are no JSON object", "arguments")
        position = len(self.made)
        self.made.append(
            ImportedToolCall(
                position=position,
                id=data.label("id") or None,
                side=SIDE_OF.get(data.text("requestor"), side),
                tool=tool or "",
                arguments=arguments,
                raw_arguments=raw,
                message=message,
                tick=tick,
                not_executed=why_not,
            )
        )
        self._open.append(position)
        return position

    def close(self) -> None:
        """Say that what comes now answers no earlier call: a new message with calls begins."""
        self._open.clear()

    def answer(self, data: Fields) -> int | None:
        """Take an answer; return the position of its call, None when nothing is left to be answered."""
        if not self._open:
            data.remark("an answer without a tool call before it")
            return None
        named = data.label("id") or data.label("tool_call_id")
        ids = Counter(self.made[position].id for position in self._open)
        by_id = bool(named) and ids[named] == 1
        position = next(p for p in self._open if not by_id or self.made[p].id == named)
        self._open.remove(position)
        content = content_of(data)
        injected = content is not None and _INJECTED.match(content)
        call = self.made[position]
        self.made[position] = replace(
            call,
            result=content,
            is_error=data.boolean("error"),
            paired_by="id" if by_id else "position",
            not_executed=call.not_executed or ("the harness answered with an error of its own" if injected else ""),
        )
        return position

    def repeated_ids(self) -> tuple[str, ...]:
        """Return the ids that more than one call carries."""
        counts = Counter(call.id for call in self.made if call.id)
        return tuple(sorted(name for name, count in counts.items() if count > 1))


def content_of(data: Fields) -> str | None:
    """Return a message's text; of a list of parts the texts, one a line."""
    value = data.data.get("content")
    if isinstance(value, list):
        texts = [part.get("text") for part in value if isinstance(part, Mapping)]
        value = "\n".join(text for text in texts if isinstance(text, str))
        return scrub(value)
    text = data.text("content")
    return None if text is None else scrub(text)


def _arguments(value: Any) -> tuple[Mapping[str, Any] | None, str | None]:
    if isinstance(value, str):
        try:
            parsed = json_within(value)
        except ValueError:
            parsed = None
        return (scrubbed(parsed), None) if isinstance(parsed, dict) else (None, scrub(value))
    if isinstance(value, Mapping):
        return scrubbed(value), None
    return None, None if value is None else scrub(json.dumps(value, default=str))
