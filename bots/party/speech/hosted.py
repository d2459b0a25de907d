"""Speech by an OpenAI-compatible endpoint: ``/audio/transcriptions`` and ``/audio/speech``."""

import io
import wave
from collections.abc import AsyncIterator
from functools import lru_cache

import numpy as np
import openai
import soxr

from bots.party.speech import RATE
from bots.party.speech.engines import SpeechFailed

# What the API sends as "pcm".
_SENT_RATE = 24_000
_PIECE_BYTES = 9_600
_TIMEOUT_S = 60.0


@lru_cache(maxsize=16)
def _client(base_url: str, key: str) -> openai.AsyncOpenAI:
    """Return one client a process for each endpoint: its connections outlive a call."""
    return openai.AsyncOpenAI(api_key=key, base_url=base_url, max_retries=2, timeout=_TIMEOUT_S)


class Hosted:
    """Hearing and voice of one endpoint."""

    def __init__(self, base_url: str, key: str, *, stt_model: str, tts_model: str, voice: str) -> None:
        self._client = _client(base_url, key)
        self._where = base_url
        self._stt_model = stt_model
        self._tts_model = tts_model
        self._voice = voice or "alloy"

    async def transcribe(self, pcm: bytes) -> str:
        """Return what was said."""
        try:
            answer = await self._client.audio.transcriptions.create(
                model=self._stt_model, file=("speech.wav", _wav(pcm)), temperature=0
            )
        except openai.OpenAIError as error:
            raise self._failure("stt", error) from error
        return answer.text.strip()

    async def speak(self, text: str) -> AsyncIterator[bytes]:
        """Yield speech as it arrives."""
        stream = soxr.ResampleStream(_SENT_RATE, RATE, 1, dtype="int16")
        speech = self._client.audio.speech.with_streaming_response
        rest = b""
        try:
            async with speech.create(
                model=self._tts_model, voice=self._voice, input=text, response_format="pcm"
            ) as answer:
                async for chunk in answer.iter_bytes(_PIECE_BYTES):
                    whole = rest + chunk
                    even = len(whole) // 2 * 2
                    rest = whole[even:]
                    yield stream.resample_chunk(np.frombuffer(whole[:even], dtype="<i2")).tobytes()
        except openai.OpenAIError as error:
            raise self._failure("tts", error) from error
        yield stream.resample_chunk(np.zeros(0, dtype="<i2"), last=True).tobytes()

    def _failure(self, what: str, error: openai.OpenAIError) -> SpeechFailed:
        if isinstance(error, openai.APIStatusError):
            is_passing = error.status_code >= 500 or error.status_code in (408, 409, 429)
            return SpeechFailed(
                f"{what}_http_{error.status_code}",
                f"the speech service at {self._where} answered {error.status_code}: {str(error)[:300]}",
                is_passing=is_passing,
            )
        return SpeechFailed(f"{what}_unreachable", f"the speech service at {self._where} cannot be reached: {error}")


def _wav(pcm: bytes) -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(pcm)
    return buffer.getvalue()
