"""The stand-in endpoint: OpenAI-compatible, on loopback, started by ``manage.py serve`` or by hand.

``python -m bots.standins.server --port 8767`` prints its address and serves ``POST /v1/chat/completions`` (streaming
and not), ``GET /v1/models`` and ``GET /requests`` (how many requests each model name got, for tests). It is a bare ASGI
application, since a framework would cost more than the scripts do. It keeps no conversation: see ``model_name``.
"""

import argparse
import asyncio
import json
import socket
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

import uvicorn

from bots.standins import wire
from bots.standins.faults import Failure, Faults
from bots.standins.model_name import BEHAVIOURS, PREFIX, StandIn, UnknownModel, parse
from bots.standins.scripts import UnknownScenario, answer

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class StandIns:
    """The ASGI application."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.faults = Faults()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one HTTP request."""
        route = (scope["method"], scope["path"].rstrip("/"))
        if route == ("POST", "/v1/chat/completions"):
            await self._complete(await _body(receive), send)
        elif route == ("GET", "/v1/models"):
            await _json(send, 200, wire.models([PREFIX + behaviour for behaviour in BEHAVIOURS]))
        elif route == ("GET", "/requests"):
            await _json(send, 200, {"count": self.requests.total(), "by_model": dict(self.requests)})
        else:
            await _json(send, 404, wire.error(f"nothing here at {route[0]} {route[1]}", "not_found"))

    async def _complete(self, body: bytes, send: Send) -> None:
        try:
            request = wire.read_request(body)
            self.requests[request.model] += 1
            standin = parse(request.model)
            reply = answer(request)
        except wire.BadRequest as error:
            await _json(send, 400, wire.error(str(error), "invalid_request_error"))
        except (UnknownModel, UnknownScenario) as error:
            await _json(send, 404, wire.error(str(error), "model_not_found"))
        else:
            await _answer(send, request, standin, reply, self.faults.of(standin, request))


async def _body(receive: Receive) -> bytes:
    message = await receive()
    body: bytes = message.get("body", b"")
    if not message.get("more_body"):
        return body
    parts = [body]
    while message.get("more_body"):
        message = await receive()
        parts.append(message.get("body", b""))
    return b"".join(parts)


async def _answer(send: Send, request: wire.ChatRequest, standin: StandIn, reply: wire.Reply, failure: Failure) -> None:
    if wait := standin.milliseconds("ttft"):
        await asyncio.sleep(wait / 1000)
    if failure.is_empty:
        reply = wire.Reply()
    pause = standin.milliseconds("slow") / 1000
    if failure.status:
        await _json(send, failure.status, wire.error(failure.message, failure.kind))
    elif request.stream:
        await _stream(send, wire.stream(request, reply, by_word=bool(pause) or failure.is_cut), pause, failure.is_cut)
    else:
        await asyncio.sleep(pause * reply.text.count(" "))
        await _json(send, 200, wire.completion(request, reply), is_cut=failure.is_cut)


async def _start(send: Send, status: int, content_type: bytes, length: int | None = None) -> None:
    headers = [(b"content-type", content_type)]
    if length is not None:
        headers.append((b"content-length", str(length).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def _json(send: Send, status: int, payload: dict[str, Any], is_cut: bool = False) -> None:
    body = json.dumps(payload, ensure_ascii=False).encode()
    await _start(send, status, b"application/json", len(body))
    # A cut answer is shorter than announced: the server then drops the connection.
    await send({"type": "http.response.body", "body": body[: len(body) // 2] if is_cut else body, "more_body": is_cut})


async def _stream(send: Send, stream: Iterable[bytes], pause: float, is_cut: bool) -> None:
    events = list(stream)
    if is_cut:
        events = events[: len(events) // 2]
    await _start(send, 200, b"text/event-stream")
    if pause:
        for event in events:
            await send({"type": "http.response.body", "body": event, "more_body": True})
            await asyncio.sleep(pause)
        events = []
    await send({"type": "http.response.body", "body": b"".join(events), "more_body": is_cut})


def serve(port: int) -> None:
    """Serve until interrupted; port 0 takes a free one. The first line printed is the base URL."""
    config = uvicorn.Config(StandIns(), lifespan="off", access_log=False, log_level="critical", ws="none")
    with socket.create_server(("127.0.0.1", port), backlog=512) as listener:
        # Accepted sockets inherit this; without it Nagle's algorithm holds each answer back for 40 ms.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", flush=True)
        uvicorn.Server(config).run(sockets=[listener])


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="python -m bots.standins.server", description=__doc__)
    parser.add_argument("--port", type=int, default=8767, help="0 takes a free port (default 8767)")
    serve(parser.parse_args(arguments).port)
    return 0


if __name__ == "__main__":
    sys.exit(main())
