"""Models are loaded once a process, however many calls begin at once."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from bots.party.speech import choice, piper, whisper
from scenarios.voice import VoiceConfig

faster_whisper = pytest.importorskip("faster_whisper")
piper_package = pytest.importorskip("piper")


@pytest.fixture
def loads(monkeypatch: Any) -> Iterator[Counter[str]]:
    """Count what is loaded in place of the models, each slowly enough for the others to come too early."""
    counted: Counter[str] = Counter()

    def counting(name: str) -> Any:
        def load(*_: Any, **__: Any) -> object:
            counted[name] += 1
            time.sleep(0.05)
            return object()

        return load

    monkeypatch.setattr(faster_whisper, "WhisperModel", counting("whisper"))
    monkeypatch.setattr(piper_package, "PiperVoice", counting("piper"))
    for module in (whisper, piper):
        module._model.cache_clear()
    yield counted
    for module in (whisper, piper):
        module._model.cache_clear()


async def test_eight_calls_that_begin_at_once_share_one_model_of_each_kind(loads: Counter[str]) -> None:
    told = VoiceConfig().of("agent", "realtime")
    vads = await asyncio.gather(*(choice.warm(told) for _ in range(8)))
    assert loads == {"whisper": 1, "piper": 1}
    # What listens for speech keeps the state of its own call.
    assert len({id(vad) for vad in vads}) == 8
    await choice.warm(told)
    assert loads == {"whisper": 1, "piper": 1}
