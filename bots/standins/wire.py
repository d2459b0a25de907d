"""The OpenAI chat completions format: a request's bytes to what a script reads, a reply to JSON or a stream.

Unknown request fields are ignored, as real endpoints do. Every stream has a role chunk, text deltas, tool calls (name
first, then the arguments), a finish reason, a usage chunk when the client asked for one, and ``[DONE]``.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

CREATED = 1_700_000_000  # nothing reads the clock
DONE = b"data: [DONE]\n\n"


class BadRequest(Exception):
    """A body that is no chat request; the text names the field."""


@dataclass(frozen=True)
class Message:
    """One message of a request: its plain text and the names of the tools it calls."""

    role: str
    text: str
    tools: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChatRequest:
    """The fields that matter here; ``size`` is the body's length in bytes."""

    model: str
    messages: tuple[Message, ...]
    stream: bool
    include_usage: bool
    size: int

    @property
    def position(self) -> int:
        """Return how many steps this party has taken: its texts and tool calls, whichever messages carry them.

        A reply with text and a tool call is stored as one message by some clients and as two by others.
        """
        return sum(bool(m.text.strip()) + len(m.tools) for m in self.messages if m.role == "assistant")

    def texts(self, role: str) -> list[str]:
        """Return the non-blank texts of one role in order."""
        return [m.text for m in self.messages if m.role == role and m.text.strip()]


@dataclass(frozen=True)
class ToolCall:
    """One call a reply makes; ``arguments`` is the text that goes over the wire, JSON or not."""

    name: str
    arguments: str


@dataclass(frozen=True)
class Reply:
    """What a stand-in answers: text, then tool calls."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()

    @property
    def finish_reason(self) -> str:
        """Return ``tool_calls`` or ``stop``."""
        return "tool_calls" if self.tool_calls else "stop"


def read_request(body: bytes) -> ChatRequest:
    """Read a request body; ``BadRequest`` names the field that is wrong."""
    try:
        data = json.loads(body)
    except ValueError as error:
        raise BadRequest(f"the body is not JSON: {error}") from None
    if not isinstance(data, dict) or not isinstance(data.get("model"), str):
        raise BadRequest("the body must be an object with a text field 'model'")
    messages = data.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise BadRequest("'messages' must be a list of objects")
    options = data.get("stream_options")
    return ChatRequest(
        model=data["model"],
        messages=tuple(_message(message) for message in messages),
        stream=data.get("stream") is True,
        include_usage=isinstance(options, dict) and options.get("include_usage") is True,
        size=len(body),
    )


def _message(data: dict[str, Any]) -> Message:
    calls = data.get("tool_calls")
    names = [_called(call) for call in calls] if isinstance(calls, list) else []
    return Message(str(data.get("role", "")), _text(data.get("content")), tuple(names))


def _called(call: Any) -> str:
    function = call.get("function") if isinstance(call, dict) else None
    return str(function.get("name", "")) if isinstance(function, dict) else ""


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return " ".join(
            part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
    return ""


def usage(request: ChatRequest, reply: Reply) -> dict[str, int]:
    """Return token counts at four bytes a token: an estimate, but the same one every time."""
    completion = (len(reply.text) + sum(len(call.arguments) for call in reply.tool_calls)) // 4 + 1
    prompt = request.size // 4
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def completion(request: ChatRequest, reply: Reply) -> dict[str, Any]:
    """Return the answer to a request without ``stream``."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.tool_calls:
        message["tool_calls"] = [
            _tool_call(request, i, call, call.arguments) for i, call in enumerate(reply.tool_calls)
        ]
    return {
        **_head(request, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}],
        "usage": usage(request, reply),
    }


def stream(request: ChatRequest, reply: Reply, by_word: bool = False) -> Iterator[bytes]:
    """Yield the server-sent events of a reply, ``[DONE]`` included; text comes whole or word by word."""
    head = _head(request, "chat.completion.chunk")
    yield _event(head, {"role": "assistant", "content": ""})
    for piece in _pieces(reply.text) if by_word else [reply.text] * bool(reply.text):
        yield _event(head, {"content": piece})
    for i, call in enumerate(reply.tool_calls):
        yield _event(head, {"tool_calls": [{"index": i, **_tool_call(request, i, call, "")}]})
        yield _event(head, {"tool_calls": [{"index": i, "function": {"arguments": call.arguments}}]})
    yield _event(head, {}, reply.finish_reason)
    if request.include_usage:
        yield _data({**head, "choices": [], "usage": usage(request, reply)})
    yield DONE


def error(message: str, kind: str) -> dict[str, Any]:
    """Return the body of a refused request."""
    return {"error": {"message": message, "type": kind, "param": None, "code": kind}}


def models(names: Sequence[str]) -> dict[str, Any]:
    """Return the answer of ``/v1/models``."""
    entries = [{"id": name, "object": "model", "created": CREATED, "owned_by": "callboard"} for name in names]
    return {"object": "list", "data": entries}


def _head(request: ChatRequest, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{request.position}", "object": kind, "created": CREATED, "model": request.model}


def _tool_call(request: ChatRequest, i: int, call: ToolCall, arguments: str) -> dict[str, Any]:
    function = {"name": call.name, "arguments": arguments}
    return {"id": f"call_{request.position}_{i}", "type": "function", "function": function}


def _pieces(text: str) -> list[str]:
    words = text.split(" ")
    return [word + " " for word in words[:-1]] + words[-1:]


def _event(head: dict[str, Any], delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
    return _data({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})


def _data(payload: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n"
