"""A party server at its door: who gets in, and what it tells of itself."""

import asyncio
import json
from typing import Any
from urllib.request import urlopen

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from bots.bridge.wire import Message, decode, encode
from scenarios.sides import Side
from tests.bots.conftest import PartyServer
from tests.bots.endpoint import Ask, Endpoint, say, use


def health(server: PartyServer) -> dict[str, Any]:
    with urlopen(server.address.replace("ws:", "http:") + "/health", timeout=120) as response:
        answer: dict[str, Any] = json.load(response)
    return answer


async def receive(socket: ClientConnection) -> Message:
    message = decode(await asyncio.wait_for(socket.recv(), 120))
    assert message is not None
    return message


async def receive_kind(socket: ClientConnection, kind: str) -> Message:
    """Return the next message of a type, or server message of a kind, passing over others."""
    while True:
        message = await receive(socket)
        if kind in (message.type, message.data.get("type")):
            return message


async def prepared(address: str, endpoint: Endpoint, **preparation: Any) -> ClientConnection:
    socket = await connect(address)
    llm = {"base_url": endpoint.base_url, "model": "agent"}
    await ask(socket, "prepare", {"prompt": "You sell.", "llm": llm, **preparation})
    answer = await receive(socket)
    assert answer == Message("server-response", {"t": "prepare", "d": {"is_ready": True}}, "prepare")
    return socket


async def ask(socket: ClientConnection, kind: str, data: dict[str, Any]) -> None:
    await socket.send(encode("client-message", {"t": kind, "d": data}, kind))


@pytest.fixture
def address(parties: dict[Side, PartyServer]) -> str:
    return parties["agent"].address


async def test_a_web_page_does_not_get_in(address: str) -> None:
    with pytest.raises((InvalidStatus, ConnectionClosed)):
        async with connect(address, origin="http://evil.example") as socket:  # type: ignore[arg-type]
            await socket.recv()


async def test_a_first_message_that_is_no_preparation_is_refused_in_words(address: str) -> None:
    async with connect(address) as socket:
        await ask(socket, "say", {"text": "Hello", "turn": 1})
        refusal = await receive(socket)
        assert refusal.type == "error-response"
        assert refusal.data["kind"] == "not_prepared"
        with pytest.raises(ConnectionClosed):
            await socket.recv()


async def test_a_prepared_party_says_nothing_before_it_is_asked(address: str, endpoint: Endpoint) -> None:
    endpoint.scripts["agent"] = [say("Hello!")]
    socket = await prepared(address, endpoint)
    await socket.send(encode("client-ready", {"version": "2.2.0"}, "r"))
    assert (await receive(socket)).type == "bot-ready"
    assert endpoint.requests == {}
    await ask(socket, "say", {"turn": 1, "text": "Hello"})
    complete = await receive(socket)
    assert complete.data["type"] == "turn-complete"
    assert (complete.data["turn"], complete.data["text"]) == (1, "Hello!")
    await socket.close()


async def test_health_counts_calls_and_forgets_those_that_are_over(
    parties: dict[Side, PartyServer], address: str, endpoint: Endpoint
) -> None:
    before = health(parties["agent"])
    socket = await prepared(address, endpoint)
    during = health(parties["agent"])
    assert (during["side"], during["started"]) == ("agent", before["started"] + 1)
    assert during["running"] >= 1
    await socket.close()
    for _ in range(2_000):
        if health(parties["agent"])["running"] == 0:
            return
        await asyncio.sleep(0.05)
    pytest.fail("a call whose socket is closed still runs")


async def test_a_second_result_for_a_call_is_ignored_and_told(address: str, endpoint: Endpoint) -> None:
    endpoint.scripts["agent"] = [use(Ask("sell")), say("Sold.")]
    socket = await prepared(address, endpoint, tools=[{"name": "sell"}])
    await ask(socket, "say", {"turn": 1, "text": "Sell."})
    call = await receive_kind(socket, "tool-call")
    result = {"call_id": call.data["call_id"], "result": {"ok": True}, "ends_call": False}
    await ask(socket, "tool-result", result)
    await ask(socket, "tool-result", result)
    notes, complete = [], None
    while complete is None or not notes:
        message = await receive(socket)
        if message.data.get("type") == "note":
            notes.append(message.data["text"])
        elif message.data.get("type") == "turn-complete":
            complete = message.data["text"]
    assert complete == "Sold."
    assert "was ignored" in notes[0]
    assert len(endpoint.requests["agent"]) == 2
    await socket.close()


async def test_a_result_that_never_comes_is_not_waited_for_for_ever(address: str, endpoint: Endpoint) -> None:
    endpoint.scripts["agent"] = [use(Ask("sell")), say("That failed.")]
    socket = await prepared(address, endpoint, tools=[{"name": "sell"}], tool_timeout_s=0.1)
    await ask(socket, "say", {"turn": 1, "text": "Sell."})
    note = await receive_kind(socket, "note")
    assert note.data["kind"] == "tool_timeout"
    complete = await receive_kind(socket, "turn-complete")
    assert complete.data["text"] == "That failed."
    assert "no result for sell" in endpoint.messages("agent")[-1]["content"]
    await socket.close()


@pytest.mark.parametrize(
    ("kind", "data", "reason"),
    [
        ("say", {"text": 3}, "needs a text"),
        ("context", {"start": "one"}, "takes the numbers"),
        ("dance", {}, "no message 'dance'"),
    ],
)
async def test_messages_that_make_no_sense_are_refused(
    address: str, endpoint: Endpoint, kind: str, data: dict[str, Any], reason: str
) -> None:
    socket = await prepared(address, endpoint)
    await ask(socket, kind, data)
    refusal = await receive(socket)
    assert (refusal.type, refusal.id) == ("error-response", kind)
    assert reason in refusal.data["error"]
    await socket.close()


async def test_a_turn_cannot_begin_before_the_last_is_over(address: str, endpoint: Endpoint) -> None:
    endpoint.scripts["agent"] = [use(Ask("sell"))]
    socket = await prepared(address, endpoint, tools=[{"name": "sell"}])
    await ask(socket, "say", {"turn": 1, "text": "Sell."})
    await receive_kind(socket, "tool-call")
    await ask(socket, "say", {"turn": 2, "text": "Hurry."})
    refusal = await receive_kind(socket, "error-response")
    assert "turn 1 is not over" in refusal.data["error"]
    await socket.close()


async def test_a_turn_without_a_number_that_is_not_over_is_not_called_turn_0(address: str, endpoint: Endpoint) -> None:
    endpoint.scripts["agent"] = [use(Ask("sell"))]
    socket = await prepared(address, endpoint, tools=[{"name": "sell"}])
    await ask(socket, "say", {"turn": 0, "text": "Sell."})
    await receive_kind(socket, "tool-call")
    await ask(socket, "say", {"turn": 7, "text": "Hurry."})
    refusal = await receive_kind(socket, "error-response")
    assert refusal.data["error"] == "it still owes an answer, so turn 7 cannot begin"
    await socket.close()


async def test_a_long_context_comes_in_pages(address: str, endpoint: Endpoint) -> None:
    endpoint.scripts["agent"] = [say("x" * 60_000)]
    socket = await prepared(address, endpoint)
    for turn in range(1, 6):
        await ask(socket, "say", {"turn": turn, "text": "More."})
        await receive_kind(socket, "turn-complete")
    messages, start, pages = [], 0, 0
    while start is not None:
        await ask(socket, "context", {"start": start, "wait_s": 1})
        page = (await receive_kind(socket, "server-response")).data["d"]
        messages += page["messages"]
        start, pages = page["next"], pages + 1
    assert [message["role"] for message in messages] == ["user", "assistant"] * 5
    assert pages > 1
    await socket.close()
