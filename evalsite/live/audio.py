"""``ws/trials/<pk>/audio/``: what is said in a running call, for operators, while it is said.

The socket only gives. A page that sends anything is no page of ours and is shut out. Binary messages are a header
(``HEADER``: the server's clock in ms, position in the call in ms, age of the last sample in ms) and 16-bit stereo at
16 kHz, left the caller; text messages are JSON: ``waiting`` and ``over`` with ``why``.
"""

import asyncio
import contextlib
import logging
import struct
import time
from dataclasses import dataclass
from pathlib import Path

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer

from evalsite.access import has_role
from evalsite.live.audio_tail import Tail
from evalsite.live.consumers import BAD_MESSAGE, BROKEN, SIGNED_OUT, still_has_role
from evalsite.live.hub import message
from scenarios.models import Run, Trial
from scenarios.playback import path_of, recording_of

log = logging.getLogger(__name__)

HEADER = struct.Struct("<dII")
PERIOD_S = 0.1
LOOK_S = 2.0
# Nothing to hear for so long is said, with what may be the reason.
QUIET_S = 5.0
LOCKSTEP = "In lockstep a call runs faster than speech: listen after the call."
NO_FILES = "The recordings are kept where nobody can read them while they are written: listen after the call."
ELSEWHERE = "Nothing is heard yet. A lane on a machine that shares no folder with this site cannot be listened to."


@dataclass(frozen=True)
class Heard:
    """What of a trial can be listened to: a file, or why not. ``is_over``: it will not change."""

    path: Path | None
    why: str = ""
    is_over: bool = False


def look(pk: int) -> Heard:
    """Return what can be heard of a trial now."""
    trial = Trial.objects.select_related("run", "scenario").filter(pk=pk).first()
    if trial is None:
        return Heard(None, "This call was deleted.", is_over=True)
    if trial.run.channel != Run.Channel.VOICE:
        return Heard(None, "This call is held in writing: there is nothing to hear.", is_over=True)
    if trial.status in Trial.ENDED or trial.status == Trial.Status.SCORING:
        return Heard(None, "The call is over.", is_over=True)
    if trial.run.config.get("clock") != "realtime":
        return Heard(None, LOCKSTEP, is_over=True)
    if trial.status == Trial.Status.QUEUED:
        return Heard(None, "The call has not begun.")
    path = path_of(recording_of(trial))
    return Heard(None, NO_FILES, is_over=True) if path is None else Heard(path)


class AudioConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """One listener of one call. Strangers and people who are no operators are refused in the handshake."""

    _serving: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Accept operators, and begin."""
        user = self.scope.get("user")
        if user is None or not await database_sync_to_async(has_role)(user, "operator"):
            await self.close()
            return
        await self.accept()
        self._serving = asyncio.create_task(self._serve_or_close())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take nothing: this socket only gives."""
        await self.close(BAD_MESSAGE, "this socket takes nothing")

    async def disconnect(self, code: int) -> None:
        """Stop reading."""
        if self._serving is not None:
            self._serving.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._serving

    async def _serve_or_close(self) -> None:
        try:
            await self._serve(int(self.scope["url_route"]["kwargs"]["pk"]))
        except Exception:  # a silent socket would look alive: the page shall try again
            log.exception("a listener's socket broke")
            await self.close(BROKEN, "the server failed")

    async def _serve(self, pk: int) -> None:
        tail: Tail | None = None
        looked = heard_at = -QUIET_S
        while True:
            now = time.monotonic()
            if now - looked >= LOOK_S:
                looked = now
                heard = await database_sync_to_async(look)(pk)
                if not await still_has_role(self.scope, "operator"):
                    await self.close(SIGNED_OUT, "the session has ended")
                    return
                if tail is not None:
                    await self._pass_on(tail)
                if heard.is_over:
                    await self.send(message("over", why=heard.why))
                    await self.close(1000)
                    return
                if heard.path is not None and (tail is None or tail.path != heard.path):
                    tail, heard_at = Tail(heard.path), now
            if tail is not None and await self._pass_on(tail):
                heard_at = now
            elif now - heard_at >= QUIET_S:
                heard_at = now
                await self.send(message("waiting", why=heard.why or ELSEWHERE))
            await asyncio.sleep(PERIOD_S)

    async def _pass_on(self, tail: Tail) -> bool:
        try:
            piece = await asyncio.to_thread(tail.read)
        except FileNotFoundError:  # nothing was said yet
            return False
        if piece is None:
            return False
        header = HEADER.pack(time.time() * 1000, piece.position_ms, piece.age_ms)
        await self.send(bytes_data=header + piece.pcm)
        return True
