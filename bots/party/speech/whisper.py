"""Recognition with Whisper: one model a process, and a window no longer than the speech needs.

Stock Whisper encodes 30 s whatever the speech's length: 1.1 s of CPU an utterance. A window of the speech and 1.5 s,
but never under 15 s, halves that with the same accuracy; without that floor short words come out again and again.
"""

import asyncio
import os
import threading
from functools import lru_cache
from typing import Any

import numpy as np

from bots.party.speech import RATE
from bots.party.speech.assets import whisper_folder

BEAM = 5
ONE_WINDOW_S = 28
# pipecat's own 0.4 loses whole utterances that were decoded well.
NO_SPEECH = 0.95
_LOADING = threading.Lock()  # calls that begin at once share one model
# Frames of 10 ms.
LONGEST_WINDOW, SHORTEST_WINDOW, MARGIN = 3000, 1500, 150


def fitted(features: Any, length: int = LONGEST_WINDOW, *, axis: int = -1) -> Any:
    """Pad or cut features to the window: takes the place of faster-whisper's own ``pad_or_trim``."""
    size = features.shape[axis]
    window = min(length, max(SHORTEST_WINDOW, size + MARGIN))
    if size > window:
        return features.take(indices=range(window), axis=axis)
    widths = [(0, 0)] * features.ndim
    widths[axis] = (0, window - size)
    return np.pad(features, widths)


def shared_model() -> Any:
    """Return the process's model; the first call loads it (half a second)."""
    with _LOADING:
        return _model()


@lru_cache(maxsize=1)
def _model() -> Any:
    from faster_whisper import WhisperModel, transcribe

    if not hasattr(transcribe, "pad_or_trim"):
        raise RuntimeError("this faster-whisper has no pad_or_trim: the shorter window cannot be set")
    transcribe.pad_or_trim = fitted
    folder = str(whisper_folder())
    # One thread a worker: calls are held side by side, so a second thread for one of them takes it from another.
    return WhisperModel(folder, device="cpu", compute_type="int8", cpu_threads=1, num_workers=os.cpu_count() or 1)


class Whisper:
    """Hearing with the shared model."""

    async def transcribe(self, pcm: bytes) -> str:
        """Return what was said."""
        return await asyncio.to_thread(_transcribe, pcm)


def _transcribe(pcm: bytes) -> str:
    audio = np.frombuffer(pcm, dtype="<i2").astype(np.float32) / 32768
    segments, _ = shared_model().transcribe(
        audio,
        language="en",
        beam_size=BEAM,
        temperature=0.0,  # the same words every time
        condition_on_previous_text=False,
        # Times are what a speech longer than one window is cut by; they cost a tenth of the work.
        without_timestamps=len(audio) < ONE_WINDOW_S * RATE,
    )
    return " ".join(s.text.strip() for s in segments if s.no_speech_prob < NO_SPEECH).strip()
