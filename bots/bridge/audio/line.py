"""One direction of a call in real time: what a side says, on its way to the other."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bots.bridge.audio.pcm import BYTES_PER_S, Inlet, is_loud
from bots.bridge.contract import PartyFailed
from bots.bridge.conversation import Turn
from bots.bridge.wire import AudioFrame, Interruption
from scenarios.sides import Side

TICK_MS = 20
PIECE_BYTES = BYTES_PER_S * TICK_MS // 1000
# Speech waits this long before it is passed on, so that a piece that comes late leaves no gap.
JITTER_MS = 60
_JITTER_BYTES = BYTES_PER_S * JITTER_MS // 1000
LONGEST_TURN_S = 300
# Speech that goes on so soon after it ran out was late; after more than that the party had paused.
LATE_MS = 500


@dataclass
class Line:
    """Speech of one side that is not played yet, and the turn that it belongs to. Positions are milliseconds."""

    side: Side
    turn: Turn
    buffer: bytearray = field(default_factory=bytearray)
    is_playing: bool = False
    is_cut: bool = False  # the side was interrupted in this turn
    began_ms: int | None = None  # of the first piece of the turn, which may be silent
    started_ms: int | None = None  # of the first sound of the turn
    ended_ms: int = 0  # of the last sound so far, of this turn or an earlier one
    tools_ms: float = 0.0  # spent before the first sound
    complete: Mapping[str, Any] | None = None  # the party's word that its turn is over
    said_first: str = ""  # what the caller cut in with: the turn begins with these words
    gaps: int = 0  # times that speech came too late within a turn
    _inlet: Inlet = field(init=False)
    _waiting_since: float | None = None
    _dry_ms: int | None = None  # speech ran out within the turn
    _has_completed: bool = False  # the party itself said that its turn is over
    _murmur: bytearray = field(default_factory=bytearray)  # sound that is no turn

    def __post_init__(self) -> None:
        self._inlet = Inlet(self.side)

    def take(self, frame: AudioFrame | Interruption) -> None:
        """Take what the party sent. Raises PartyFailed."""
        if isinstance(frame, Interruption):
            self.is_cut = self.is_cut or self.started_ms is not None
            self._inlet.flush()
            self.buffer.clear()
            return
        if self.said_first and not self._has_completed:
            self.complete = None  # the party goes on where the cut-in began
        self.buffer += self._inlet.take(frame)
        if len(self.buffer) > LONGEST_TURN_S * BYTES_PER_S:
            raise PartyFailed("endless_speech", f"over {LONGEST_TURN_S} s of speech came at once", side=self.side)
        if self._waiting_since is None:
            self._waiting_since = time.monotonic()

    def finish_input(self, complete: Mapping[str, Any]) -> None:
        """Note that the party has sent all of its turn."""
        self.buffer += self._inlet.flush()
        self.complete, self._has_completed = complete, True

    @property
    def is_idle(self) -> bool:
        """Return whether nothing is being said or about to be."""
        return self.started_ms is None and not self.buffer and not self._murmur

    def cut_in(self, text: str, pcm: bytes) -> None:
        """Begin a turn with words that are not the party's; what it says by itself follows in the same turn."""
        self.said_first = text
        self.buffer += pcm
        self.complete = {"text": ""}
        self._waiting_since = time.monotonic()

    def murmur(self, pcm: bytes) -> None:
        """Let be heard what is no turn."""
        self._murmur += pcm

    def next_piece(self, position_ms: int) -> bytes:
        """Return the next 20 ms: speech if there is any, else silence. Raises PartyFailed."""
        if not self.is_playing and self._is_due():
            self.is_playing = True
            self.gaps += self._dry_ms is not None and position_ms - self._dry_ms <= LATE_MS
            self._dry_ms = None
        if not self.is_playing:
            return self._next_murmur()
        piece = bytes(self.buffer[:PIECE_BYTES])
        del self.buffer[:PIECE_BYTES]
        if piece and self.began_ms is None:
            self.began_ms = position_ms
        if len(piece) < PIECE_BYTES:
            if self.complete is None and self.started_ms is not None:
                self._dry_ms = position_ms
            self.is_playing, self._waiting_since = False, None
            piece = piece.ljust(PIECE_BYTES, b"\0")
        if is_loud(piece):
            self._sounds(position_ms)
        return piece

    @property
    def is_over(self) -> bool:
        """Return whether the turn is complete and all of it was played."""
        return self.complete is not None and not self.buffer

    def next_turn(self, turn: Turn) -> None:
        """Begin to wait for the next turn."""
        self.turn = turn
        self.began_ms = self.started_ms = self.complete = self._dry_ms = None
        self.is_cut, self.tools_ms = False, 0.0
        self.said_first, self._has_completed = "", False

    def _next_murmur(self) -> bytes:
        piece = bytes(self._murmur[:PIECE_BYTES]).ljust(PIECE_BYTES, b"\0")
        del self._murmur[:PIECE_BYTES]
        return piece

    def _is_due(self) -> bool:
        if not self.buffer or self._waiting_since is None:
            return False
        waited_ms = (time.monotonic() - self._waiting_since) * 1000
        return len(self.buffer) >= _JITTER_BYTES or waited_ms >= JITTER_MS

    def _sounds(self, position_ms: int) -> None:
        if self.started_ms is None:
            self.started_ms, self.tools_ms = position_ms, self.turn.tool_ms
        self.ended_ms = position_ms + TICK_MS
        if self.ended_ms - self.started_ms > LONGEST_TURN_S * 1000:
            text = f"turn {self.turn.number} is longer than {LONGEST_TURN_S} s"
            raise PartyFailed("endless_speech", text, side=self.side)
