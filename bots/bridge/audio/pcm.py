"""16-bit mono speech at 16 kHz, and what a party sends made into it."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import soxr

from bots.bridge.contract import PartyFailed
from bots.bridge.wire import AudioFrame
from scenarios.sides import Side

RATE = 16_000
BYTES_PER_S = RATE * 2
# Rates that speech is sent at; another one is a mistake that would be heard as nonsense.
LOWEST_RATE, HIGHEST_RATE = 8_000, 48_000
# As loud as this is speech (-40 dBFS): the breath of a synthetic voice is below it.
LOUD = 328
_WINDOW = RATE // 100


def duration_ms(pcm: bytes | bytearray) -> int:
    """Return how long speech lasts, in whole milliseconds."""
    return len(pcm) * 1000 // BYTES_PER_S


def silence(seconds: float) -> bytes:
    """Return so much silence."""
    return bytes(round(seconds * RATE) * 2)


def is_loud(pcm: bytes) -> bool:
    """Return whether anything can be heard."""
    return bool(pcm) and bool(np.abs(samples(pcm)).max() >= LOUD)


def sounding(pcm: bytes | bytearray) -> tuple[int, int] | None:
    """Return where in speech the sound begins and ends, in milliseconds; None when there is none."""
    loud = np.abs(samples(pcm)) >= LOUD
    positions = np.flatnonzero(loud)
    if not len(positions):
        return None
    return int(positions[0]) * 1000 // RATE, (int(positions[-1]) + 1) * 1000 // RATE


def trailing_silence_s(pcm: bytes) -> float:
    """Return how long it has been quiet at the end of a piece of speech, at most its length, in seconds."""
    sound = sounding(pcm)
    return (len(pcm) // 2) / RATE - (sound[1] / 1000 if sound else 0.0)


def samples(pcm: bytes | bytearray) -> Any:
    """Return the samples, wide enough that -32768 has an absolute value."""
    return np.frombuffer(pcm, dtype="<i2").astype(np.int32)


@dataclass
class Inlet:
    """Takes the frames of one side and gives speech as the bridge has it."""

    side: Side
    _rate: int = RATE
    _stream: Any = field(default=None, repr=False)

    def take(self, frame: AudioFrame) -> bytes:
        """Return the speech of a frame, resampled from the rate stamped on it. Raises PartyFailed."""
        if not LOWEST_RATE <= frame.rate <= HIGHEST_RATE:
            raise self._unusable(f"is stamped {frame.rate} Hz; send {LOWEST_RATE} to {HIGHEST_RATE} Hz")
        if frame.channels != 1:
            raise self._unusable(f"has {frame.channels} channels; send mono")
        if len(frame.pcm) % 2:
            raise self._unusable(f"has {len(frame.pcm)} bytes, which is no number of 16-bit samples")
        before = self.flush() if frame.rate != self._rate else b""
        self._rate = frame.rate
        if frame.rate == RATE:
            return before + frame.pcm
        if self._stream is None:
            self._stream = soxr.ResampleStream(frame.rate, RATE, 1, dtype="int16")
        return before + self._resampled(np.frombuffer(frame.pcm, dtype="<i2"))

    def flush(self) -> bytes:
        """Return what the resampler still holds, and begin anew."""
        if self._stream is None:
            return b""
        rest = self._resampled(np.zeros(0, dtype="<i2"), last=True)
        self._stream = None
        return rest

    def _resampled(self, chunk: Any, *, last: bool = False) -> bytes:
        pcm: bytes = self._stream.resample_chunk(chunk, last=last).astype("<i2").tobytes()
        return pcm

    def _unusable(self, why: str) -> PartyFailed:
        return PartyFailed("bad_audio", f"audio of the {self.side} party {why}", side=self.side)
