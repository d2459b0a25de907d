"""Voice calls on the virtual clock, spoken in tones."""

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bots.bridge.audio import lockstep
from bots.bridge.audio.pcm import silence
from bots.bridge.contract import Stop
from bots.party.speech.tones import encode
from tests.bots.conftest import Stage
from tests.bots.endpoint import Ask, say, use
from tests.bots.voice.fake_voice import FakeVoice, fake_voice
from tests.bots.voice.sound import channels, check_turns

TONES: dict[str, Any] = {
    "channel": "voice",
    "clock": "lockstep",
    "voice": {"agent": {"service": "tones"}, "caller": {"service": "tones"}},
}
SALE = [
    say("Hello, how can I help?"),
    use(Ask("look_up", {"ticket_id": "A1"})),
    say("It is free. Shall I sell it to you?"),
    use(Ask("sell", {"ticket_id": "A1"})),
    say("Sold. Goodbye!", Ask("end_conversation")),
]
BUYER = [say("Is ticket A1 free?"), say("Yes, please.")]


async def click(party: FakeVoice, text: str) -> None:
    """Say something that is too short for any voice detection."""
    await party.speak(silence(0.05) + b"\0\x20" * 160)
    await party.complete("K.")


async def test_a_call_from_greeting_to_end_tool(stage: Stage, recordings: Path) -> None:
    stage.script(agent=SALE, caller=BUYER)
    held = await stage.hold(**TONES)
    assert held.failure is None
    turns = held.record.of("turn.ended")
    said = [
        ("agent", "Hello, how can I help?"),
        ("user", "Is ticket A1 free?"),
        ("agent", "It is free. Shall I sell it to you?"),
        ("user", "Yes, please."),
        ("agent", "Sold. Goodbye!"),
    ]
    assert [(turn["side"], turn["said"]) for turn in turns] == said
    # The last words are in the recording, but nobody was left to hear them.
    assert [turn["heard"] for turn in turns] == [text for _, text in said[:-1]] + [None]
    assert (held.end["reason"], held.end["by"]) == ("end_tool", "agent")
    assert held.evidence is not None
    assert [action["name"] for action in held.evidence.actions] == ["sell"]
    check_turns(recordings / "1" / "toy_calls__sell" / "1" / "attempt1.wav", turns)


async def test_events_stand_on_the_time_of_the_recording(stage: Stage, recordings: Path) -> None:
    stage.script(agent=SALE, caller=BUYER)
    held = await stage.hold(**TONES)
    events = held.record.events
    times = [event.at_ms for event in events if event.seq > held.record.kinds().index("call.started")]
    assert times == sorted(times)
    left, _ = channels(recordings / "1" / "toy_calls__sell" / "1" / "attempt1.wav")
    assert abs(len(left) / 16 - held.end["duration_ms"]) <= 1
    # A tool is called between what the caller asked and what the agent answers.
    (asked, answered) = (turn for turn in held.record.of("turn.ended") if turn["turn"] in (2, 3))
    call = next(event for event in events if event.kind == "tool.called")
    assert asked["ended_ms"] <= call.at_ms <= answered["started_ms"]


async def test_the_outline_is_stored_beside_the_recording(stage: Stage, recordings: Path) -> None:
    stage.script(agent=SALE, caller=BUYER)
    held = await stage.hold(**TONES)
    outline = json.loads((recordings / "1" / "toy_calls__sell" / "1" / "attempt1.peaks.json").read_text())
    assert abs(outline["length"] * 50 - held.end["duration_ms"]) < 50
    (first, *_) = held.record.of("turn.ended")
    point = (first["started_ms"] + first["ended_ms"]) // 2 // 50
    low_left, high_left, low_right, high_right = outline["data"][point * 4 : point * 4 + 4]
    assert (low_left, high_left) == (0, 0)
    assert low_right < -20
    assert high_right > 20


async def test_response_times_are_split_into_parts_that_sum_up(stage: Stage) -> None:
    stage.script(agent=SALE, caller=BUYER)
    held = await stage.hold(**TONES)
    measured = held.record.of("latency.measured")
    assert [row["turn"] for row in measured] == [1, 2, 3, 4, 5]
    for row in measured:
        assert abs(sum(row["parts"].values()) - row["response_ms"]) < 0.5
    for row in measured[1:]:  # the first turn answers a text
        assert {"endpointing", "stt", "model", "tts", "residual"} <= row["parts"].keys()
        assert row["parts"]["endpointing"] >= 800  # the silence that was waited for, though nobody waited
    assert "tools" in measured[2]["parts"]


async def test_a_hang_up_keeps_the_recording(stage: Stage, recordings: Path) -> None:
    stop = Stop()

    async def hang_up_then_hear(party: FakeVoice, text: str) -> None:
        stop.request("hang_up", "ann")

    stage.script(agent=SALE, caller=[])
    async with fake_voice(hang_up_then_hear) as address:
        stage.caller = {"address": address, "model": ""}
        held = await stage.hold(stop, **TONES)
    assert held.end["reason"] == "hang_up"
    check_turns(recordings / "1" / "toy_calls__sell" / "1" / "attempt1.wav", held.record.of("turn.ended"))


async def test_a_turn_without_sound_is_told_in_writing(stage: Stage) -> None:
    told: list[str] = []

    async def caller(party: FakeVoice, text: str) -> None:
        told.append(text or party.take_heard())
        await party.speak(encode("Is it free?"))
        await party.complete("Is it free?")

    stage.script(agent=[say("Hello!"), say(" "), say("Sold. Goodbye!", Ask("end_conversation"))], caller=[])
    async with fake_voice(caller) as address:
        stage.caller = {"address": address, "model": ""}
        held = await stage.hold(**TONES)
    assert held.failure is None
    assert told == ["Hello!", "(silence)"]
    assert "a blank turn of the agent" in held.record.notes()


async def test_speech_at_another_rate_is_resampled(stage: Stage, recordings: Path) -> None:
    async def caller(party: FakeVoice, text: str) -> None:
        await party.speak((b"\0\x20" * 24 + b"\0\xe0" * 24) * 500, rate=24_000)  # a second of 500 Hz
        await party.complete("Buzz.")

    stage.script(agent=[say("Hello!"), say("Goodbye!", Ask("end_conversation"))], caller=[])
    async with fake_voice(caller) as address:
        stage.caller = {"address": address, "model": ""}
        held = await stage.hold(**TONES, limits={"silence_s": 2})  # a buzz says nothing
    assert held.failure is None
    turn = next(turn for turn in held.record.of("turn.ended") if turn["side"] == "user")
    assert abs(turn["ended_ms"] - turn["started_ms"] - 1000) < 50
    left, _ = channels(recordings / "1" / "toy_calls__sell" / "1" / "attempt1.wav")
    buzz = left[turn["started_ms"] * 16 :][:16_000]
    assert abs(np.count_nonzero(np.diff(buzz >= 0)) - 1000) < 20  # 500 Hz crosses zero 1000 times a second


async def test_speech_that_comes_slowly_is_no_silence(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockstep, "STILL_SPEAKING_S", 0.1)

    async def caller(party: FakeVoice, text: str) -> None:
        speech = encode("I want a ticket.")
        for start in range(0, len(speech), len(speech) // 20):
            await party.speak(speech[start : start + len(speech) // 20])
            await asyncio.sleep(0.2)
        await party.complete("I want a ticket.")

    stage.script(agent=[say("Hello!"), say("Goodbye!", Ask("end_conversation"))], caller=[])
    async with fake_voice(caller) as address:
        stage.caller = {"address": address, "model": ""}
        held = await stage.hold(**TONES, limits={"silence_s": 3})
    assert held.failure is None
    assert ("user", "I want a ticket.") in held.record.said()
    assert held.end["reason"] == "end_tool"


async def test_a_turn_of_a_minute_and_a_half_is_heard_whole(stage: Stage, recordings: Path) -> None:
    story = " ".join(f"And then, {number} days later, I called again." for number in range(200))
    stage.script(agent=[say("Hello!"), say("I see. Goodbye!", Ask("end_conversation"))], caller=[say(story)])
    held = await stage.hold(**TONES, limits={"max_duration_s": 300})
    assert held.failure is None
    (turn,) = held.record.of("turn.ended", "user")
    assert turn["ended_ms"] - turn["started_ms"] > 90_000
    assert turn["heard"].split() == story.split()
    check_turns(recordings / "1" / "toy_calls__sell" / "1" / "attempt1.wav", held.record.of("turn.ended"))


async def test_time_is_what_was_spoken_not_what_was_waited(stage: Stage) -> None:
    story = "La " * 2500
    stage.script(agent=[say("Hello!"), say("Go on.")], caller=[say(story)])
    held = await stage.hold(**TONES)  # the scenario's limit is 60 s
    assert held.failure is None
    assert held.end["reason"] == "time_limit"
    assert "limit 60 s, measured 7" in held.end["message"]


async def test_what_is_understood_late_belongs_to_the_turn_that_was_spoken(stage: Stage) -> None:
    async def caller(party: FakeVoice, text: str) -> None:
        await party.tell("heard", text="Hello, how")
        await party.tell("heard", text="can I help?")
        await party.speak(encode("Not at all."))
        await party.complete("Not at all.")

    stage.script(agent=[say("Hello, how can I help?"), say("Goodbye!", Ask("end_conversation"))], caller=[])
    async with fake_voice(caller) as address:
        stage.caller = {"address": address, "model": ""}
        held = await stage.hold(**TONES)
    assert held.evidence is not None
    assert [turn.heard for turn in held.evidence.turns if turn.side == "agent"] == ["Hello, how can I help?", None]


async def test_a_side_that_hears_no_speech_is_told_so(stage: Stage, monkeypatch: Any) -> None:
    monkeypatch.setattr("bots.bridge.audio.lockstep.NUDGE_S", 0.3)

    stage.script(agent=[say("Hello!"), say("Pardon? Goodbye!", Ask("end_conversation"))], caller=[])
    async with fake_voice(click) as address:
        stage.caller = {"address": address, "model": ""}
        held = await stage.hold(**TONES)
    assert held.failure is None
    assert "was not heard as speech" in held.record.notes()
    assert [turn["heard"] for turn in held.record.of("turn.ended", "user")] == [""]
