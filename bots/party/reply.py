"""One reply of a model, put together from the chunks of its stream."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn
from uuid import uuid4

from bots.tokens import token_count


class Nonsense(ValueError):
    """An endpoint's answer that is no chat completion."""


@dataclass
class AskedCall:
    """A function call as the model wrote it."""

    id: str = ""
    name: str = ""
    text: str = ""

    def arguments(self) -> tuple[dict[str, Any], str | None]:
        """Return the arguments, and the model's text when it is no JSON object (arguments are then {})."""
        try:
            parsed = json.loads(self.text or "{}", parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            return {}, self.text
        return (parsed, None) if isinstance(parsed, dict) else ({}, self.text)


@dataclass
class Reply:
    """Text, function calls and token counts (None: not told) of one request."""

    text: str = ""
    calls: list[AskedCall] = field(default_factory=list)
    is_finished: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    _open: dict[Any, AskedCall] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Return whether the model neither said nor asked anything."""
        return not self.text and not self.calls

    def add_line(self, line: str) -> None:
        """Take one line of an event stream. Raises Nonsense."""
        if not line.startswith("data:"):
            return
        content = line[5:].strip()
        if content == "[DONE]":
            self.is_finished = True
        elif content:
            self.add(_parse(content))

    def add(self, chunk: Any) -> None:
        """Take one chunk, or one whole completion of an endpoint that does not stream. Raises Nonsense."""
        if not isinstance(chunk, dict):
            raise Nonsense(f"a chunk that is no object: {str(chunk)[:80]!r}")
        if error := chunk.get("error"):
            raise Nonsense(f"the stream carried an error: {json.dumps(error)[:300]}")
        if isinstance(usage := chunk.get("usage"), dict):
            self.prompt_tokens = token_count(usage.get("prompt_tokens"))
            self.completion_tokens = token_count(usage.get("completion_tokens"))
        choices = chunk.get("choices")
        if not isinstance(choices, list):
            raise Nonsense(f"a chunk without choices: {json.dumps(chunk)[:80]}")
        if choices and isinstance(choices[0], dict):
            self._add_choice(choices[0])

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        self.is_finished = self.is_finished or bool(choice.get("finish_reason"))
        delta = choice.get("delta") or choice.get("message") or {}
        content = delta.get("content")
        if isinstance(content, str):
            self.text += content
        elif isinstance(content, list):
            self.text += "".join(part.get("text") or "" for part in content if isinstance(part, dict))
        for position, call in enumerate(delta.get("tool_calls") or ()):
            self._add_call(position, call)

    def _add_call(self, position: int, part: Mapping[str, Any]) -> None:
        index = part.get("index", position)
        known = self._open.get(index)
        # Some servers give every call of a reply the index 0: a new id is then a new call.
        if known is None or (part.get("id") and known.id and part["id"] != known.id):
            known = self._open[index] = AskedCall(id=part.get("id") or f"call_{uuid4().hex[:12]}")
            self.calls.append(known)
        function = part.get("function") or {}
        known.name += function.get("name") or ""
        arguments = function.get("arguments") or ""
        known.text += arguments if isinstance(arguments, str) else json.dumps(arguments)


def _parse(content: str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Nonsense(f"a line that is no JSON: {content[:80]!r}") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
