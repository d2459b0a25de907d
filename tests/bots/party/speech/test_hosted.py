"""Hosted speech against an endpoint in the test's own loop."""

import io
import wave
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
import pytest_asyncio
from aiohttp import web

from bots.party.speech.engines import SpeechFailed
from bots.party.speech.hosted import Hosted

SECOND = (np.sin(2 * np.pi * 500 * np.arange(24_000) / 24_000) * 8000).astype("<i2").tobytes()


class Service:
    """``/audio/speech`` and ``/audio/transcriptions``; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.status = 200
        self.base_url = ""

    async def speech(self, request: web.Request) -> web.Response:
        self.asked.append({**await request.json(), "key": request.headers["Authorization"]})
        return web.Response(status=self.status, body=SECOND)

    async def transcriptions(self, request: web.Request) -> web.Response:
        form = await request.post()
        file: Any = form["file"]
        with wave.open(io.BytesIO(file.file.read())) as sound:
            length = sound.getnframes() / sound.getframerate()
        self.asked.append({"model": form["model"], "seconds": length})
        return web.json_response({"text": " Hello there. "}, status=self.status)


@pytest_asyncio.fixture
async def service() -> AsyncIterator[Service]:
    made = Service()
    app = web.Application()
    app.router.add_post("/v1/audio/speech", made.speech)
    app.router.add_post("/v1/audio/transcriptions", made.transcriptions)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    yield made
    await runner.cleanup()


def hosted(service: Service, voice: str = "nova") -> Hosted:
    return Hosted(service.base_url, "sesame", stt_model="ears", tts_model="mouth", voice=voice)


async def test_speech_is_asked_for_and_resampled(service: Service) -> None:
    speech = b"".join([piece async for piece in hosted(service).speak("Good morning.")])
    assert abs(len(speech) / 32_000 - 1) < 0.01
    sound = np.frombuffer(speech, dtype="<i2")[800:-800]
    assert abs(np.count_nonzero(np.diff(sound >= 0)) / (len(sound) / 16_000) - 1000) < 10
    (asked,) = service.asked
    assert asked == {
        "input": "Good morning.",
        "model": "mouth",
        "voice": "nova",
        "response_format": "pcm",
        "key": "Bearer sesame",
    }


async def test_speech_is_sent_whole_and_understood(service: Service) -> None:
    assert await hosted(service).transcribe(bytes(48_000)) == "Hello there."
    assert service.asked == [{"model": "ears", "seconds": 1.5}]


@pytest.mark.parametrize(("status", "is_passing"), [(401, False), (404, False)])
async def test_a_refusal_is_named(service: Service, status: int, is_passing: bool) -> None:
    service.status = status
    with pytest.raises(SpeechFailed, match=f"answered {status}") as caught:
        await hosted(service).transcribe(bytes(3200))
    assert (caught.value.kind, caught.value.is_passing) == (f"stt_http_{status}", is_passing)
    with pytest.raises(SpeechFailed, match=service.base_url) as caught:
        _ = [piece async for piece in hosted(service).speak("Hi.")]
    assert caught.value.kind == f"tts_http_{status}"
