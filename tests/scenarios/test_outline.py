"""The outline of a WAV file, made without arrays."""

import io
import json
from array import array

import pytest

from bots.bridge.audio.peaks import Peaks
from scenarios.outline import NoRecording, outline_of
from tests.spoken import DIALOGUE, packed, wav


def test_it_is_the_outline_that_the_bridge_writes() -> None:
    content = wav(DIALOGUE, tail_ms=217)
    samples = array("h", content[44:])
    peaks = Peaks()
    peaks.add(samples[::2].tobytes(), samples[1::2].tobytes())
    assert outline_of(io.BytesIO(content)) == json.loads(peaks.as_json())


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_samples_of_any_width_are_read(width: int) -> None:
    quiet = (128).to_bytes(1, "little") if width == 1 else bytes(width)
    high, low = 96, -64

    def sample(top: int) -> bytes:
        return bytes([top + 128]) if width == 1 else bytes(width - 1) + bytes([top % 256])

    frames = quiet * 400 + sample(high) + sample(low) + quiet * 398
    found = outline_of(io.BytesIO(packed(frames, channels=1, rate=8000, width=width)))
    assert (found["channels"], found["length"], found["samples_per_pixel"]) == (1, 2, 400)
    assert found["data"] == [0, 0, low, high]


def test_a_long_file_is_read_in_pieces() -> None:
    frames = array("h", [0, 0] * 8000 * 30)
    frames[2 * 8000 * 29 + 1] = 32_767
    found = outline_of(io.BytesIO(packed(frames.tobytes(), rate=8000)))
    assert found["length"] == 600
    assert [index for index, value in enumerate(found["data"]) if value] == [580 * 4 + 3]


@pytest.mark.parametrize(
    "content", [b"", b"RIFF", b"no WAV file at all, but long enough to hold a header of one...", wav()[:30]]
)
def test_what_is_no_recording_is_named(content: bytes) -> None:
    with pytest.raises(NoRecording):
        outline_of(io.BytesIO(content))


def test_a_file_that_was_cut_off_is_read_as_far_as_it_goes() -> None:
    found = outline_of(io.BytesIO(wav()[: 44 + 64_000]))
    assert found["length"] == 20
