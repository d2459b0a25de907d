"""The end of a recording that grows: what was said a moment ago, read from the file that the lane writes.

So live listening needs no second way from lane to site, no broker and no tap: a folder that both see is enough.
"""

import time
from dataclasses import dataclass
from pathlib import Path

HEADER_BYTES = 44
RATE = 16_000
FRAME_BYTES = 4  # two channels of 16 bits
# A listener begins this far before the end of what there is.
LEAD_MS = 200
# More than this at once is not live any more: the listener goes on at the end.
TOO_LATE_MS = 3_000


@dataclass(frozen=True)
class Piece:
    """Stereo sound from ``position_ms`` of the call on; ``age_ms`` is how long ago its last sample was written."""

    position_ms: int
    age_ms: int
    pcm: bytes


class Tail:
    """One listener's place in one growing recording."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.skipped = 0  # times that the listener was too late and went on at the end
        self._frame: int | None = None

    def read(self) -> Piece | None:
        """Return what came since the last time; None when nothing did. Raises OSError when there is no file."""
        stat = self.path.stat()
        frames = max(0, stat.st_size - HEADER_BYTES) // FRAME_BYTES
        if self._frame is None:
            self._frame = max(0, frames - _frames(LEAD_MS))
        elif frames < self._frame:  # another attempt writes to the same name
            self._frame = 0
        elif frames - self._frame > _frames(TOO_LATE_MS):
            self._frame = frames - _frames(LEAD_MS)
            self.skipped += 1
        if frames <= self._frame:
            return None
        with self.path.open("rb") as file:
            file.seek(HEADER_BYTES + self._frame * FRAME_BYTES)
            pcm = file.read((frames - self._frame) * FRAME_BYTES)
        position_ms = self._frame * 1000 // RATE
        self._frame = frames
        return Piece(position_ms, max(0, round((time.time() - stat.st_mtime) * 1000)), pcm)


def _frames(ms: int) -> int:
    return ms * RATE // 1000
