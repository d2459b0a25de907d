"""Odd things on the voice channel: markers in what is said, an echo on the line, a disk that is full."""

from pathlib import Path
from typing import Any

import pytest

from bots.bridge.audio.recording import Recording
from bots.bridge.wire import encode as encode_message
from bots.party.speech.tones import encode
from tests.bots.conftest import Stage
from tests.bots.endpoint import Ask, say
from tests.bots.voice.fake_voice import FakeVoice, fake_voice

TONES: dict[str, Any] = {"agent": {"service": "tones"}, "caller": {"service": "tones"}}


@pytest.mark.parametrize("clock", ["lockstep", "realtime"])
@pytest.mark.parametrize(
    "raw",
    ["Thank you, bye. ###STOP###", "<think>Done. I hang up now.</think>Thank you, bye.", "Thank you, bye.<|im_end|>"],
)
async def test_a_marker_is_not_spoken_and_ends_nothing(stage: Stage, raw: str, clock: str) -> None:
    stage.script(agent=[say("Hello!"), say("Goodbye!", Ask("end_conversation"))], caller=[say(raw)])
    held = await stage.hold(channel="voice", clock=clock, voice=TONES)
    assert held.failure is None, held.failure
    (turn,) = held.record.of("turn.ended", "user")
    assert (turn["said"], turn["heard"], turn["raw"]) == ("Thank you, bye.", "Thank you, bye.", raw)
    assert (held.end["reason"], held.end["by"]) == ("end_tool", "agent")


async def test_a_turn_of_markers_alone_is_silence_and_not_a_hang(stage: Stage) -> None:
    stage.script(
        agent=[say("Hello!"), say("Are you there? Goodbye!", Ask("end_conversation"))], caller=[say("###STOP###")]
    )
    held = await stage.hold(channel="voice", clock="lockstep", voice=TONES)
    assert held.failure is None, held.failure
    (turn,) = held.record.of("turn.ended", "user")
    assert (turn["said"], turn["raw"]) == ("", "###STOP###")
    assert "the other side hears '(silence)'" in held.record.notes()
    assert held.end["reason"] == "end_tool"


@pytest.mark.parametrize("clock", ["lockstep", "realtime"])
async def test_an_agent_that_hears_itself_ends_as_a_loop_and_not_at_the_time_limit(stage: Stage, clock: str) -> None:
    async def echo(party: FakeVoice, text: str) -> None:
        words = party.take_heard()
        await party.tell("heard", text=words)
        await party.speak(encode(words))
        await party.complete(words)

    stage.script(agent=[say("Hello there.")] * 9, caller=[])
    async with fake_voice(echo) as address:
        stage.caller = {"address": address, "model": ""}
        held = await stage.hold(channel="voice", clock=clock, voice=TONES)
    assert held.failure is None, held.failure
    assert (held.end["reason"], held.end["message"]) == ("loop", "the same exchange 3 times in a row")
    assert held.record.said().count(("user", "Hello there.")) == 3


@pytest.mark.parametrize("clock", ["lockstep", "realtime"])
async def test_answers_under_foreign_ids_and_an_unknown_tool_are_noted_and_the_call_goes_on(
    stage: Stage, clock: str
) -> None:
    async def odd(party: FakeVoice, text: str) -> None:
        await party.socket.send(encode_message("server-response", {"t": "context", "d": {"messages": [1]}}, "foreign"))
        await party.socket.send(encode_message("error-response", {"error": "No."}, "9999"))
        await party.tell("tool-call", call_id="c1", name="open_the_safe", arguments={})
        await party.speak(encode("Thank you, bye."))
        await party.complete("Thank you, bye.")

    stage.script(agent=[say("Hello!"), say("Goodbye!", Ask("end_conversation"))], caller=[])
    async with fake_voice(odd) as address:
        stage.caller = {"address": address, "model": ""}
        held = await stage.hold(channel="voice", clock=clock, voice=TONES)
    assert held.failure is None, held.failure
    assert held.end["reason"] == "end_tool"
    assert "an answer with the id 'foreign', which nobody waits for, was ignored" in held.record.notes()
    (returned,) = held.record.of("tool.returned", "user")
    assert (returned["tool"], returned["ok"]) == ("open_the_safe", False)


@pytest.mark.parametrize("clock", ["lockstep", "realtime"])
async def test_a_full_disk_costs_the_recording_only(stage: Stage, monkeypatch: Any, clock: str) -> None:
    monkeypatch.setattr(Recording, "_path", lambda _: Path("/dev/full"))
    stage.script(agent=[say("Hello!"), say("Goodbye!", Ask("end_conversation"))], caller=[say("Thank you, bye.")])
    held = await stage.hold(channel="voice", clock=clock, voice=TONES)
    assert held.failure is None, held.failure
    assert held.end["reason"] == "end_tool"
    assert held.record.said()[1] == ("user", "Thank you, bye.")
    (note,) = (note for note in held.record.of("note") if note["level"] == "error")
    assert note["text"] == "the call is not recorded to its end: No space left on device"
