"""One socket to one party: messages out, messages in, answers matched by id."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from bots.bridge.contract import PartyFailed
from bots.bridge.wire import (
    MAX_FRAME_BYTES,
    MAX_SEND_BYTES,
    RTVI_VERSION,
    AudioFrame,
    BadFrame,
    Interruption,
    Message,
    encode,
    encode_audio,
    read_frame,
)
from scenarios.sides import Side

CONNECT_WAITS_S = (0.2, 0.5, 1.0, 2.0)
ANSWER_S = 15.0
# A party whose process hangs is found out before silence is.
PING_S = 10.0
TOO_BIG = 1009
BUSY = 1013
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

Heard = tuple[Side, Message]


class Link:
    """The bridge's end of the socket to ``side``.

    Answers go to whoever asked, speech to ``on_audio``, in the order of the socket; all else goes to ``inbox``, last of
    all a message of type ``closed``. ``max_send`` is the longest frame, in bytes, that the party takes.
    """

    def __init__(self, side: Side, address: str, inbox: "asyncio.Queue[Heard]", max_send: int = MAX_SEND_BYTES) -> None:
        self.side = side
        self.address = address
        self.is_ready = asyncio.Event()  # the bot said ``bot-ready``
        self._max_send = max_send
        self._inbox = inbox
        self._sent = 0  # the last id that was given to a message
        self._pending: dict[str, asyncio.Future[Message]] = {}
        self._socket: ClientConnection | None = None
        self._reader: asyncio.Task[None] | None = None
        self._closed: PartyFailed | None = None
        # On the voice channel; raises PartyFailed for speech that is of no use.
        self.on_audio: Callable[[AudioFrame | Interruption], None] | None = None

    async def open(self) -> None:
        """Connect, trying a few times: a party server that restarts is back within a second. Raises PartyFailed."""
        for wait in (*CONNECT_WAITS_S, None):
            try:
                self._socket = await self._connect()
                break
            except (OSError, InvalidHandshake, InvalidURI, TimeoutError) as error:
                if wait is None or isinstance(error, InvalidURI):
                    raise PartyFailed(
                        "party_unreachable",
                        f"the {self.side} party at {self.address} cannot be reached ({error}): is its server running?",
                        side=self.side,
                    ) from error
            await asyncio.sleep(wait)
        self._reader = asyncio.create_task(self._read(), name=f"link {self.side}")

    async def _connect(self) -> ClientConnection:
        is_loopback = urlsplit(self.address).hostname in _LOOPBACK
        return await connect(
            self.address,
            max_size=MAX_FRAME_BYTES,
            compression=None,
            ping_interval=PING_S,
            ping_timeout=PING_S,
            close_timeout=1,
            proxy=None if is_loopback else True,
        )

    def _next_id(self) -> str:
        self._sent += 1
        return str(self._sent)

    def has_sent(self, id_: str) -> bool:
        """Return whether a message with this id went out."""
        return id_.isascii() and id_.isdecimal() and len(id_) < 12 and 1 <= int(id_) <= self._sent

    async def greet(self, version: str = RTVI_VERSION) -> None:
        """Send RTVI's ``client-ready``; pipecat's bots answer ``bot-ready`` (see ``is_ready``)."""
        about = {"library": "callboard", "library_version": version}
        await self._send("client-ready", {"version": version, "about": about}, "0")

    async def ready_or_closed(self) -> None:
        """Wait until the bot says that it is ready. Raises PartyFailed when it hangs up instead."""
        assert self._reader is not None
        waiter = asyncio.ensure_future(self.is_ready.wait())
        try:
            await asyncio.wait({waiter, self._reader}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiter.cancel()
        if self._closed is not None:
            raise self._closed

    async def send_message(self, type_: str, data: Mapping[str, Any]) -> str:
        """Send an RTVI message of any type that asks for no answer; return its id. Raises PartyFailed."""
        id_ = self._next_id()
        await self._send(type_, data, id_)
        return id_

    async def send(self, kind: str, data: Mapping[str, Any]) -> None:
        """Send a ``client-message`` that asks for no answer. Raises PartyFailed."""
        await self._send("client-message", {"t": kind, "d": data}, self._next_id())

    async def send_audio(self, pcm: bytes, rate: int) -> None:
        """Let the party hear a piece of mono speech, 16-bit samples. Raises PartyFailed."""
        await self._send_frame(encode_audio(pcm, rate))

    async def request(self, kind: str, data: Mapping[str, Any], timeout_s: float = ANSWER_S) -> Mapping[str, Any]:
        """Send a ``client-message`` and return the ``d`` of its answer, {} if that is no object. Raises PartyFailed."""
        answer = await self.ask(kind, data, timeout_s)
        return answer if isinstance(answer, dict) else {}

    async def ask(self, kind: str, data: Mapping[str, Any], timeout_s: float = ANSWER_S) -> Any:
        """Send a ``client-message`` and return the ``d`` of its answer, whatever it is. Raises PartyFailed."""
        id_ = self._next_id()
        answer = self._pending[id_] = asyncio.get_running_loop().create_future()
        try:
            await self._send("client-message", {"t": kind, "d": data}, id_)
            async with asyncio.timeout(timeout_s):
                message = await answer
        except TimeoutError as error:
            text = f"the {self.side} party did not answer {kind!r} within {timeout_s:g} s"
            raise PartyFailed("party_no_answer", text, side=self.side) from error
        finally:
            del self._pending[id_]
        return self._unpack(kind, message)

    def _unpack(self, kind: str, message: Message) -> Any:
        if message.type == "error-response":
            text = f"the {self.side} party refused {kind!r}: {message.data.get('error')}"
            # A refusal is about what was asked, so asking again is refused again.
            raise PartyFailed(str(message.data.get("kind") or "party_refused"), text, retry=False, side=self.side)
        return message.data.get("d")

    async def _send(self, type_: str, data: Mapping[str, Any], id_: str) -> None:
        await self._send_frame(encode(type_, data, id_))

    async def _send_frame(self, payload: bytes) -> None:
        if self._closed is not None:
            raise self._closed
        if len(payload) > self._max_send:
            text = f"a message of {len(payload)} bytes to the {self.side} party is over {self._max_send}"
            raise PartyFailed("message_too_large", text, retry=False, side=self.side)
        assert self._socket is not None
        try:
            await self._socket.send(payload)
        except ConnectionClosed as error:
            raise self._closed or self._why_closed(error) from error

    async def _read(self) -> None:
        assert self._socket is not None
        try:
            while True:
                frame = read_frame(await self._socket.recv())
                if isinstance(frame, Message):
                    self._dispatch(frame)
                elif frame is not None and self.on_audio is not None:
                    self.on_audio(frame)
        except ConnectionClosed as error:
            failure = self._why_closed(error)
        except BadFrame as error:
            failure = PartyFailed("bad_frame", f"the {self.side} party sent {error}", side=self.side)
        except PartyFailed as unusable:
            failure = unusable
        self._closed = failure
        for future in self._pending.values():
            if not future.done():
                future.set_exception(failure)
        self._inbox.put_nowait((self.side, Message("closed", {"kind": failure.kind, "message": str(failure)})))

    def _dispatch(self, message: Message) -> None:
        if message.type == "bot-ready":
            self.is_ready.set()
        future = self._pending.get(message.id) if message.type in ("server-response", "error-response") else None
        if future is None:
            self._inbox.put_nowait((self.side, message))
        elif not future.done():
            future.set_result(message)

    def _why_closed(self, error: ConnectionClosed) -> PartyFailed:
        if error.sent is not None and error.sent.code == TOO_BIG:
            text = f"the {self.side} party sent a frame of more than {MAX_FRAME_BYTES} bytes"
            return PartyFailed("party_frame_too_large", text, side=self.side)
        if error.rcvd is not None and error.rcvd.code == BUSY:
            text = f"the {self.side} party at {self.address} serves one call at a time and is in another one"
            return PartyFailed("party_busy", f"{text}: {error.rcvd.reason or 'closed with 1013'}", side=self.side)
        return PartyFailed("party_gone", f"the {self.side} party closed the socket: {error}", side=self.side)

    async def close(self) -> None:
        """Close the socket; the party's pipeline ends with it. Safe to repeat."""
        if self._socket is not None:
            await self._socket.close()
        if self._reader is not None:
            await asyncio.wait({self._reader}, timeout=1)
            self._reader.cancel()
