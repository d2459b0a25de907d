"""The stand-in for speech says and hears exactly what it is given."""

import pytest

from bots.party.speech.tones import LoudnessVAD, Tones, decode, encode

QUIET = b"\0\0"


@pytest.mark.parametrize("text", ["Hello, how can I help?", "#W2378156", "Größe 7½ €", "a", "\n"])
def test_text_survives(text: str) -> None:
    assert decode(encode(text)) == text


def test_text_survives_silence_around_it_and_other_text_after_it() -> None:
    assert decode(QUIET * 1234 + encode("one") + QUIET * 77 + encode("two") + encode("three")) == "one two three"


def test_silence_says_nothing() -> None:
    assert decode(b"") == decode(QUIET * 5000) == ""


def test_a_cut_end_loses_only_the_end() -> None:
    speech = encode("abcdefgh")
    assert decode(speech[: -len(speech) // 20]).startswith("abcd")


async def test_it_is_an_engine_of_speech() -> None:
    tones = Tones()
    speech = b"".join([piece async for piece in tones.speak("Hi.")])
    assert await tones.transcribe(speech) == "Hi."


def test_tones_are_speech_to_its_voice_detection() -> None:
    vad = LoudnessVAD(0.8)
    assert vad.voice_confidence(encode("x")[:640]) == 1.0
    assert vad.voice_confidence(QUIET * 320) == 0.0
