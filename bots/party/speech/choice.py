"""What a side hears and speaks with, by the name its run chose."""

import asyncio
import importlib
from dataclasses import dataclass

from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.audio.vad.vad_analyzer import VADAnalyzer, VADParams
from pipecat.processors.frame_processor import FrameProcessor

from bots.party.preparation import Endpoint, Refused, read_key
from bots.party.speech.assets import SpeechUnavailable
from bots.party.speech.engines import Hearing, Voice
from bots.party.speech.services import EngineSTT, EngineTTS, OnFailure, OnWorking
from scenarios.voice import PartyVoice, Speech


@dataclass(frozen=True)
class SpeechParts:
    """The processors of a voice pipeline that are a matter of choice."""

    stt: FrameProcessor
    tts: FrameProcessor
    # What speaks, beside the pipeline; None for pipecat's own services.
    voice: Voice | None = None


async def warm(told: PartyVoice) -> VADAnalyzer:
    """Load what a choice needs, off the loop in which other calls are heard, and return the call's voice detection.

    Refused says what is missing.
    """
    try:
        if told.speech.service == "local":
            await asyncio.gather(*(asyncio.to_thread(load) for load in (_load_whisper, _load_piper)))
    except SpeechUnavailable as error:
        raise Refused("speech_unavailable", str(error)) from error
    except ImportError as error:
        raise Refused(
            "speech_unavailable",
            f"local speech needs the package {error.name}: install the extra with pip install 'callboard[voice]', "
            "or choose another speech service",
        ) from error
    return await asyncio.to_thread(_vad, told)


def _load_whisper() -> None:
    from bots.party.speech.whisper import shared_model

    shared_model()


def _load_piper() -> None:
    from bots.party.speech.piper import shared_model

    shared_model()


def build(told: PartyVoice, on_failure: OnFailure, on_working: OnWorking) -> SpeechParts:
    """Return the processors of a choice; Refused says what is wrong with it."""
    speech = told.speech
    if speech.service == "pipecat":
        return SpeechParts(_own_service(speech, "stt"), _own_service(speech, "tts"))
    hearing, voice = _engine(speech)
    stt, tts = EngineSTT(hearing, on_failure, on_working), EngineTTS(voice, on_failure, on_working)
    return SpeechParts(stt, tts, voice)


def _engine(speech: Speech) -> tuple[Hearing, Voice]:
    if speech.service == "tones":
        from bots.party.speech.tones import Tones

        return Tones(), Tones()
    if speech.service == "hosted":
        from bots.party.speech.hosted import Hosted

        models = {"stt_model": speech.stt_model, "tts_model": speech.tts_model, "voice": speech.voice}
        hosted = Hosted(speech.base_url, _key(speech), **models)
        return hosted, hosted
    from bots.party.speech.piper import Piper
    from bots.party.speech.whisper import Whisper

    return Whisper(), Piper(speech.voice or "joe")


def _key(speech: Speech) -> str:
    # The rules for names of keys are the model endpoint's.
    try:
        return read_key(Endpoint(base_url=speech.base_url or "http://unused", model="speech", key_env=speech.key_env))
    except ValueError as error:
        raise Refused("bad_preparation", f"the speech service's key_env is not usable: {error}") from error


def _vad(told: PartyVoice) -> VADAnalyzer:
    if told.speech.service == "tones":
        from bots.party.speech.tones import LoudnessVAD

        return LoudnessVAD(told.vad_stop_s)
    return SileroVADAnalyzer(params=VADParams(stop_secs=told.vad_stop_s))


def _own_service(speech: Speech, kind: str) -> FrameProcessor:
    """Return one of pipecat's own services, made from its dotted name."""
    dotted = speech.stt if kind == "stt" else speech.tts
    arguments = dict(speech.stt_parameters if kind == "stt" else speech.tts_parameters)
    module_name, _, class_name = dotted.rpartition(".")
    try:
        service = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError) as error:
        raise Refused(
            "speech_unavailable",
            f"{dotted} cannot be loaded ({error}): check the name, and install pipecat-ai's extra for that service",
        ) from error
    if not (isinstance(service, type) and issubclass(service, FrameProcessor)):
        raise Refused("speech_unavailable", f"{dotted} is no service that a pipeline can hold")
    if speech.key_env:
        arguments["api_key"] = _key(speech)
    try:
        if (settings := arguments.pop("settings", None)) is not None:
            arguments["settings"] = service.Settings(**settings)  # type: ignore[attr-defined]
        return service(**arguments)
    except (TypeError, ValueError) as error:
        raise Refused("speech_unavailable", f"{dotted} cannot be made from its parameters: {error}") from error
