"""The sockets of the live pages. They only read: every change of anything is a POST.

A socket says ``{"after": N}`` when it opens (the last event its page has; pages of cells add ``"known"``) and again
whenever it is asked for a sign of life, which confirms what arrived. The server answers with ``hub.message``s.
"""

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from channels.auth import get_user
from channels.db import aclose_old_connections, database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings

from evalsite.access import Role, has_role
from evalsite.live import feeds
from evalsite.live.hub import Viewer, message

log = logging.getLogger(__name__)

BEAT_S = 5.0
# Beats without an answer after which a page is taken for gone (a sleeping laptop, a dead line).
MISSED_BEATS = 3
MAX_KNOWN = 5_000

# Codes from 4000 are ours; the page reconnects after every other one.
BAD_MESSAGE = 4400
SIGNED_OUT = 4401
BROKEN = 1011
TRY_AGAIN = 1013


async def still_has_role(scope: Mapping[str, Any], role: Role) -> bool:
    """Return whether the session of a socket goes on and its person has a role, both as they are now."""
    # A fresh store: the scope's own session was read when the socket opened.
    session: Any = import_module(settings.SESSION_ENGINE).SessionStore(scope["session"].session_key)
    try:
        user = await get_user({"session": session})
        return bool(await database_sync_to_async(has_role)(user, role))
    finally:
        await aclose_old_connections()


class BadMessage(ValueError):
    """What a page sent is not what pages send."""


class LiveConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """One viewer of one feed. Strangers and people without a role are refused in the handshake.

    The origin is checked before this runs.
    """

    feed: str
    viewer: Viewer | None = None
    _serving: asyncio.Task[None] | None = None
    _unanswered = 0

    async def connect(self) -> None:
        """Accept people who may see pages."""
        user = self.scope.get("user")
        if user is None or not await database_sync_to_async(has_role)(user, "viewer"):
            await self.close()
            return
        await self.accept()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Begin to serve on the first message, take every later one for a confirmation."""
        try:
            after, known = read_message(text_data)
        except BadMessage as problem:
            await self.close(BAD_MESSAGE, str(problem))
            return
        self._unanswered = 0
        if self.viewer is not None:
            self.viewer.confirmed = min(after, self.viewer.sent)
            # A page of cells may have turned to others since.
            self.viewer.known = known
            return
        self.viewer = Viewer(self.feed, int(self.scope["url_route"]["kwargs"].get("pk", 0)), after, known)
        feeds.hub.watch(self.viewer)
        self._serving = asyncio.create_task(self._serve_or_close(self.viewer))

    async def disconnect(self, code: int) -> None:
        """Forget the viewer."""
        if self.viewer is not None:
            feeds.hub.leave(self.viewer)
        if self._serving is not None:
            self._serving.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._serving

    async def _serve_or_close(self, viewer: Viewer) -> None:
        try:
            await self._serve(viewer)
        except Exception:  # a silent socket would look alive: the page shall reconnect
            log.exception("a live socket broke")
            await self._drop(viewer, BROKEN, "the server failed")

    async def _serve(self, viewer: Viewer) -> None:
        next_beat = time.monotonic()
        while True:
            try:
                text = await asyncio.wait_for(viewer.queue.get(), max(0.0, next_beat - time.monotonic()))
            except TimeoutError:
                next_beat = time.monotonic() + BEAT_S
                if not await self._beat(viewer):
                    return
                continue
            await self.send(text)

    async def _beat(self, viewer: Viewer) -> bool:
        """Show that the line is alive and ask the page the same; False when the socket was closed."""
        if self._unanswered >= MISSED_BEATS:
            await self._drop(viewer, TRY_AGAIN, "the page does not answer")
        elif not await still_has_role(self.scope, "viewer"):
            await self._drop(viewer, SIGNED_OUT, "the session has ended")
        else:
            self._unanswered += 1
            await self.send(message("beat", now=int(time.time() * 1000), sent=viewer.sent))
            return True
        return False

    async def _drop(self, viewer: Viewer, code: int, why: str) -> None:
        feeds.hub.leave(viewer)
        await self.close(code, why)


class TrialConsumer(LiveConsumer):
    """``ws/trials/<pk>/``: the events of one call after N, then as they come."""

    feed = "trial"


class RunConsumer(LiveConsumer):
    """``ws/runs/<pk>/``: cells that changed and the line of progress."""

    feed = "run"


class WallConsumer(LiveConsumer):
    """``ws/live/``: all calls that are held now."""

    feed = "wall"


def read_message(text: str | None) -> tuple[int, dict[int, str]]:
    """Return ``after`` and ``known`` of a page's message; BadMessage says what is wrong with it."""
    try:
        content: Any = json.loads(text or "")
    except ValueError:
        raise BadMessage("not JSON") from None
    after = content.get("after") if isinstance(content, dict) else None
    if not isinstance(after, int) or isinstance(after, bool) or after < 0:
        raise BadMessage('expected {"after": N}')
    known = content.get("known", {})
    if not isinstance(known, dict) or len(known) > MAX_KNOWN:
        raise BadMessage(f'"known" must be an object of at most {MAX_KNOWN} keys')
    if not all(key.isdecimal() and isinstance(value, str) for key, value in known.items()):
        raise BadMessage('"known" must go from trial to state')
    return after, {int(key): value for key, value in known.items()}
