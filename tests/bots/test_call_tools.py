"""Function calls of a party, run on the call's environment."""

from typing import Any

from tests.bots.conftest import Stage
from tests.bots.endpoint import Ask, Step, say, use
from tests.bots.fake_party import FakeParty, fake_party

GREETING = say("Hello!")
END = say("Goodbye!", Ask("end_conversation"))
ONE_LINE = [say("Ticket A1, please.")]


def tool_messages(messages: list[dict[str, Any]]) -> list[str]:
    return [message["content"] for message in messages if message["role"] == "tool"]


async def test_every_event_of_a_call_comes_in_order(stage: Stage) -> None:
    stage.script([GREETING, use(Ask("sell", {"ticket_id": "A1"})), END], ONE_LINE)
    held = await stage.hold()
    assert held.record.kinds() == [
        "party.prepared",
        "party.prepared",
        "call.started",
        "note",
        *["turn.started", "turn.ended", "latency.measured", "usage.reported"] * 2,
        *["tool.called", "tool.returned"] * 2,
        "turn.started",
        "turn.ended",
        "latency.measured",
        "usage.reported",
        "usage.reported",
        "context.pulled",
        "context.pulled",
        "call.ended",
    ]
    sold, ended = held.record.of("tool.returned")
    assert sold["ok"]
    assert sold["changes"] == [
        {"side": "agent", "path": ["tickets", "A1", "sold"], "before": False, "after": True, "op": "set"}
    ]
    assert sold["action"]["name"] == "sell"
    assert ended["ends_call"]
    assert [turn["turn"] for turn in held.record.of("turn.ended")] == [1, 2, 3]


async def test_text_and_tool_in_one_reply_are_one_turn_and_stay_in_order(stage: Stage) -> None:
    look = say("Let me look.", Ask("look_up", {"ticket_id": "A1"}))
    stage.script([GREETING, look, say("It is free."), END], [say("Is A1 free?"), say("Thanks.")])
    held = await stage.hold()
    assert ("agent", "Let me look.\nIt is free.") in held.record.said()
    (pulled,) = held.record.of("context.pulled", "agent")
    roles = [message["role"] for message in pulled["messages"]]
    assert roles == ["user", "assistant", "user", *["assistant"] * 2, "tool", "assistant", "user"] + [
        *["assistant"] * 2,
        "tool",
    ]
    assert pulled["messages"][3]["content"] == "Let me look."
    assert "IN_PROGRESS" not in str(pulled)


async def test_parallel_calls_are_run_in_the_order_asked_and_answered_once(stage: Stage) -> None:
    both = use(Ask("look_up", {"ticket_id": "A1"}), Ask("sell", {"ticket_id": "A1"}))
    stage.script([GREETING, both, say("Sold."), END], [*ONE_LINE, say("Bye then.")])
    held = await stage.hold()
    assert [call["tool"] for call in held.record.of("tool.called")] == ["look_up", "sell", "end_conversation"]
    # One inference answers the batch: greeting, batch, answer, end.
    assert len(stage.endpoint.requests["agent"]) == 4
    assert len(tool_messages(stage.endpoint.requests["agent"][2]["messages"])) == 2


async def test_a_write_and_the_end_in_one_reply_are_both_done(stage: Stage) -> None:
    last = say("Done, goodbye!", Ask("sell", {"ticket_id": "A1"}), Ask("end_conversation"))
    stage.script([GREETING, last], ONE_LINE)
    held = await stage.hold()
    assert held.end["reason"] == "end_tool"
    assert held.evidence is not None
    assert held.evidence.databases["agent"].get("tickets", "A1")["sold"]
    assert held.record.said()[-1] == ("agent", "Done, goodbye!")
    (pulled,) = held.record.of("context.pulled", "agent")
    assert "IN_PROGRESS" not in str(pulled)
    assert len(stage.endpoint.requests["agent"]) == 2


async def test_an_unknown_tool_is_answered_at_once(stage: Stage) -> None:
    stage.script([GREETING, use(Ask("open_pod_bay")), END], ONE_LINE)
    held = await stage.hold()
    unknown = held.record.of("tool.returned")[0]
    assert (unknown["ok"], unknown["error"]) == (False, "unknown_tool")
    assert "look_up" in tool_messages(stage.endpoint.messages("agent"))[0]
    assert held.end["reason"] == "end_tool"


async def test_arguments_that_are_no_json_object_are_answered_not_lost(stage: Stage) -> None:
    broken = [use(Ask("sell", '{"ticket_id": ')), use(Ask("sell", "[1]")), use(Ask("sell", '{"ticket_id": NaN}'))]
    stage.script([GREETING, *broken, END], ONE_LINE)
    held = await stage.hold()
    called = held.record.of("tool.called")[:3]
    assert [call["raw_arguments"] for call in called] == ['{"ticket_id": ', "[1]", '{"ticket_id": NaN}']
    assert all(call["arguments"] == {} for call in called)
    assert [result["ok"] for result in held.record.of("tool.returned")] == [False, False, False, True]
    assert held.evidence is not None
    assert held.evidence.actions == ()


async def test_a_refused_end_does_not_end_the_call(stage: Stage) -> None:
    refused = say("Bye.", Ask("end_conversation", {"now": True}))
    stage.script([GREETING, refused, END], ONE_LINE)
    held = await stage.hold()
    assert [result["ends_call"] for result in held.record.of("tool.returned")] == [False, True]
    assert held.record.said()[-1] == ("agent", "Bye.\nGoodbye!")


async def test_an_end_without_a_word_is_no_turn(stage: Stage) -> None:
    stage.script([GREETING, use(Ask("end_conversation"))], ONE_LINE)
    held = await stage.hold()
    assert held.end["reason"] == "end_tool"
    assert len(held.record.said()) == 2
    assert len(held.record.of("usage.reported", "agent")) == 2


async def test_a_transfer_is_a_clean_end(stage: Stage) -> None:
    stage.script([GREETING, say("One moment.", Ask("transfer"))], ONE_LINE)
    held = await stage.hold()
    assert (held.end["reason"], held.end["by"]) == ("transfer", "agent")


async def test_the_callers_tools_work_on_the_callers_side(stage: Stage) -> None:
    stage.script([GREETING, END], [use(Ask("look_up", {"ticket_id": "A2"})), say("Mine is sold, it says.")])
    held = await stage.hold()
    (returned,) = held.record.of("tool.returned", "user")
    assert returned["result"] == {"id": "A2", "sold": True}


async def test_a_runaway_result_is_stored_whole_and_shown_short(stage: Stage) -> None:
    stage.script([GREETING, use(Ask("list_all")), END], ONE_LINE)
    held = await stage.hold()
    returned = held.record.of("tool.returned")[0]
    assert len(returned["result"]) == 2000
    shown = tool_messages(stage.endpoint.messages("agent"))[0]
    assert len(shown) < 70_000
    assert "characters left out" in shown
    assert "without its middle" in held.record.notes()
    assert held.end["reason"] == "end_tool"


async def test_call_ids_that_a_server_uses_again_do_not_mix_results(stage: Stage) -> None:
    again = [use(Ask("look_up", {"ticket_id": ticket}, id="call_0")) for ticket in ("A1", "A2")]
    stage.script([GREETING, *again, END], ONE_LINE)
    await stage.hold()
    assert ["A1" in content for content in tool_messages(stage.endpoint.messages("agent"))] == [True, False]


async def test_a_reply_that_is_not_streamed_is_understood(stage: Stage) -> None:
    whole = Step("", (Ask("look_up", {"ticket_id": "A1"}), Ask("sell", {"ticket_id": "A1"})), whole=True)
    stage.script([GREETING, whole, END], ONE_LINE)
    held = await stage.hold()
    assert [call["tool"] for call in held.record.of("tool.called")] == ["look_up", "sell", "end_conversation"]


async def test_a_call_that_is_delivered_twice_is_run_once(stage: Stage) -> None:
    async def answer(party: FakeParty, turn: int, heard: str) -> None:
        if turn == 1:
            await party.complete(turn, "Hello!")
            return
        for _ in range(2):
            await party.server_message("tool-call", call_id="c1", name="sell", arguments={"ticket_id": "A1"})
        await party.server_message("tool-call", call_id="c2", name="end_conversation", arguments={})
        await party.complete(turn, "Bye!")

    stage.script([], ONE_LINE)
    async with fake_party(answer) as address:
        stage.agent = {"address": address}
        held = await stage.hold()
    assert [result["ok"] for result in held.record.of("tool.returned")] == [True, True]
    assert "was not run again" in held.record.notes()
    assert held.end["reason"] == "end_tool"


async def test_arguments_that_are_no_object_at_all_are_answered(stage: Stage) -> None:
    async def answer(party: FakeParty, turn: int, heard: str) -> None:
        await party.server_message("tool-call", call_id="c1", name="sell", arguments=["A1"])
        await party.server_message("tool-call", call_id="c2", name="end_conversation", arguments={})
        await party.complete(turn, "Bye!")

    stage.script([], ONE_LINE)
    async with fake_party(answer) as address:
        stage.agent = {"address": address}
        held = await stage.hold()
    assert held.record.of("tool.called")[0]["raw_arguments"] == "['A1']"
    assert held.record.of("tool.returned")[0]["ok"] is False
