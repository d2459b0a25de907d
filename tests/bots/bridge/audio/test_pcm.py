"""Frames of any rate become 16 kHz mono; what cannot is refused by name."""

import numpy as np
import pytest

from bots.bridge.audio.pcm import RATE, Inlet, duration_ms, is_loud, silence, sounding
from bots.bridge.contract import PartyFailed
from bots.bridge.wire import AudioFrame


def tone(seconds: float, rate: int = RATE, hertz: float = 440.0) -> bytes:
    times = np.arange(round(seconds * rate)) / rate
    return (np.sin(2 * np.pi * hertz * times) * 8000).astype("<i2").tobytes()


@pytest.mark.parametrize("rate", [8_000, 22_050, 24_000, 44_100, 48_000])
def test_speech_keeps_its_length_and_pitch_at_any_rate(rate: int) -> None:
    inlet, speech = Inlet("agent"), tone(1.0, rate)
    step = rate // 50 * 2
    out = b"".join(inlet.take(AudioFrame(speech[at : at + step], rate)) for at in range(0, len(speech), step))
    out += inlet.flush()
    assert abs(duration_ms(out) - 1000) <= 2
    wave = np.frombuffer(out, dtype="<i2")[1600:-1600]
    crossings = np.count_nonzero(np.diff(wave >= 0))
    assert abs(crossings / (len(wave) / RATE) - 880) < 5


def test_speech_at_our_own_rate_is_untouched() -> None:
    inlet, speech = Inlet("user"), tone(0.1)
    assert inlet.take(AudioFrame(speech, RATE)) == speech
    assert inlet.flush() == b""


def test_the_rate_may_change_between_frames() -> None:
    inlet = Inlet("agent")
    out = inlet.take(AudioFrame(tone(0.5, 24_000), 24_000)) + inlet.take(AudioFrame(tone(0.5), RATE)) + inlet.flush()
    assert abs(duration_ms(out) - 1000) <= 2


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (AudioFrame(b"\0\0", 0), "is stamped 0 Hz"),
        (AudioFrame(b"\0\0", 1_000_000), "is stamped 1000000 Hz"),
        (AudioFrame(b"\0\0\0\0", RATE, channels=2), "has 2 channels; send mono"),
        (AudioFrame(b"\0\0\0", RATE), "has 3 bytes"),
    ],
)
def test_what_is_no_mono_speech_is_refused(frame: AudioFrame, why: str) -> None:
    with pytest.raises(PartyFailed, match=why) as caught:
        Inlet("user").take(frame)
    assert (caught.value.kind, caught.value.side) == ("bad_audio", "user")


def test_sound_is_found_between_silences() -> None:
    speech = silence(0.3) + tone(0.2) + silence(0.5)
    assert sounding(speech) == pytest.approx((300, 500), abs=3)
    assert sounding(silence(1)) is None
    assert sounding(b"") is None


def test_loud_is_loud_on_either_side_of_zero() -> None:
    assert is_loud(np.array([0, -32768], dtype="<i2").tobytes())
    assert not is_loud(np.array([100, -100], dtype="<i2").tobytes())
    assert not is_loud(b"")
