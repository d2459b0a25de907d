"""An external party in the test's own loop: speaks the protocol as a test tells it to."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.server import ServerConnection, serve

from bots.bridge.wire import Message, decode, encode


class FakeParty:
    """One socket of a fake party: what it heard, and ways to answer."""

    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket
        self.results: list[dict[str, Any]] = []
        self.heard: list[str] = []

    async def server_message(self, kind: str, **data: Any) -> None:
        await self._socket.send(encode("server-message", {"type": kind, **data}))

    async def complete(self, turn: int, text: str) -> None:
        await self.server_message("turn-complete", turn=turn, text=text)

    async def raw(self, payload: bytes) -> None:
        await self._socket.send(payload)

    async def respond(self, message: Message, **data: Any) -> None:
        answer = {"t": message.data["t"], "d": data}
        await self._socket.send(encode("server-response", answer, message.id))


# Called with the party, the turn's number and what was heard.
Answer = Callable[[FakeParty, int, str], Awaitable[None]]


@asynccontextmanager
async def fake_party(answer: Answer, on_result: Answer | None = None) -> AsyncIterator[str]:
    """Serve a party that answers each turn with ``answer``; yields its address."""

    async def handle(socket: ServerConnection) -> None:
        party = FakeParty(socket)
        async for payload in socket:
            message = decode(payload)
            assert message is not None
            data = message.data.get("d") or {}
            match message.data.get("t"):
                case "prepare":
                    await party.respond(message, is_ready=True)
                case "say":
                    party.heard.append(data["text"])
                    await answer(party, data["turn"], data["text"])
                case "tool-result":
                    party.results.append(data)
                    if on_result is not None:
                        await on_result(party, len(party.results), str(data["result"]))
                case "context":
                    await party.respond(message, messages=[], next=None, is_settled=True)

    async with serve(handle, "127.0.0.1", 0, compression=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        yield f"ws://127.0.0.1:{port}"
