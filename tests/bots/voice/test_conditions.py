"""Acoustics and behaviour in calls: what the agent hears is what is recorded; who is cut into stops."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bots.bridge.audio.pcm import silence
from bots.party.speech.tones import encode
from bots.party.speech_behaviour import CUT_INS
from tests.bots.conftest import Held, Stage
from tests.bots.endpoint import Ask, say
from tests.bots.voice.fake_voice import FakeVoice, fake_voice
from tests.bots.voice.sound import channels, sounding_ms

TONES = {"service": "tones"}
WORDS = "I would like to buy a ticket."
LONG = "Let me tell you all about our tickets. " * 12


def recording(recordings: Path) -> Path:
    return recordings / "1" / "toy_calls__sell" / "1" / "attempt1.wav"


async def over_a_line(stage: Stage, clock: str, line: dict[str, Any]) -> tuple[Held, list[bytes]]:
    """Hold a call of a built-in caller with an agent that notes what it hears; return that by turn."""
    heard: list[bytes] = []

    async def agent(party: FakeVoice, text: str) -> None:
        if not text:
            heard.append(bytes(party.heard))
        await party.speak(encode("Hello." if text else "Goodbye."))
        await party.complete("Hello." if text else "Goodbye.")

    stage.script(agent=[], caller=[say(WORDS)])
    async with fake_voice(agent) as address:
        stage.agent = {"address": address, "model": ""}
        # The agent's speech is its own affair; tones would be refused for a line that is not clean.
        voice = {"agent": {"service": "local"}, "caller": TONES, "conditions": {"line": line}}
        held = await stage.hold(channel="voice", clock=clock, voice=voice, limits={"max_turns": 3})
    return held, heard


@pytest.mark.parametrize("clock", ["lockstep", pytest.param("realtime", marks=pytest.mark.realtime)])
async def test_the_agent_hears_the_line_and_the_recording_holds_what_it_heard(
    stage: Stage, recordings: Path, clock: str
) -> None:
    held, (heard, *_) = await over_a_line(stage, clock, {"telephone": True, "loss_rate": 0.2})
    assert held.failure is None, held.failure
    assert "a line that is: telephone band, 20.0% of packets lost" in held.record.notes()
    left, right = channels(recording(recordings))
    sound = heard.rstrip(b"\0")
    assert left.tobytes().find(sound[: len(sound) // 2 * 2]) % 2 == 0
    assert encode(WORDS) not in left.tobytes()
    # The other direction is clean.
    assert encode("Hello.") in right.tobytes()
    (asked,) = held.record.of("turn.ended", "user")
    longer_ms = asked["ended_ms"] - asked["started_ms"] - len(encode(WORDS)) / 32
    assert longer_ms > -50
    if clock == "lockstep" or "; 0 gaps in speech" in held.record.notes():  # on a busy machine speech has gaps
        assert longer_ms < 50


async def test_the_same_trial_meets_the_same_line_and_another_one_does_not(stage: Stage) -> None:
    line = {"telephone": True, "loss_rate": 0.2}
    _, (first, *_) = await over_a_line(stage, "lockstep", line)
    _, (again, *_) = await over_a_line(stage, "lockstep", line)
    _, (clean, *_) = await over_a_line(stage, "lockstep", {"telephone": True})
    assert first == again != clean


async def test_noise_is_there_in_the_silence_that_the_agent_hears(stage: Stage, recordings: Path) -> None:
    speech = {"agent": {"service": "local"}, "caller": TONES}
    voice = {**speech, "conditions": {"line": {"noise": "pink", "snr_db": 20}}}

    async def agent(party: FakeVoice, text: str) -> None:
        await party.speak(encode("Hello."))
        await party.complete("Hello.")

    stage.script(agent=[], caller=[say(WORDS)])
    async with fake_voice(agent) as address:
        stage.agent = {"address": address, "model": ""}
        held = await stage.hold(channel="voice", clock="lockstep", voice=voice, limits={"max_turns": 2})
    assert held.failure is None
    left, _ = channels(recording(recordings))
    (asked,) = held.record.of("turn.ended", "user")
    before_it = left[: (asked["started_ms"] - 20) * 16]
    assert not np.any(before_it), "the agent heard nothing while it spoke, so nothing is recorded there"
    # Speech of tones begins and ends at full loudness: noise is on top of it.
    during = left[asked["started_ms"] * 16 : asked["ended_ms"] * 16]
    clean = np.frombuffer(encode(WORDS), dtype="<i2")[: len(during)]
    assert 50 < float(np.std(during[: len(clean)].astype(float) - clean)) < 2000


async def busy(stage: Stage, **behaviour: Any) -> Held:
    stage.script(
        agent=[say(LONG), say("Goodbye!", Ask("end_conversation"))],
        caller=[say("I only want a ticket.")],
    )
    voice = {"agent": TONES, "caller": TONES, "conditions": {"behaviour": behaviour}}
    return await stage.hold(channel="voice", clock="realtime", voice=voice)


@pytest.mark.realtime
async def test_a_caller_who_cuts_in_has_a_turn_and_stops_the_agent(stage: Stage, recordings: Path) -> None:
    held = await busy(stage, interruption_chance=1, interrupt_after_s=(0.5, 0.6))
    assert held.failure is None, held.failure
    assert "the caller's cut in, 0." in held.record.notes()
    first, *_ = held.record.of("turn.ended", "agent")
    assert first["interrupted"] is True
    assert len(first["said"]) < len(LONG) / 2
    cut, *_ = held.record.of("turn.ended", "user")
    assert cut["said"].startswith(CUT_INS)
    assert cut["heard"].startswith(CUT_INS)
    assert first["started_ms"] < cut["started_ms"] < first["ended_ms"]
    assert held.end["reason"] == "end_tool"


@pytest.mark.realtime
async def test_a_backchannel_is_heard_and_is_no_turn(stage: Stage, recordings: Path) -> None:
    held = await busy(stage, backchannel_chance=1, backchannel_every_s=1)
    assert held.failure is None, held.failure
    assert "the caller's backchannel, 1." in held.record.notes()
    first, *_ = held.record.of("turn.ended", "agent")
    assert (first["said"], first["interrupted"]) == (LONG.strip(), False)
    left, _ = channels(recording(recordings))
    begins, ends = sounding_ms(left, first["started_ms"], first["ended_ms"])
    assert begins >= first["started_ms"] + 900
    assert ends > begins
    callers = held.record.of("turn.ended", "user")
    assert [turn["said"] for turn in callers] == ["I only want a ticket."]


@pytest.mark.realtime
async def test_an_agent_that_is_said_nothing_to_is_not_disturbed(stage: Stage, recordings: Path) -> None:
    held = await busy(stage)
    assert "the caller's" not in held.record.notes()
    first, *_ = held.record.of("turn.ended", "agent")
    assert first["said"] == LONG.strip()
    left, _ = channels(recording(recordings))
    assert left[: first["ended_ms"] * 16].tobytes() == silence(first["ended_ms"] / 1000)
