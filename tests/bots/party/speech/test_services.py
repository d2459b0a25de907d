"""Engines that take their time say so, since a bridge takes a party that says nothing for silent."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pipecat.frames.frames import TranscriptionFrame, TTSAudioRawFrame

from bots.party import patience
from bots.party.speech.services import EngineSTT, EngineTTS


class Slow:
    """An engine that needs five times as long as it may be quiet."""

    async def transcribe(self, pcm: bytes) -> str:
        await asyncio.sleep(0.25)
        return "late words"

    async def speak(self, text: str) -> AsyncIterator[bytes]:
        yield b"\1\0"
        await asyncio.sleep(0.25)
        yield b"\2\0"


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(patience, "STILL_WORKING_S", 0.05)
    return []


async def fail(failure: Any) -> None:
    raise failure


async def test_recognition(told: list[str]) -> None:
    async def tell() -> None:
        told.append("working")

    stt = EngineSTT(Slow(), fail, tell)
    (frame,) = [frame async for frame in stt.run_stt(b"\0\0")]
    assert isinstance(frame, TranscriptionFrame)
    assert frame.text == "late words"
    assert set(told) == {"working"}


async def test_synthesis(told: list[str]) -> None:
    async def tell() -> None:
        told.append("working")

    tts = EngineTTS(Slow(), fail, tell)
    frames = [frame async for frame in tts.run_tts("late words", "a")]
    assert [frame.audio for frame in frames if isinstance(frame, TTSAudioRawFrame)] == [b"\1\0", b"\2\0"]
    assert set(told) == {"working"}
