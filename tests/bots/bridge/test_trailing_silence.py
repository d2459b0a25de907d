"""How long it has been quiet at the end of a piece of speech."""

import pytest

from bots.bridge.audio.pcm import silence, trailing_silence_s
from bots.party.timings import Timings

LOUD = b"\0\x20" * 160  # 10 ms


@pytest.mark.parametrize(
    ("pcm", "seconds"),
    [
        (b"", 0),
        (LOUD, 0),
        (silence(0.02), 0.02),
        (LOUD + silence(0.5), 0.5),
        (silence(0.5) + LOUD, 0),
        (LOUD + silence(0.1) + LOUD + silence(0.3), 0.3),
    ],
)
def test_only_the_end_counts(pcm: bytes, seconds: float) -> None:
    assert trailing_silence_s(pcm) == pytest.approx(seconds, abs=0.0011)


@pytest.mark.parametrize(("quiet_s", "endpointing_ms"), [(0.95, 950), (0.0, 800)])
def test_endpointing_begins_at_the_true_end_of_speech(quiet_s: float, endpointing_ms: int) -> None:
    timings = Timings(vad_stop_s=0.8)
    timings.stopped, timings.transcribed, timings.quiet_s = 10.0, 10.0, quiet_s
    timings.ask()
    assert timings._asked is not None
    after_ms = (timings._asked - 10.0) * 1000
    assert timings.parts["endpointing"] - after_ms == pytest.approx(endpointing_ms, abs=0.01)
