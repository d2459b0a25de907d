"""Parties that break on the voice channel: their failure, with everything until then kept."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from bots.bridge.wire import MAX_FRAME_BYTES
from bots.party.speech.tones import encode
from tests.bots.conftest import Held, Stage
from tests.bots.endpoint import say
from tests.bots.theirs_stage import Result, spec_of
from tests.bots.voice.fake_voice import FakeVoice, fake_voice
from tests.bots.voice.sound import channels, check_turns, sounding_ms

WORDS = "I would like to buy a ticket."


async def hold(
    stage: Stage, caller: Callable[[FakeVoice, str], Awaitable[None]], clock: str = "lockstep", **config: Any
) -> Held:
    """Hold a call of a built-in agent, which greets, with a caller that breaks."""
    stage.script(agent=[say("Hello, how can I help?"), say("Which one?")], caller=[])
    async with fake_voice(caller) as address:
        stage.caller = {"address": address, "model": ""}
        speech = {"service": "tones"}
        return await stage.hold(channel="voice", clock=clock, voice={"agent": speech, "caller": speech}, **config)


def outcome(held: Held) -> str:
    """Return what the call counts as."""
    return Result(held.record, spec=spec_of("toy_calls", "toy_calls__sell")).scored().decision.outcome


async def garbage(party: FakeVoice, text: str) -> None:
    await party.socket.send(b"\xff\xfe\xfd this is no frame")


async def text_frame(party: FakeVoice, text: str) -> None:
    await party.socket.send("hello")


async def no_rate(party: FakeVoice, text: str) -> None:
    await party.speak(encode(WORDS), rate=0)


async def absurd_rate(party: FakeVoice, text: str) -> None:
    await party.speak(encode(WORDS), rate=1_000_000)


async def half_a_sample(party: FakeVoice, text: str) -> None:
    await party.speak(b"\1\2\3")


async def huge_frame(party: FakeVoice, text: str) -> None:
    await party.speak(bytes(2 * MAX_FRAME_BYTES), piece=2 * MAX_FRAME_BYTES)


async def closes_in_the_middle(party: FakeVoice, text: str) -> None:
    speech = encode(WORDS)
    await party.speak(speech[: len(speech) // 2])
    await party.socket.close()


async def never_speaks(party: FakeVoice, text: str) -> None:
    pass


async def speaks_without_end(party: FakeVoice, text: str) -> None:
    minute = encode("la " * 1000) * 12
    while True:
        await party.speak(minute, piece=MAX_FRAME_BYTES // 2)


@pytest.mark.parametrize(
    ("caller", "kind", "clock"),
    [
        (garbage, "bad_frame", "lockstep"),
        (text_frame, "bad_frame", "lockstep"),
        (no_rate, "bad_audio", "lockstep"),
        (absurd_rate, "bad_audio", "realtime"),
        (half_a_sample, "bad_audio", "lockstep"),
        (huge_frame, "party_frame_too_large", "lockstep"),
        (closes_in_the_middle, "party_gone", "lockstep"),
        (closes_in_the_middle, "party_gone", "realtime"),
        (never_speaks, "caller_silent", "lockstep"),
        (never_speaks, "caller_silent", "realtime"),
        (speaks_without_end, "endless_speech", "lockstep"),
        (speaks_without_end, "endless_speech", "realtime"),
    ],
)
async def test_a_broken_party_fails_and_the_record_is_kept(
    stage: Stage, recordings: Path, caller: Callable[[FakeVoice, str], Awaitable[None]], kind: str, clock: str
) -> None:
    held = await hold(stage, caller, clock, limits={"silence_s": 4})
    assert held.failure is not None
    assert (held.failure.kind, held.failure.side) == (kind, "user")
    assert held.end["reason"] == "party_failed"
    assert outcome(held) == "infra_error"
    assert ("agent", "Hello, how can I help?") in held.record.said()
    agents = [turn for turn in held.record.of("turn.ended") if turn["side"] == "agent"]
    recording = recordings / "1" / "toy_calls__sell" / "1" / "attempt1.wav"
    _, right = channels(recording)
    begins, ends = sounding_ms(right, 0, agents[0]["ended_ms"] + 200)
    assert abs(begins - agents[0]["started_ms"]) < 200
    assert abs(ends - agents[0]["ended_ms"]) < 200
    assert recording.with_name("attempt1.peaks.json").is_file()


async def test_half_a_turn_is_in_the_recording(stage: Stage, recordings: Path) -> None:
    await hold(stage, closes_in_the_middle)
    left, _ = channels(recordings / "1" / "toy_calls__sell" / "1" / "attempt1.wav")
    begins, ends = sounding_ms(left, 0, 60_000)
    assert abs(ends - begins - len(encode(WORDS)) / 32 / 2) < 250


@pytest.mark.parametrize("clock", ["lockstep", "realtime"])
async def test_an_agent_that_never_says_a_word_is_a_broken_bot(stage: Stage, clock: str) -> None:
    stage.script(agent=[], caller=[say("Hi.")])
    async with fake_voice(never_speaks) as address:
        stage.agent = {"address": address, "model": ""}
        speech = {"service": "tones"}
        voice = {"agent": speech, "caller": speech}
        held = await stage.hold(channel="voice", clock=clock, voice=voice, limits={"silence_s": 2})
    assert held.failure is not None
    assert (held.failure.kind, held.failure.side) == ("never_spoke", "agent")
    assert outcome(held) == "infra_error"


async def test_a_disk_that_is_full_costs_the_recording_and_not_the_call(stage: Stage, monkeypatch: Any) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("bots.bridge.audio.wav.StereoWav.write", full)

    async def caller(party: FakeVoice, text: str) -> None:
        await party.speak(encode(WORDS))
        await party.complete(WORDS)

    held = await hold(stage, caller, limits={"max_turns": 4})
    assert held.failure is None
    assert held.end["reason"] == "turn_limit"
    assert "not recorded to its end: No space left on device" in held.record.notes()


async def test_a_speech_service_that_is_missing_is_named(stage: Stage) -> None:
    stage.script(agent=[say("Hello!")], caller=[say("Hi.")])
    missing = {"service": "pipecat", "stt": "pipecat.services.nobody.stt.NobodySTT", "tts": "pipecat.services.x.tts.Y"}
    held = await stage.hold(channel="voice", voice={"agent": missing, "caller": {"service": "tones"}})
    assert held.failure is not None
    assert (held.failure.kind, held.failure.retry) == ("speech_unavailable", False)
    assert "pipecat.services.nobody.stt.NobodySTT cannot be loaded" in str(held.failure)


async def test_a_speech_service_that_is_down(stage: Stage) -> None:
    stage.script(agent=[say("Hello!")], caller=[say("Hi.")])
    down = {"service": "hosted", "base_url": "http://127.0.0.1:9/v1", "stt_model": "ears", "tts_model": "mouth"}
    held = await stage.hold(channel="voice", voice={"agent": down, "caller": {"service": "tones"}})
    assert held.failure is not None
    assert (held.failure.kind, held.failure.retry, held.failure.side) == ("tts_unreachable", True, "agent")
    assert "http://127.0.0.1:9/v1" in str(held.failure)
    assert outcome(held) == "infra_error"


async def test_turns_heard_by_voice_are_where_the_record_says_though_the_party_died(
    stage: Stage, recordings: Path
) -> None:
    turns = 0

    async def caller(party: FakeVoice, text: str) -> None:
        nonlocal turns
        turns += 1
        if turns == 2:
            await party.socket.close()
            return
        await party.tell("heard", text=party.take_heard())
        await party.speak(encode(WORDS))
        await party.complete(WORDS)

    held = await hold(stage, caller)
    assert held.failure is not None
    ended = held.record.of("turn.ended")
    assert [(turn["side"], turn["heard"]) for turn in ended] == [
        ("agent", "Hello, how can I help?"),
        ("user", WORDS),
        ("agent", None),
    ]
    check_turns(recordings / "1" / "toy_calls__sell" / "1" / "attempt1.wav", ended)
