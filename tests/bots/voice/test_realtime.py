"""Voice calls in real time, spoken in tones."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bots.party.speech.tones import encode
from tests.bots.conftest import Stage
from tests.bots.endpoint import Ask, say, use
from tests.bots.voice.fake_voice import FakeVoice, fake_voice
from tests.bots.voice.sound import channels, check_turns, squeezed
from tests.bots.voice.test_lockstep import click

pytestmark = pytest.mark.realtime

SPEECH = {"service": "tones"}
TONES: dict[str, Any] = {"channel": "voice", "clock": "realtime", "voice": {"agent": SPEECH, "caller": SPEECH}}


def recording(recordings: Path) -> Path:
    return recordings / "1" / "toy_calls__sell" / "1" / "attempt1.wav"


async def test_a_call_from_greeting_to_end_tool(stage: Stage, recordings: Path) -> None:
    stage.script(
        agent=[
            say("Hello, how can I help?"),
            use(Ask("sell", {"ticket_id": "A1"})),
            say("Sold. Goodbye!", Ask("end_conversation")),
        ],
        caller=[say("Please sell me ticket A1.")],
    )
    held = await stage.hold(**TONES)
    assert held.failure is None
    turns = held.record.of("turn.ended")
    said = ["Hello, how can I help?", "Please sell me ticket A1.", "Sold. Goodbye!"]
    assert [turn["said"] for turn in turns] == said
    assert [squeezed(turn["heard"]) for turn in turns[:-1]] == list(map(squeezed, said[:-1]))
    assert turns[-1]["heard"] is None
    assert held.end["reason"] == "end_tool"
    check_turns(recording(recordings), turns)
    left, _ = channels(recording(recordings))
    assert abs(len(left) / 16 - held.end["duration_ms"]) <= 1
    # The caller's and the agent's answers; the greeting answers nobody's speech.
    measured = held.record.of("latency.measured")
    assert [row["turn"] for row in measured] == [2, 3]
    for row in measured:
        assert abs(sum(row["parts"].values()) - row["response_ms"]) < 0.5
        assert row["response_ms"] >= 800
        assert {"endpointing", "stt", "model", "tts", "transport"} <= row["parts"].keys()
    assert "audio ticks came over 20 ms late" in held.record.notes()


async def test_an_agent_that_is_interrupted_stops_and_the_record_says_how_far_it_came(
    stage: Stage, recordings: Path
) -> None:
    long_speech = "Let me tell you all about our tickets. " * 12
    cut_in = "Stop, please."

    stage.script(agent=[say(long_speech), say("Of course. Goodbye!", Ask("end_conversation"))], caller=[])
    voice = {"agent": SPEECH, "caller": SPEECH, "interruptions": True}
    async with fake_voice(_silent, on_sound=lambda party: _cut_in(party, cut_in)) as address:
        stage.caller = {"address": address, "model": ""}
        held = await stage.hold(**{**TONES, "voice": voice})
    assert held.failure is None
    first, *_ = held.record.of("turn.ended", "agent")
    assert first["interrupted"] is True
    assert len(first["said"]) < len(long_speech) / 2
    assert ("agent", "Of course. Goodbye!") in held.record.said()
    (heard,) = [turn["heard"] for turn in held.record.of("turn.ended", "user")]
    assert squeezed(heard) == squeezed(cut_in)
    check_turns(recording(recordings), held.record.of("turn.ended"))


async def test_a_side_that_hears_no_speech_is_told_so(stage: Stage) -> None:
    stage.script(agent=[say("Hello!"), say("Pardon? Goodbye!", Ask("end_conversation"))], caller=[])
    async with fake_voice(click) as address:
        stage.caller = {"address": address, "model": ""}
        held = await stage.hold(**TONES, limits={"silence_s": 4})
    assert held.failure is None
    assert "was perhaps not heard as speech" in held.record.notes()
    assert held.end["reason"] == "end_tool"


async def _silent(party: FakeVoice, text: str) -> None:
    pass


async def _cut_in(party: FakeVoice, words: str) -> None:
    await asyncio.sleep(1)
    await party.speak(encode(words))
    await party.complete(words)
