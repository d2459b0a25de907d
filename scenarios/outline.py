"""The outline of a WAV file: from it a page draws a waveform without loading the audio.

The same form as the bridge writes beside a recording (audiowaveform's JSON, version 2), made here for recordings that
came from elsewhere and for those of calls that died; without arrays, since the domain does without numpy.
"""

import json
import wave
from array import array
from collections.abc import Iterator
from typing import IO, Any

POINTS_PER_S = 20
_BLOCK_POINTS = 200


class NoRecording(ValueError):
    """The file is no WAV file that can be read; the text says why."""


def outline_of(file: IO[bytes]) -> dict[str, Any]:
    """Return lowest and highest sample of each 50 ms, the channels in turn, as 8-bit numbers. Raises NoRecording."""
    try:
        with wave.open(file, "rb") as recording:
            channels, rate = recording.getnchannels(), recording.getframerate()
            if rate < POINTS_PER_S:
                raise NoRecording(f"a rate of {rate} Hz")
            data = [bound for block in _blocks(recording) for bound in block]
    except (wave.Error, EOFError, OSError) as error:
        raise NoRecording(str(error) or "it is cut off") from error
    return {
        "version": 2,
        "channels": channels,
        "sample_rate": rate,
        "samples_per_pixel": rate // POINTS_PER_S,
        "bits": 8,
        "length": len(data) // (2 * channels),
        "data": data,
    }


def outline_json(file: IO[bytes]) -> str:
    """Return the outline as it is stored. Raises NoRecording."""
    return json.dumps(outline_of(file), separators=(",", ":"))


def _blocks(recording: wave.Wave_read) -> Iterator[list[int]]:
    channels, width = recording.getnchannels(), recording.getsampwidth()
    point = recording.getframerate() // POINTS_PER_S
    while frames := recording.readframes(point * _BLOCK_POINTS):
        lanes = [_top_bytes(frames, channel, channels, width) for channel in range(channels)]
        bounds: list[int] = []
        for start in range(0, len(lanes[-1]), point):
            for lane in lanes:
                part = lane[start : start + point]
                bounds += (min(part), max(part))
        yield bounds


def _top_bytes(frames: bytes, channel: int, channels: int, width: int) -> "array[int]":
    """Return the most significant byte of each sample of a channel, signed: that is the sample in 8 bits."""
    top = frames[channel * width + width - 1 :: channels * width]
    # 8-bit WAV files are unsigned, all others are signed.
    return array("b", bytes(value ^ 0x80 for value in top) if width == 1 else top)
