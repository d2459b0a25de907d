"""Voice settings of a run: what is filled in, what is refused, and that older runs stay what they were."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from scenarios.launch import RunConfig
from scenarios.speech_services import speech_service, speech_services
from scenarios.voice import Speech, VoiceConfig


def config(**more: Any) -> RunConfig:
    parties = {kind: {"slug": kind, "kind": kind, "model": "m", "base_url": "http://x"} for kind in ("agent", "caller")}
    refs = [{"name": "d__1", "fingerprint": "f"}]
    return RunConfig.model_validate({"domain": "d", "scenarios": refs, "trials": 1, **parties, "judge": None, **more})


def test_a_voice_run_is_held_in_lockstep_with_local_speech_unless_it_says_more() -> None:
    made = config(channel="voice")
    assert (made.clock, made.voice) == ("lockstep", VoiceConfig())
    stored = made.stored()
    assert stored["clock"] == "lockstep"
    assert RunConfig.model_validate(json.loads(json.dumps(stored))) == made


def test_a_text_run_is_stored_as_before_there_was_voice() -> None:
    stored = config().stored()
    assert stored.keys().isdisjoint({"clock", "voice"})
    assert RunConfig.model_validate(stored).fingerprint == config().fingerprint


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"clock": "lockstep"}, "clock: only the voice channel has one"),
        ({"voice": {}}, "clock: only the voice channel has one"),
        ({"channel": "voice", "pace_s": 1}, "pace_s: speech has its own pace"),
        ({"channel": "voice", "voice": {"interruptions": True}}, "voice.interruptions: in lockstep nobody hears"),
    ],
)
def test_what_makes_no_sense_is_refused(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        config(**fields)


def test_sides_have_voices_of_their_own() -> None:
    voice = VoiceConfig()
    assert voice.of("agent", "lockstep").speech.voice == "joe"
    assert voice.of("user", "lockstep").speech.voice == "joe-high"
    own = VoiceConfig(caller=Speech(voice="joe"))
    assert own.of("user", "realtime").speech.voice == "joe"


def test_a_run_that_speaks_in_tones_is_a_rehearsal() -> None:
    assert not config(channel="voice").is_rehearsal
    assert config(channel="voice", voice={"caller": {"service": "tones"}}).is_rehearsal


@pytest.mark.parametrize(
    ("speech", "why"),
    [
        ({"voice": "anna"}, "no local voice 'anna'; there are joe, joe-high"),
        ({"service": "hosted"}, "needs a base_url, an stt_model and a tts_model"),
        ({"service": "hosted", "base_url": "ftp://x", "stt_model": "a", "tts_model": "b"}, "should match pattern"),
        ({"service": "pipecat", "stt": "os.system", "tts": "x"}, "'os.system' is no service of pipecat"),
        ({"service": "pipecat", "stt": "pipecat.services.a-b", "tts": "x"}, "is no service of pipecat"),
        ({"key_env": "sk-abc"}, "should match pattern"),
        ({"service": "shouting"}, "Input should be"),
    ],
)
def test_speech_that_cannot_be_is_refused(speech: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        Speech.model_validate(speech)


def test_services_are_named_in_a_file(settings: Any, tmp_path: Path) -> None:
    file = tmp_path / "speech.toml"
    file.write_text(
        '[nova]\nservice = "hosted"\nbase_url = "https://x/v1"\nkey_env = "KEY"\nstt_model = "a"\ntts_model = "b"\n'
    )
    settings.SPEECH_SERVICES = str(file)
    assert list(speech_services()) == ["local", "tones", "nova"]
    assert speech_service("nova").key_env == "KEY"
    with pytest.raises(ValueError, match="no speech service is called 'bell'; there are local, tones, nova"):
        speech_service("bell")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "cannot be read"),
        ("[nova", "cannot be read"),
        ('[nova]\nservice = "hosted"\n', "needs a base_url"),
        ('[nova]\nservce = "hosted"\n', "servce: Extra inputs"),
    ],
)
def test_a_file_with_a_mistake_is_named(settings: Any, tmp_path: Path, content: str | None, why: str) -> None:
    file = tmp_path / "speech.toml"
    if content is not None:
        file.write_text(content)
    settings.SPEECH_SERVICES = str(file)
    with pytest.raises(ValueError, match=why) as caught:
        speech_services()
    assert str(file) in str(caught.value)
