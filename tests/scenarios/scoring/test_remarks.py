"""Marks for a reader: what they are set on, what they are not set on, and that they decide nothing."""

from typing import Any

import pytest

from scenarios import events
from scenarios.scoring.consent import asked, is_yes
from scenarios.scoring.evidence import CallRecord, read_events
from scenarios.scoring.invented import MAX_CHARS
from scenarios.scoring.numbers import identifiers
from scenarios.scoring.remarks import MAX_OF_A_KIND, Remark, remarks
from tests.scenarios.scoring.cases import CANCEL, Row, rows, said

BRIEF = "You are Ann Lee. Your order is W-4417. Your zip code is 19122. You do not know any other number."
PREPARED = events.PartyPrepared("user", "caller", "m", BRIEF, [], False)
STARTED = events.CallStarted("text")
ENDED = events.CallEnded("end_tool", "agent", 9000)


def called(call: int = 1, **arguments: Any) -> tuple[events.ToolCalled, events.ToolReturned]:
    """Return a cancellation that works."""
    return (
        events.ToolCalled("agent", call, "cancel_order", arguments or {"order_id": "W-4417"}, f"id-{call}"),
        events.ToolReturned("agent", call, "cancel_order", True, "ok", 2.0, changes=[], action=CANCEL),
    )


def record(*happened: events.Event, prompt: bool = True) -> CallRecord:
    return read_events(rows(*([PREPARED] if prompt else []), STARTED, *happened))


def marks(*happened: events.Event, kind: str, prompt: bool = True) -> list[Remark]:
    return [remark for remark in remarks(record(*happened, prompt=prompt)) if remark.kind == kind]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is A-77812.", ["77812"]),
        ("A 7 7 8 1 2", ["a77812"]),
        ("seven seven eight one two", ["77812"]),
        ("order #W2378156 and 1,093.34 dollars", ["w2378156", "1093.34"]),
        ("about 120.00", ["120"]),
        ("\uff17\uff17\uff18", ["778"]),
        ("two of the 12 shirts on the 20th at 5pm, 24/7", []),
        ("none", []),
    ],
)
def test_identifiers_are_read_however_they_are_said(text: str, found: list[str]) -> None:
    """B13: ids and numbers of some length; counts, days and times are none."""
    assert identifiers(text) == found


def test_an_order_number_that_nobody_gave_the_caller_is_marked_once() -> None:
    """B13: the persona has no such number; the agent asks for one; the persona answers A-77812."""
    talk = [said("agent", 1, "Your order number?"), said("user", 2, "A-77812."), said("user", 4, "I said A-77812.")]
    (mark,) = marks(*talk, ENDED, kind="invented")
    assert "77812" in mark.text
    assert (mark.label, mark.seq) == ("made up?", 4)


@pytest.mark.parametrize(
    "text", ["W-4417", "W 4 4 1 7", "It is w4417!", "four four one seven", "19122", "My zip: 1 9 1 2 2", "20 euros"]
)
def test_what_stands_in_the_instructions_is_not_made_up(text: str) -> None:
    """B13: however it is spelled."""
    assert marks(said("user", 1, text), ENDED, kind="invented") == []


def test_what_was_heard_or_looked_up_before_is_not_made_up() -> None:
    """B13: the agent's words, said or as they were heard, and the caller's own tools count."""
    look = (
        events.ToolCalled("user", 1, "run_speed_test", {}, "id-1"),
        events.ToolReturned("user", 1, "run_speed_test", True, {"speed": 275.5}, 2.0),
    )
    talk = [
        said("agent", 1, "Case 80123.", heard="Case 80132."),
        said("user", 2, "80123 or 80132?"),
        *look,
        said("user", 3, "It shows 275.5"),
    ]
    assert marks(*talk, ENDED, kind="invented") == []
    (early,) = marks(said("user", 1, "It shows 275.5"), *look, ENDED, kind="invented")
    assert "275.5" in early.text


def test_without_the_callers_instructions_nothing_can_be_called_made_up() -> None:
    """B13: an imported record may not have them."""
    assert marks(said("user", 1, "A-77812"), ENDED, kind="invented", prompt=False) == []


def test_a_write_in_the_turn_that_first_speaks_of_it_is_marked_with_its_turn() -> None:
    """B35: the agent cancels in the turn in which it first mentions it; nothing is decided by that."""
    talk = [said("agent", 1, "Hello."), said("user", 2, "Cancel W-4417."), *called(), said("agent", 3, "Cancelled.")]
    (mark,) = marks(*talk, ENDED, kind="unasked")
    assert mark.text == "cancel_order (call 1) was done in turn 3: no turn of the agent before it speaks of it."


def test_a_write_after_an_offer_and_a_yes_is_in_order() -> None:
    """B35: the turn numbers of offer and consent are known."""
    talk = [
        said("agent", 1, "Shall I cancel it?"),
        said("user", 2, "Yes, please."),
        *called(),
        said("agent", 3, "Done."),
    ]
    (item,) = asked(record(*talk, ENDED))
    assert (item.offer and item.offer.turn, item.consent and item.consent.turn) == (1, 2)
    assert marks(*talk, ENDED, kind="unasked") == []
    two = [*talk, *called(2), said("agent", 4, "And the other.")]
    assert marks(*two, ENDED, kind="unasked") == []


def test_an_offer_without_a_yes_is_marked_with_both_turns() -> None:
    """B35: consent stands between offer and write, or it is none."""
    talk = [
        said("user", 1, "Yes, hello."),
        said("agent", 2, "Is it about W-4417?"),
        said("user", 3, "No, wait."),
        *called(),
        said("agent", 4, "Done."),
    ]
    (mark,) = marks(*talk, ENDED, kind="unasked")
    assert "done in turn 4: spoken of in turn 2, but no plain yes" in mark.text


def test_asking_for_the_act_itself_is_consent_and_its_object_is_an_offer() -> None:
    """B35: "turn it on" is no word of a tool's name, roaming is; "please cancel it" is as good as a yes."""
    roaming = (
        events.ToolCalled("agent", 1, "enable_roaming", {"line_id": "L1"}, "id-1"),
        events.ToolReturned("agent", 1, "enable_roaming", True, "ok", 2.0, action=CANCEL),
    )
    talk = [said("agent", 1, "Shall I turn roaming on for you?"), said("user", 2, "Sure."), *roaming]
    assert marks(*talk, ENDED, kind="unasked") == []
    told = [said("agent", 1, "Roaming is off."), said("user", 2, "Sure."), *roaming]
    assert len(marks(*told, ENDED, kind="unasked")) == 1
    request = [said("agent", 1, "I can cancel it or return it."), said("user", 2, "Then please cancel it."), *called()]
    assert marks(*request, ENDED, kind="unasked") == []
    refused = [said("agent", 1, "Shall I cancel it?"), said("user", 2, "Don't cancel it."), *called()]
    assert len(marks(*refused, ENDED, kind="unasked")) == 1


def test_reads_refusals_the_callers_own_tools_and_the_end_need_no_yes() -> None:
    """B35: only what the agent wrote."""
    read = events.ToolCalled("agent", 1, "get_order", {"order_id": "W-4417"}, "id-1")
    found = events.ToolReturned("agent", 1, "get_order", True, {}, 2.0)
    refused = events.ToolReturned("agent", 2, "cancel_order", False, "no", 2.0, "not_pending")
    own = (
        events.ToolCalled("user", 3, "toggle", {}, "id-3"),
        events.ToolReturned("user", 3, "toggle", True, "on", 2.0, action=CANCEL),
    )
    assert marks(read, found, called(2)[0], refused, *own, ENDED, kind="unasked") == []


@pytest.mark.parametrize(
    ("text", "consents"),
    [
        ("Yes, please do.", True),
        ("Sure, go ahead.", True),
        ("No problem, go ahead.", True),
        ("That\u2019s right.", True),
        ("No, not yet.", False),
        ("Don't do it.", False),
        ("Okay, bye!", False),
        ("What does it cost?", False),
    ],
)
def test_a_yes_is_read_from_words(text: str, consents: bool) -> None:
    """B14, B35: plain consent."""
    assert is_yes(text) is consents


@pytest.mark.parametrize(("reason", "by"), [("end_tool", "user"), ("time_limit", None), ("turn_limit", None)])
def test_a_call_that_ends_after_a_yes_with_no_write_is_an_early_stop(reason: Any, by: Any) -> None:
    """B14: "Yes, please do" and the end in one turn leave no time for the write."""
    talk = [said("agent", 1, "Shall I cancel it?"), said("user", 2, "Yes, please do.")]
    (mark,) = marks(*talk, events.CallEnded(reason, by, 9000), kind="early_stop")
    assert (mark.seq, mark.label) == (4, "early stop")
    assert reason in mark.text


@pytest.mark.parametrize("ending", [ENDED, events.CallEnded("transfer", "agent", 9000)])
def test_an_agent_that_ends_the_call_itself_was_not_stopped_early(ending: events.CallEnded) -> None:
    """B14: what the agent does not do before it hangs up is its own."""
    talk = [said("agent", 1, "Shall I cancel it?"), said("user", 2, "Yes, please do.")]
    assert marks(*talk, ending, kind="early_stop") == []


def test_a_write_after_the_yes_or_another_last_word_is_no_early_stop() -> None:
    """B14: the agent got that turn and used it, or the caller had not agreed."""
    stop = events.CallEnded("end_tool", "user", 9000)
    agreed = said("user", 2, "Yes, please do.")
    assert marks(agreed, *called(), stop, kind="early_stop") == []
    assert marks(agreed, said("agent", 3, "Done."), stop, kind="early_stop") == []
    for last in ("No, thanks.", "Okay, thank you for all of it."):
        assert marks(said("user", 2, last), stop, kind="early_stop") == []
    assert marks(agreed, events.CallEnded("party_failed", "user", 9000), kind="early_stop") == []


def test_a_loop_of_goodbyes_is_tagged_where_it_begins() -> None:
    """B39: what is not graded is said."""
    talk = [said("agent", 1, "Done."), said("user", 2, "Bye!"), said("agent", 3, "Goodbye!")]
    (mark,) = marks(*talk, events.CallEnded("loop", None, 9000), kind="goodbyes")
    assert (mark.seq, mark.text.startswith("From turn 2 on")) == (4, True)
    assert marks(*talk, ENDED, kind="goodbyes") == []


def test_a_time_that_runs_back_is_marked_and_the_numbers_give_the_order() -> None:
    """B48: times 10.2, 9.8, 11.0 with the numbers 1, 2, 3."""
    happened = [STARTED, said("agent", 1, "a"), said("user", 2, "b"), said("agent", 3, "c"), ENDED]
    times = [0, 10_200, 9_800, 11_000, 11_000]
    moved = [Row(row.seq, at, row.kind, row.side, row.data) for row, at in zip(rows(*happened), times, strict=True)]
    (mark,) = [remark for remark in remarks(read_events(moved[::-1])) if remark.kind == "backwards"]
    assert (mark.seq, mark.label) == (3, "time runs back")
    assert "400 ms earlier" in mark.text
    assert [turn.said for turn in read_events(moved[::-1]).turns.values()] == ["a", "b", "c"]


def test_the_clock_that_starts_with_the_call_does_not_run_back() -> None:
    """B48: preparing the parties has another zero."""
    before = Row(1, 900, "note", "", {"level": "info", "text": "x", "side": None})
    started = Row(2, 0, "call.started", "", STARTED.data())
    assert read_events([before, started]).backwards == []


def test_a_call_in_order_has_nothing_to_look_at() -> None:
    talk = [
        said("user", 1, "Cancel order W-4417, please."),
        said("agent", 2, "Cancel W-4417? Please confirm."),
        said("user", 3, "Yes."),
        *called(),
        said("agent", 4, "Done. Goodbye!"),
    ]
    assert remarks(record(*talk, ENDED)) == []


def test_a_flood_of_one_kind_is_cut_and_said_so() -> None:
    """B77: any cap is stated."""
    flood = [said("user", number, f"Order {10_000 + number}.") for number in range(MAX_OF_A_KIND + 5)]
    found = marks(*flood, ENDED, kind="invented")
    assert len(found) == MAX_OF_A_KIND
    assert found[-1].text.endswith(f"There may be more of this kind; {MAX_OF_A_KIND} are listed.")
    assert "There may be more" not in found[-2].text


def test_of_a_dump_only_the_beginning_is_read() -> None:
    """B76: a page does not wait for 200 kB of somebody's words."""
    text = f"80123 {'x' * MAX_CHARS} 90123"
    (mark,) = marks(said("user", 1, text), ENDED, kind="invented")
    assert "80123" in mark.text
    assert "90123" not in mark.text
