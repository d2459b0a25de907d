"""A stand-in for speech: letters become tones and tones letters, exactly and in no time.

Each utterance begins with 300 ms of one low tone, then each half of each byte of its text is 5 ms of one of 16 tones.
It tests turns, sockets and recordings without a model; nobody can understand it, so runs with it are rehearsals.
"""

from collections.abc import AsyncIterator
from functools import lru_cache
from typing import Any

import numpy as np
from pipecat.audio.vad.vad_analyzer import VADAnalyzer, VADParams

from bots.party.speech import RATE

SYMBOL = RATE * 5 // 1000
PREAMBLE_SYMBOLS = 60
_STEP_HZ = RATE // SYMBOL  # so that each tone has whole periods and no tone sounds in another's place
_LOWEST = 4  # in steps; the preamble is one below
_LOUDNESS = 8000.0
_QUIET = 400


class Tones:
    """Hearing and voice in one."""

    async def speak(self, text: str) -> AsyncIterator[bytes]:
        """Yield the tones of a text."""
        yield encode(text)

    async def transcribe(self, pcm: bytes) -> str:
        """Return the text that tones stand for."""
        return decode(pcm)


class LoudnessVAD(VADAnalyzer):
    """Takes anything loud for speech: tones are none to a model of voices."""

    def __init__(self, stop_s: float) -> None:
        super().__init__(params=VADParams(stop_secs=stop_s, min_volume=0.0))

    def num_frames_required(self) -> int:
        """Return 20 ms of samples."""
        return self.sample_rate // 50

    def voice_confidence(self, buffer: bytes) -> float:
        """Return 1.0 for a loud buffer, 0.0 for a quiet one."""
        return float(np.abs(np.frombuffer(buffer, dtype="<i2").astype(np.int32)).max(initial=0) > _QUIET)


@lru_cache(maxsize=32)
def _tone(step: int) -> Any:
    return (np.sin(2 * np.pi * step * _STEP_HZ * np.arange(SYMBOL) / RATE) * _LOUDNESS).astype("<i2")


def encode(text: str) -> bytes:
    """Return the tones of a text, 16-bit mono at 16 kHz."""
    halves = [half for byte in text.encode() for half in (byte >> 4, byte & 15)]
    symbols = [_tone(_LOWEST - 1)] * PREAMBLE_SYMBOLS + [_tone(_LOWEST + half) for half in halves]
    return np.concatenate(symbols).tobytes()


def decode(pcm: bytes) -> str:
    """Return the text of tones; utterances are joined with a space."""
    samples = np.frombuffer(pcm, dtype="<i2").astype(np.float64)
    texts, position = [], 0
    while (start := _next_loud(samples, position)) is not None:
        text, position = _decode_one(samples, start)
        if text:
            texts.append(text)
    return " ".join(texts)


def _next_loud(samples: Any, position: int) -> int | None:
    loud = np.flatnonzero(np.abs(samples[position:]) > _QUIET)
    return position + int(loud[0]) if len(loud) else None


def _decode_one(samples: Any, position: int) -> tuple[str, int]:
    """Read symbols from the start of an utterance to the next quiet; return its text and where it ended."""
    begun, position = position, max(0, position - 1)  # a sine begins with a sample of zero
    halves: list[int] = []
    while len(window := samples[position : position + SYMBOL]) == SYMBOL and np.abs(window).max() > _QUIET:
        half = int(np.argmax(np.abs(np.fft.rfft(window)))) - _LOWEST
        if half < 0 and halves:  # the preamble of the next one
            break
        if 0 <= half < 16:
            halves.append(half)
        position += SYMBOL
    pairs = zip(halves[::2], halves[1::2], strict=False)
    return bytes(high << 4 | low for high, low in pairs).decode(errors="replace"), max(position, begun + 1)
