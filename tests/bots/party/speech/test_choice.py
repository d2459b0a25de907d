"""What a party hears and speaks with, by the name its run chose."""

from typing import Any

import pytest

from bots.bridge.wire import encode
from bots.party.preparation import Endpoint, Refused, read_preparation
from bots.party.speech.choice import build, warm
from bots.party.speech.services import EngineSTT, EngineTTS
from bots.party.speech.tones import LoudnessVAD
from scenarios.voice import PartyVoice, Speech

OPENAI = {
    "service": "pipecat",
    "stt": "pipecat.services.openai.stt.OpenAISTTService",
    "tts": "pipecat.services.openai.tts.OpenAITTSService",
    "key_env": "SPEECH_TEST_KEY",
    "stt_parameters": {"settings": {"model": "whisper-1"}},
    "tts_parameters": {"settings": {"voice": "nova"}},
}


def told(**speech: Any) -> PartyVoice:
    return PartyVoice(speech=Speech.model_validate(speech), clock="lockstep")


async def ignore(_: Any) -> None:
    pass


async def silent() -> None:
    pass


async def test_tones() -> None:
    voice = told(service="tones")
    assert isinstance(await warm(voice), LoudnessVAD)
    parts = build(voice, ignore, silent)
    assert isinstance(parts.stt, EngineSTT)
    assert isinstance(parts.tts, EngineTTS)


def test_pipecats_own_services_are_made_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPEECH_TEST_KEY", "sesame")
    parts = build(told(**OPENAI), ignore, silent)
    assert [type(part).__name__ for part in (parts.stt, parts.tts)] == ["OpenAISTTService", "OpenAITTSService"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"stt": "pipecat.services.openai.stt.Nothing"}, "Nothing cannot be loaded"),
        ({"stt": "pipecat.services.openai.stt.logger"}, "is no service that a pipeline can hold"),
        ({"tts_parameters": {"loudness": {}, "settings": {"vioce": "x"}}}, "cannot be made from its parameters"),
        ({"key_env": "SPEECH_TEST_KEY_THAT_IS_NOT_SET"}, "SPEECH_TEST_KEY_THAT_IS_NOT_SET is not set"),
        ({"key_env": "SECRET_KEY"}, "key_env is not usable"),
    ],
)
def test_a_service_that_cannot_be_made_says_why(
    monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], why: str
) -> None:
    monkeypatch.setenv("SPEECH_TEST_KEY", "sesame")
    with pytest.raises(Refused, match=why):
        build(told(**{**OPENAI, **change}), ignore, silent)


@pytest.mark.parametrize(("service", "is_refused"), [("tones", False), ("pipecat", True)])
def test_a_party_that_is_served_to_strangers_lends_them_no_keys(service: str, is_refused: bool) -> None:
    voice = told(**(OPENAI if service == "pipecat" else {"service": service}))
    data = {"t": "prepare", "d": {"prompt": "p", "voice": voice.model_dump(mode="json")}}
    frame = encode("client-message", data, "1")
    own = Endpoint(base_url="http://127.0.0.1:1/v1", model="m")
    if is_refused:
        with pytest.raises(Refused, match="would use keys of this process"):
            read_preparation(frame, own)
    else:
        assert read_preparation(frame, own)[0].voice == voice
