"""A stereo WAV file that grows as the call goes: a valid file whenever one looks."""

import os
import struct
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from bots.bridge.audio.pcm import BYTES_PER_S, RATE

HEADER_BYTES = 44
_FRAME_BYTES = 4  # two channels of 16 bits
# The header says how much there is; it is brought up to date this often.
_SETTLE_BYTES = BYTES_PER_S * 2
# What was said is in the file after so much of it: people listen there while the call goes on (a fifth of a second).
_FLUSH_BYTES = BYTES_PER_S * 2 // 5


class StereoWav:
    """16-bit stereo at 16 kHz. Holds under a second of audio in memory."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.frames = 0
        self._settled = self._flushed = 0
        self._file = path.open("wb", buffering=64 * 1024)
        self._file.write(header(0))

    def write(self, left: bytes, right: bytes) -> None:
        """Append as many samples of both channels. Raises OSError."""
        both = np.empty(len(left), dtype="<i2")
        both[0::2] = np.frombuffer(left, dtype="<i2")
        both[1::2] = np.frombuffer(right, dtype="<i2")
        self._file.write(both.tobytes())
        self.frames += len(left) // 2
        if (self.frames - self._settled) * _FRAME_BYTES >= _SETTLE_BYTES:
            self._settle()
        elif (self.frames - self._flushed) * _FRAME_BYTES >= _FLUSH_BYTES:
            self._file.flush()
            self._flushed = self.frames

    def close(self) -> None:
        """Finish the file; safe to repeat."""
        if not self._file.closed:
            try:
                self._settle()
            finally:
                self._file.close()

    def _settle(self) -> None:
        """Bring the header up to date, after the audio it speaks of is out of our buffer."""
        self._file.flush()
        os.pwrite(self._file.fileno(), header(self.frames), 0)
        self._settled = self._flushed = self.frames

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def header(frames: int) -> bytes:
    """Return the header of a file with so many frames."""
    size = frames * _FRAME_BYTES
    form = struct.pack("<4sI4s", b"RIFF", HEADER_BYTES - 8 + size, b"WAVE")
    layout = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 2, RATE, RATE * _FRAME_BYTES, _FRAME_BYTES, 16)
    return form + layout + struct.pack("<4sI", b"data", size)
