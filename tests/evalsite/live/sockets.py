"""Sockets of the live pages as tests open them: through the whole ASGI application, with a session and an origin."""

import json
from typing import Any

from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.test import Client

from evalsite.asgi import application

ORIGIN = "http://localhost"
# Far more than any answer takes: a test says that it comes, not how soon.
WAIT_S = 60.0

in_db = database_sync_to_async


class Socket(WebsocketCommunicator):  # type: ignore[misc]  # channels has no types
    """A page's socket that keeps what it was sent."""

    def __init__(self, path: str, cookie: str = "", origin: str = ORIGIN) -> None:
        headers = [(b"origin", origin.encode()), (b"host", b"localhost")]
        if cookie:
            headers.append((b"cookie", f"sessionid={cookie}".encode()))
        super().__init__(application, path, headers)

    async def connect(self, timeout: float = WAIT_S) -> tuple[bool, int | str | None]:
        """Open the socket; returns whether it was accepted, and the code of a refusal."""
        accepted: tuple[bool, int | str | None] = await super().connect(timeout)
        return accepted

    async def disconnect(self, code: int = 1000, timeout: float = WAIT_S) -> None:
        """Close the socket and wait until the server has let go of it."""
        await super().disconnect(code, timeout)

    async def say(self, **content: Any) -> None:
        """Send a message of the page."""
        await self.send_to(text_data=json.dumps(content))

    async def next(self, *kinds: str) -> dict[str, Any]:
        """Return the next message of one of these kinds; signs of life are answered by nobody here."""
        while True:
            output = await self.receive_output(WAIT_S)
            assert output["type"] == "websocket.send", output
            message: dict[str, Any] = json.loads(output["text"])
            if message["type"] in kinds:
                return message

    async def rows(self, count: int) -> list[dict[str, Any]]:
        """Return the next ``count`` events."""
        rows: list[dict[str, Any]] = []
        while len(rows) < count:
            rows += (await self.next("events"))["rows"]
        assert len(rows) == count
        return rows

    async def close_code(self) -> int:
        """Return the code that the server closes with."""
        while True:
            output = await self.receive_output(WAIT_S)
            if output["type"] == "websocket.close":
                return int(output.get("code", 1000))


def sign_in(user: User) -> str:
    """Return the session cookie of a signed-in person."""
    client = Client()
    client.force_login(user)
    return client.cookies["sessionid"].value


async def open_socket(path: str, user: User, **opening: Any) -> Socket:
    """Open a socket and say what the page has (nothing by default)."""
    socket = Socket(path, await in_db(sign_in)(user))
    connected, _ = await socket.connect()
    assert connected
    await socket.say(**{"after": 0, **opening})
    return socket


__all__ = ["ORIGIN", "Socket", "in_db", "open_socket", "sign_in"]
