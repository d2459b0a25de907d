"""One cheap request: what the person at the launch form reads."""

import asyncio
from typing import Any

import pytest
from websockets.asyncio.server import serve

from bots import preflight
from scenarios.models import Preflight, Profile
from tests.bots.reference_bot import Faults, ReferenceBot, serving
from tests.factories import make_profile

pytestmark = pytest.mark.django_db(transaction=True)


def check(profile: Profile) -> Preflight:
    row = Preflight.objects.create(profile=profile)
    asyncio.run(preflight.check_all([row.pk]))
    row.refresh_from_db()
    assert row.answered_at is not None
    return row


def test_a_missing_key_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOY_KEY", raising=False)
    row = check(make_profile(key_env="TOY_KEY"))
    assert row.state == "failed"
    assert "environment variable TOY_KEY is not set where the worker runs" in row.detail


def test_nobody_there() -> None:
    row = check(make_profile(key_env="", base_url="http://127.0.0.1:9/v1"))
    assert row.state == "failed"
    assert "nothing answers at http://127.0.0.1:9/v1" in row.detail


def test_an_external_party_is_dialled() -> None:
    async def run() -> None:
        async with serve(lambda socket: socket.wait_closed(), "127.0.0.1", 0) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            await Profile.objects.filter(pk=profile.pk).aupdate(address=f"ws://127.0.0.1:{port}")
            await preflight.check_all([row.pk])

    profile = make_profile(model="", base_url="", key_env="", address="ws://127.0.0.1:9")
    row = Preflight.objects.create(profile=profile)
    asyncio.run(run())
    row.refresh_from_db()
    assert (row.state, row.detail) == ("ok", "the socket opens")
    profile.refresh_from_db()
    gone = check(profile)
    assert gone.state == "failed"
    assert f"no socket opens at {profile.address}" in gone.detail


@pytest.mark.parametrize(
    ("faults", "detail"),
    [
        (Faults(), "all six control messages work"),
        (Faults(hides=frozenset({"ready"})), "but it sent no bot-ready"),
        (Faults(answers={"update_system_prompt": False}), "did not take its prompt and tools"),
        (Faults(answers={"apply_sync_delta": None}), "could not do 'apply_sync_delta'"),
        (Faults(answers={"apply_sync_delta": {"success": True, "errors": []}}), "the canonical one is"),
        (Faults(hash="ab" * 32), "after the state it was given the bot's hash is abab"),
        (Faults(errors=frozenset({"get_context_history"})), "no get_context_history here"),
        (Faults(closes=frozenset({"reset"})), "closed the socket"),
    ],
)
@pytest.mark.parametrize("side", ["agent", "user"])
def test_a_bot_with_its_own_tools_is_taken_through_a_call_without_words(
    monkeypatch: pytest.MonkeyPatch, faults: Faults, detail: str, side: str
) -> None:
    if "ready" in faults.hides:
        monkeypatch.setattr("bots.bridge.theirs.preparing.READY_S", 0.1)

    async def run() -> None:
        async with serving(ReferenceBot(side, [[]], faults)) as address:  # type: ignore[arg-type]
            await Profile.objects.filter(pk=profile.pk).aupdate(address=address)
            await preflight.check_all([row.pk])

    kind = "agent" if side == "agent" else "caller"
    profile = make_profile(kind=kind, model="", base_url="", key_env="", address="ws://127.0.0.1:9", tools_run="theirs")
    row = Preflight.objects.create(profile=profile)
    asyncio.run(run())
    row.refresh_from_db()
    assert detail in row.detail
    assert (row.state == "ok") == detail.startswith(("all six", "but it"))


def test_a_silent_endpoint_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "TIMEOUT_S", 0.3)

    async def run() -> None:
        server = await asyncio.start_server(lambda reader, writer: asyncio.sleep(5), "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            await Profile.objects.filter(pk=profile.pk).aupdate(base_url=f"http://127.0.0.1:{port}/v1")
            await preflight.check_all([row.pk])

    profile = make_profile(key_env="")
    row = Preflight.objects.create(profile=profile)
    asyncio.run(run())
    row.refresh_from_db()
    assert row.state == "failed"


def answer(status: str, body: str) -> Any:
    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line)
        await reader.readexactly(length)
        writer.write(
            f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
            f"connection: close\r\n\r\n{body}".encode()
        )
        await writer.drain()
        writer.close()

    return reply


OK = '{"id":"1","object":"chat.completion","created":1,"model":"small-2","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"OK"}}]}'  # noqa: E501


@pytest.mark.parametrize(
    ("status", "body", "state", "detail"),
    [
        ("200 OK", OK, "ok", "small-2 answers"),
        ("401 Unauthorized", '{"error":{"message":"bad key sesame-12"}}', "failed", "check the key in TOY_KEY"),
        ("404 Not Found", '{"error":{"message":"no such model"}}', "failed", "check the base URL and the model name"),
        ("429 Too Many Requests", '{"error":{"message":"slow down"}}', "failed", "HTTP 429"),
        ("500 Oops", "<html>", "failed", "HTTP 500"),
    ],
)
def test_what_an_endpoint_answers_is_shown(
    monkeypatch: pytest.MonkeyPatch, status: str, body: str, state: str, detail: str
) -> None:
    monkeypatch.setenv("TOY_KEY", "sesame-12")

    async def run() -> None:
        server = await asyncio.start_server(answer(status, body), "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            await Profile.objects.filter(pk=profile.pk).aupdate(base_url=f"http://127.0.0.1:{port}/v1")
            await preflight.check_all([row.pk])

    profile = make_profile(key_env="TOY_KEY")
    row = Preflight.objects.create(profile=profile)
    asyncio.run(run())
    row.refresh_from_db()
    assert row.state == state
    assert detail in row.detail
    assert "sesame-12" not in row.detail
    assert (row.latency_ms is not None) == (state == "ok")
