"""One socket: requests, answers, refusals, ends."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.server import ServerConnection, serve

from bots.bridge.contract import PartyFailed
from bots.bridge.link import Heard, Link
from bots.bridge.wire import MAX_SEND_BYTES, Message, decode, encode

Handler = Callable[[ServerConnection], Awaitable[None]]


@asynccontextmanager
async def linked(handler: Handler) -> AsyncIterator[tuple[Link, "asyncio.Queue[Heard]"]]:
    """Yield a link to a server whose sockets are handled by ``handler``."""
    inbox: asyncio.Queue[Heard] = asyncio.Queue()
    async with serve(handler, "127.0.0.1", 0) as server:
        link = Link("agent", f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}", inbox)
        await link.open()
        yield link, inbox
        await link.close()


async def answer_backwards(socket: ServerConnection) -> None:
    """Answer pairs of requests, the second first, with their own data."""
    while True:
        pair = [decode(await socket.recv()), decode(await socket.recv())]
        for message in reversed(pair):
            assert message is not None
            await socket.send(encode("server-response", message.data, message.id))


async def test_answers_go_to_whoever_asked() -> None:
    async with linked(answer_backwards) as (link, inbox):
        answers = await asyncio.gather(link.request("a", {"n": 1}), link.request("b", {"n": 2}))
        assert list(answers) == [{"n": 1}, {"n": 2}]
        assert inbox.empty()


async def test_all_else_goes_to_the_inbox_in_order() -> None:
    async def handler(socket: ServerConnection) -> None:
        await socket.send(encode("server-message", {"type": "note"}))
        await socket.send(encode("server-response", {"d": {}}, "never asked"))
        await socket.send(encode("bot-ready", {}))

    async with linked(handler) as (_, inbox):
        heard = [(await inbox.get())[1] for _ in range(4)]
    assert [message.type for message in heard] == ["server-message", "server-response", "bot-ready", "closed"]
    assert heard[-1].data["kind"] == "party_gone"


async def test_a_refusal_is_raised_with_its_kind_and_not_tried_again() -> None:
    async def handler(socket: ServerConnection) -> None:
        message = decode(await socket.recv())
        assert message is not None
        await socket.send(encode("error-response", {"error": "no such key", "kind": "key_missing"}, message.id))

    async with linked(handler) as (link, _):
        with pytest.raises(PartyFailed, match="no such key") as caught:
            await link.request("prepare", {})
    assert (caught.value.kind, caught.value.retry, caught.value.side) == ("key_missing", False, "agent")


async def test_no_answer_in_time() -> None:
    async def handler(socket: ServerConnection) -> None:
        await socket.wait_closed()

    async with linked(handler) as (link, _):
        with pytest.raises(PartyFailed, match="within 0.05 s") as caught:
            await link.request("context", {}, timeout_s=0.05)
    assert caught.value.kind == "party_no_answer"


async def test_a_socket_that_closes_fails_what_waits_and_what_comes_after() -> None:
    async def handler(socket: ServerConnection) -> None:
        await socket.recv()

    async with linked(handler) as (link, inbox):
        with pytest.raises(PartyFailed, match="closed the socket"):
            await link.request("prepare", {})
        with pytest.raises(PartyFailed, match="closed the socket"):
            await link.send("say", {})
        assert inbox.get_nowait()[1].type == "closed"


async def test_a_message_too_large_to_send_is_not_sent() -> None:
    async with linked(answer_backwards) as (link, _):
        with pytest.raises(PartyFailed, match="is over") as caught:
            await link.send("say", {"text": "x" * MAX_SEND_BYTES})
    assert caught.value.kind == "message_too_large"


async def test_a_server_that_comes_up_late_is_waited_for(monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int) -> None:
    monkeypatch.setattr("bots.bridge.link.CONNECT_WAITS_S", (0.05,) * 2_000)
    link = Link("user", f"ws://127.0.0.1:{unused_tcp_port}", asyncio.Queue())
    opening = asyncio.create_task(link.open())
    await asyncio.sleep(0.1)
    async with serve(answer_backwards, "127.0.0.1", unused_tcp_port):
        await asyncio.wait_for(opening, 120)
        await link.close()
        await link.close()


async def test_an_address_that_is_none() -> None:
    with pytest.raises(PartyFailed, match="cannot be reached") as caught:
        await Link("user", "http://127.0.0.1", asyncio.Queue()).open()
    assert caught.value.kind == "party_unreachable"


async def test_a_greeting_is_rtvis_own() -> None:
    heard: asyncio.Queue[Message | None] = asyncio.Queue()

    async def handler(socket: ServerConnection) -> None:
        heard.put_nowait(decode(await socket.recv()))

    async with linked(handler) as (link, _):
        await link.greet()
        message = await heard.get()
    assert message is not None
    assert message.type == "client-ready"
    assert message.data["version"].startswith("2.")
