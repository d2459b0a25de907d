from dataclasses import replace

from scenarios.scoring.record_text import Transcript, record_lines, shorten
from tests.scenarios.scoring.cases import END, evidence, turns, use


def test_turns_and_tool_calls_come_in_the_order_of_their_events() -> None:
    call = evidence(turns=turns("Hi.", "One moment."), tools=(use(seq=15), END))
    assert [line.split("]")[0] for line in record_lines(call)] == ["[turn 1", "[tool call 1", "[turn 2", "[tool call 9"]


def test_said_and_heard_are_both_there_where_they_differ() -> None:
    first, second = turns("It is five five five.", "Thank you.")
    call = evidence(turns=(replace(first, heard="It is nine."), replace(second, heard="Thank you.")), tools=())
    assert record_lines(call) == [
        "[turn 1] user said: It is five five five. | heard: It is nine.",
        "[turn 2] agent said: Thank you.",
    ]


def test_an_interrupted_turn_says_so() -> None:
    (turn,) = turns("I was about to")
    call = evidence(turns=(replace(turn, interrupted=True, heard="I was"),), tools=())
    assert record_lines(call) == ["[turn 1] user said: I was about to [interrupted] | heard: I was"]


def test_refused_and_unanswered_calls_are_told_apart() -> None:
    refused = use(1, ok=False, result={"status": "error"}, error="order_not_pending")
    open_call = use(2, ok=None, result=None)
    lines = record_lines(evidence(turns=(), tools=(refused, open_call)))
    assert lines[0].endswith('refused (order_not_pending) -> {"status": "error"}')
    assert lines[1].endswith("no answer")


def test_blank_turns_are_left_out_and_line_breaks_flattened() -> None:
    assert record_lines(evidence(turns=turns(" \n", "a\n\nb"), tools=())) == ["[turn 2] agent said: a b"]


def test_shortening_says_how_much_is_missing() -> None:
    assert shorten("abcdef", 4) == "abcd [... 2 more characters]"
    assert shorten("abcd", 4) == "abcd"


def test_nothing_to_fit_is_nothing_to_note() -> None:
    assert Transcript.fit([], 100) == Transcript((), "")
    assert Transcript.fit(["a"], 100).note == ""
