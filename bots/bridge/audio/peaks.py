"""The outline of a recording, from which a page draws its waveform without loading the audio.

The JSON is the format of BBC's audiowaveform (version 2), which peaks.js and wavesurfer.js read: lowest and highest
sample of each 50 ms, both channels in turn, as 8-bit numbers.
"""

import json
from typing import Any

import numpy as np

from bots.bridge.audio.pcm import RATE

SAMPLES_PER_POINT = RATE // 20


class Peaks:
    """Grows with the recording: four bytes each 50 ms, 72 kB for 15 minutes."""

    def __init__(self) -> None:
        self._points = bytearray()
        self._open = np.zeros((0, 2), dtype="<i2")  # samples of the point that is not full

    def add(self, left: bytes, right: bytes) -> None:
        """Take as many samples of both channels."""
        fresh = np.stack([np.frombuffer(left, dtype="<i2"), np.frombuffer(right, dtype="<i2")], axis=1)
        both = np.concatenate([self._open, fresh])
        whole = len(both) // SAMPLES_PER_POINT
        full = both[: whole * SAMPLES_PER_POINT].reshape(whole, SAMPLES_PER_POINT, 2)
        self._points += _bounds(full)
        self._open = both[whole * SAMPLES_PER_POINT :].copy()

    def as_json(self) -> str:
        """Return the outline so far."""
        last = _bounds(self._open[np.newaxis]) if len(self._open) else b""
        data = np.frombuffer(bytes(self._points) + last, dtype=np.int8).tolist()
        outline: dict[str, Any] = {
            "version": 2,
            "channels": 2,
            "sample_rate": RATE,
            "samples_per_pixel": SAMPLES_PER_POINT,
            "bits": 8,
            "length": len(data) // 4,
            "data": data,
        }
        return json.dumps(outline, separators=(",", ":"))


def _bounds(points: Any) -> bytes:
    """Return lowest and highest of each point and channel, as 8-bit numbers: (points, samples, 2) to 4 bytes each."""
    both = np.stack([points.min(axis=1), points.max(axis=1)], axis=2)
    return (both >> 8).astype(np.int8).tobytes()
