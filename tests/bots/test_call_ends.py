"""All the ways a call ends."""

import asyncio
import re
from typing import Any

import pytest

from bots.call import Stop
from scenarios.events import EndReason
from tests.bots.conftest import Held, Stage
from tests.bots.endpoint import Ask, Step, say, use
from tests.bots.fake_party import FakeParty, fake_party
from tests.bots.record import ListRecord


async def hold_until_turn(stage: Stage, reason: EndReason, **config: Any) -> Held:
    """Hold a call and ask it to end after its first turn."""
    stop = Stop()
    held = asyncio.create_task(stage.hold(stop, **config))
    while not stage.endpoint.requests["caller"]:
        assert not held.done()
        await asyncio.sleep(0.01)
    stop.request(reason, "olga")
    return await held


async def test_the_same_exchange_again_and_again_is_a_loop(stage: Stage) -> None:
    stage.script([say("Hello!"), say("Anything else?")], [say("No, that is all.")])
    held = await stage.hold(limits={"repeated_turns": 3})
    assert held.end["reason"] == "loop"
    assert [said for _, said in held.record.said()].count("Anything else?") == 3


async def test_goodbyes_in_other_words_are_a_loop(stage: Stage) -> None:
    stage.script(
        [say("Hello!"), say("Goodbye!"), say("Bye bye! Have a great day."), say("Take care, bye.")],
        [say("Bye!"), say("Thank you, good bye!"), say("You too, bye!"), say("Bye.")],
    )
    held = await stage.hold(limits={"repeated_turns": 3})
    assert held.end["reason"] == "loop"


async def test_the_same_words_about_different_tool_calls_are_no_loop(stage: Stage) -> None:
    looks = [say("Done.", Ask("look_up", {"ticket_id": ticket})) for ticket in ("A1", "A2", "A3")]
    steps = [step for look in looks for step in (look, say("Next?"))]
    stage.script([say("Hello!"), *steps, say("Bye.", Ask("end_conversation"))], [say("Look one up.")])
    held = await stage.hold(limits={"repeated_turns": 2})
    assert held.end["reason"] == "end_tool"


async def test_a_party_that_says_nothing_ends_in_silence(stage: Stage) -> None:
    async def answer(party: FakeParty, turn: int, heard: str) -> None:
        await party.server_message("working")

    async with fake_party(answer) as address:
        stage.agent = {"address": address}
        stage.script([], [say("Hi.")])
        held = await stage.hold(limits={"silence_s": 0.3})
    assert (held.end["reason"], held.end["by"]) == ("silence", None)
    assert held.failure is None


async def test_blank_turns_are_recorded_and_several_in_a_row_end_the_call(stage: Stage) -> None:
    stage.script([say("Hello!"), say(" \n\n "), say("Sorry?"), say("\n")], [say("Hi."), say("Hm?"), say("Well?")])
    held = await stage.hold()
    said = held.record.said()
    assert said[:4] == [("agent", "Hello!"), ("user", "Hi."), ("agent", ""), ("user", "Hm?")]
    assert ("agent", "Sorry?") in said
    assert [text for side, text in said if side == "agent"][-3:] == ["", "", ""]
    assert held.end["reason"] == "silence"
    assert {"role": "user", "content": "(silence)"} in stage.endpoint.messages("caller")


async def test_an_agent_whose_model_says_nothing_is_silent_not_broken(stage: Stage) -> None:
    stage.script([say("Hello!"), say("")], [say(f"Are you there? {n}") for n in range(9)])
    held = await stage.hold()
    assert held.failure is None
    assert held.end["reason"] == "silence"
    assert "empty replies; asked again" in held.record.notes()


async def test_a_caller_whose_model_says_nothing_is_a_broken_party(stage: Stage) -> None:
    stage.script([say("Hello!")], [say("")])
    held = await stage.hold()
    assert held.failure is not None
    assert held.failure.kind == "caller_empty"
    assert held.end["reason"] == "party_failed"


async def test_one_empty_reply_is_asked_for_again(stage: Stage) -> None:
    stage.script([say("Hello!"), say("Bye.", Ask("end_conversation"))], [say(""), say("Hi.")])
    held = await stage.hold()
    assert ("user", "Hi.") in held.record.said()
    assert held.end["reason"] == "end_tool"


async def test_the_turn_limit(stage: Stage) -> None:
    stage.script([say(f"Agent {n}") for n in range(9)], [say(f"Caller {n}") for n in range(9)])
    held = await stage.hold(limits={"max_turns": 4})
    assert (held.end["reason"], len(held.record.said())) == ("turn_limit", 4)
    assert len(held.record.of("context.pulled")) == 2


async def test_the_time_limit_ends_a_call_in_the_middle_of_a_turn(stage: Stage) -> None:
    stage.script([say("Hello!"), Step("Late.", hang_s=5)], [say("Hi.")])
    held = await stage.hold(limits={"max_duration_s": 1})
    assert held.end["reason"] == "time_limit"
    assert held.end["duration_ms"] >= 1000
    assert "still open" in held.record.notes()


async def test_a_person_hangs_up(stage: Stage) -> None:
    stage.script([say("Hello!")], [Step("Late.", hang_s=5)])
    held = await hold_until_turn(stage, "hang_up")
    assert held.end["reason"] == "hang_up"
    assert held.record.of("call.intervened") == [{"action": "hang_up", "person": "olga"}]
    assert held.evidence is not None
    assert held.evidence.intervened_by == "olga"


@pytest.mark.parametrize("reason", ["cancelled", "site_stopping", "over_budget"])
async def test_a_call_is_called_off(stage: Stage, reason: EndReason) -> None:
    stage.script([say("Hello!")], [Step("Late.", hang_s=5)])
    held = await hold_until_turn(stage, reason)
    assert held.end["reason"] == reason
    assert held.record.of("context.pulled") == []
    assert held.record.of("call.intervened") == []


async def test_a_paced_turn_lasts_and_a_stop_cuts_the_pause_short(stage: Stage) -> None:
    stage.script([say("Hello!"), say("Bye.", Ask("end_conversation"))], [say("Hi.")])
    held = await stage.hold(pace_s=0.2)
    starts = [event.at_ms for event in held.record.events if event.kind == "turn.started"]
    ends = [event.at_ms for event in held.record.events if event.kind == "turn.ended"]
    assert all(end - start >= 195 for start, end in zip(starts, ends, strict=True))
    stage.endpoint.requests.clear()
    stop = Stop()
    record = ListRecord()
    paced = asyncio.create_task(stage.hold(stop, record, pace_s=60))
    while not record.of("turn.started"):  # its words are known, and it lasts
        assert not paced.done()
        await asyncio.sleep(0.01)
    stop.request("hang_up", "olga")
    held = await asyncio.wait_for(paced, 120)
    assert held.record.said() == [("agent", "Hello!")]
    assert held.end["reason"] == "hang_up"


async def test_a_party_that_never_finishes_after_the_end_tool_is_hung_up_on(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(party: FakeParty, turn: int, heard: str) -> None:
        await party.server_message("tool-call", call_id="c1", name="end_conversation", arguments={})

    monkeypatch.setattr("bots.bridge.conversation.LAST_WORDS_S", 0.1)
    stage.script([], [say("Hi.")])
    async with fake_party(answer) as address:
        stage.agent = {"address": address}
        held = await stage.hold()
    assert held.end["reason"] == "end_tool"
    assert "the harness hung up" in held.end["message"]


async def test_tool_calls_without_end_in_one_turn_are_a_loop(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bots.bridge.conversation.MAX_TOOL_CALLS_PER_TURN", 5)
    stage.script([say("Hello!"), use(Ask("look_up", {"ticket_id": "A1"}))], [say("Hi.")])
    held = await stage.hold()
    assert (held.end["reason"], held.end["by"]) == ("loop", "agent")
    assert len(held.record.of("tool.called")) == 5


async def test_a_limit_is_told_with_what_was_measured(stage: Stage) -> None:
    """B41, B42: which limit ended the call stands beside what it came to."""
    stage.script([say(f"Option {n}?") for n in range(9)], [say("No.")])
    held = await stage.hold(limits={"max_turns": 4})
    assert (held.end["reason"], held.end["message"]) == ("turn_limit", "limit 4 turns, measured 4")
    assert held.evidence is not None
    assert held.evidence.end_message == held.end["message"]


async def test_silence_says_who_owed_the_turn(stage: Stage) -> None:
    """B40: the reason shows whose silence it was, how long was waited and what the limit is."""

    async def answer(party: FakeParty, turn: int, heard: str) -> None:
        return

    async with fake_party(answer) as address:
        stage.agent = {"address": address}
        stage.script([], [say("Hi.")])
        held = await stage.hold(limits={"silence_s": 0.3})
    told = r"the agent owed turn 1 and gave no sign; limit 0\.3 s, measured \d+\.\d s"
    assert re.fullmatch(told, held.end["message"])


async def test_a_caller_that_gives_no_sign_is_a_broken_party_and_no_failure_of_the_agent(stage: Stage) -> None:
    """B40: the agent said what it had to; that the caller does not answer is not its fault."""

    async def answer(party: FakeParty, turn: int, heard: str) -> None:
        return

    async with fake_party(answer) as address:
        stage.caller = {"address": address}
        stage.script([say("Hello!")], [])
        held = await stage.hold(limits={"silence_s": 3})  # which the agent has, too
    assert held.failure is not None
    assert (held.failure.kind, held.failure.retry) == ("caller_silent", True)
    assert held.end["reason"] == "party_failed"
