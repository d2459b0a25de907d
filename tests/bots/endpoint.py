"""A scripted OpenAI-compatible endpoint for tests: steps by model name, with faults."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass(frozen=True)
class Ask:
    """A function call in a reply; ``arguments`` may be text that is no JSON."""

    tool: str
    arguments: Any = None
    id: str = ""

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments or {})


@dataclass(frozen=True)
class Step:
    """One reply: words, then calls; or a fault."""

    text: str = ""
    calls: tuple[Ask, ...] = ()
    status: int = 200
    retry_after: str = ""
    cut: bool = False
    body: str = ""
    hang_s: float = 0
    whole: bool = False  # answer without streaming, as some servers do


def say(text: str, *calls: Ask, **more: Any) -> Step:
    return Step(text, calls, **more)


def use(*calls: Ask) -> Step:
    return Step("", calls)


@dataclass
class Endpoint:
    """Model names with their steps; a model past its last step repeats it."""

    scripts: dict[str, Sequence[Step]] = field(default_factory=dict)
    requests: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    # Models whose steps are counted in a request's messages, so that many calls can share them.
    stateless: set[str] = field(default_factory=set)
    keys: dict[str, str] = field(default_factory=dict)
    port: int = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def start(self) -> "Endpoint":
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", self._complete)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def stop(self) -> None:
        await self._runner.cleanup()

    def messages(self, model: str) -> list[dict[str, Any]]:
        """Return the messages of the last request to a model."""
        messages: list[dict[str, Any]] = self.requests[model][-1]["messages"]
        return messages

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        model = asked["model"]
        self.keys[model] = request.headers.get("Authorization", "")
        steps = self.scripts[model]
        if model in self.stateless:
            position = sum(message["role"] == "assistant" for message in asked["messages"])
        else:
            position = len(self.requests[model])
            self.requests[model].append(asked)
        step = steps[min(position, len(steps) - 1)]
        if step.hang_s:
            await asyncio.sleep(step.hang_s)
        if step.status != 200:
            headers = {"Retry-After": step.retry_after} if step.retry_after else {}
            return web.json_response({"error": {"message": "no"}}, status=step.status, headers=headers)
        if step.body:
            return web.Response(text=step.body)
        if step.whole:
            return web.json_response(_whole(step))
        return await self._stream(request, step, position)

    async def _stream(self, request: web.Request, step: Step, position: int) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"".join(_event(chunk) for chunk in _chunks(step, position)))
        if step.cut:
            assert request.transport is not None
            request.transport.abort()
            return response
        await response.write(_event(_chunk({}, "tool_calls" if step.calls else "stop")))
        await response.write(_event({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}}))
        await response.write(b"data: [DONE]\n\n")
        return response


def _chunks(step: Step, position: int) -> list[dict[str, Any]]:
    chunks = [_chunk({"role": "assistant", "content": ""})]
    chunks += [_chunk({"content": piece}) for piece in step.text.split("~")] if step.text else []
    for index, ask in enumerate(step.calls):
        half = len(ask.text) // 2
        id_ = ask.id or f"call_{position}_{index}"
        first = {"index": index, "id": id_, "function": {"name": ask.tool, "arguments": ask.text[:half]}}
        rest = {"index": index, "function": {"arguments": ask.text[half:]}}
        chunks += [_chunk({"tool_calls": [first]}), _chunk({"tool_calls": [rest]})]
    return chunks


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _whole(step: Step) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": step.text}
    message["tool_calls"] = [
        {"id": ask.id or f"call_{n}", "type": "function", "function": {"name": ask.tool, "arguments": ask.text}}
        for n, ask in enumerate(step.calls)
    ]
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


def _event(chunk: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(chunk)}\n\n".encode()
