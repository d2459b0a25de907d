"""An external party that speaks, in the test's own loop: it hears frames and answers as a test tells it to."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from bots.bridge.wire import AudioFrame, Message, encode, encode_audio, read_frame
from bots.party.speech.tones import decode


class FakeVoice:
    """One socket: what it was told, what it hears, and ways to speak."""

    def __init__(self, socket: ServerConnection) -> None:
        self.socket = socket
        self.heard = bytearray()
        self.turn = 0

    async def speak(self, pcm: bytes, rate: int = 16_000, piece: int = 6400) -> None:
        for start in range(0, len(pcm), piece):
            await self.socket.send(encode_audio(pcm[start : start + piece], rate))

    async def tell(self, kind: str, **data: object) -> None:
        await self.socket.send(encode("server-message", {"type": kind, **data}))

    async def complete(self, text: str, **more: object) -> None:
        await self.tell("turn-complete", turn=self.turn, text=text, **more)

    def take_heard(self) -> str:
        """Return the words of the tones heard since this was last asked."""
        words = decode(bytes(self.heard))
        self.heard.clear()
        return words


# Called when the party owes a turn: with what it was told in writing, "" after speech.
Turn = Callable[[FakeVoice, str], Awaitable[None]]


@asynccontextmanager
async def fake_voice(
    answer: Turn, *, quiet_s: float = 0.8, on_sound: Callable[[FakeVoice], Awaitable[None]] | None = None
) -> AsyncIterator[str]:
    """Serve a party that answers each turn with ``answer``; yields its address.

    It takes a turn to be over after so much silence in what it hears, by its length, not by the clock. ``on_sound`` is
    begun once, with the first sound.
    """

    async def handle(socket: ServerConnection) -> None:
        party = FakeVoice(socket)
        quiet = 0
        started: list[asyncio.Task[None]] = []
        try:
            async for payload in socket:
                frame = read_frame(payload)
                if isinstance(frame, AudioFrame):
                    is_quiet = not any(frame.pcm)
                    quiet = quiet + len(frame.pcm) if is_quiet else 0
                    if on_sound is not None and not is_quiet and not started:
                        started.append(asyncio.ensure_future(on_sound(party)))
                    if not is_quiet or party.heard:
                        party.heard += frame.pcm
                    if party.heard and quiet >= quiet_s * 32_000:
                        await answer(party, "")
                        party.heard.clear()
                elif isinstance(frame, Message):
                    await _take(party, frame, answer)
        except ConnectionClosed:
            pass

    async with serve(handle, "127.0.0.1", 0, compression=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        yield f"ws://127.0.0.1:{port}"


async def _take(party: FakeVoice, message: Message, answer: Turn) -> None:
    data = message.data.get("d") or {}
    match message.data.get("t"):
        case "prepare":
            answered = {"t": "prepare", "d": {"is_ready": True}}
            await party.socket.send(encode("server-response", answered, message.id))
        case "listen":
            party.turn = data["turn"]
        case "say":
            party.turn = data["turn"]
            await answer(party, data["text"])
        case "context":
            page: dict[str, object] = {"messages": [], "next": None, "is_settled": True}
            await party.socket.send(encode("server-response", {"t": "context", "d": page}, message.id))
    await asyncio.sleep(0)
