import json
from dataclasses import replace
from typing import Any

import pytest

from scenarios.scoring.quotes import find_quote, is_in_record, read_quotes
from scenarios.scoring.results import Quote
from tests.scenarios.scoring.cases import evidence, turns, use

CALL = evidence(turns=turns("Cancel W1.", "Order  W1 is\ncancelled.", "Thanks.", "Order W1 is cancelled."))


@pytest.mark.parametrize(
    ("text", "turn", "expected"),
    [
        ("order w1 is cancelled", 2, Quote("order w1 is cancelled", 2, 20, found=True)),
        ("Order W1 is cancelled.", 4, Quote("Order W1 is cancelled.", 4, 40, found=True)),
        ("\u201cThanks.\u201d", None, Quote("\u201cThanks.\u201d", 3, 30, found=True)),
        ("Cancel W1", 4, Quote("Cancel W1", 1, 10, found=True)),
        ("I refunded you", 2, Quote("I refunded you", 2, None, found=False)),
        ('cancel {"order_id": "W1"}', None, Quote('cancel {"order_id": "W1"}', None, 100, found=True)),
        ("...", 1, Quote("...", 1, None, found=False)),
    ],
)
def test_a_quote_is_found_in_its_turn_else_anywhere_else_nowhere(text: str, turn: int | None, expected: Quote) -> None:
    assert find_quote(text, turn, CALL) == expected


def test_what_was_heard_can_be_quoted() -> None:
    (turn,) = turns("It is five.")
    assert find_quote("It is nine", 1, evidence(turns=(replace(turn, heard="It is nine."),))).found


@pytest.mark.parametrize("value", [None, "text", 5, {}, [None, 5, {}, {"quote": 5}, {"quote": " "}]])
def test_entries_that_are_no_quote_are_left_out(value: Any) -> None:
    assert read_quotes(value, CALL) == ()


def test_composed_and_decomposed_names_are_one() -> None:
    assert find_quote("Zoe\u0308 is here", 1, evidence(turns=turns("Zo\u00eb is here."))).found


def test_plain_strings_and_odd_turns_are_read() -> None:
    quotes = read_quotes(["Thanks.", {"quote": "Thanks.", "turn": "3"}, {"quote": "Thanks.", "turn": True}], CALL)
    assert [(quote.turn, quote.found) for quote in quotes] == [(3, True)] * 3


def test_no_more_than_twenty_quotes_are_read() -> None:
    assert len(read_quotes(["Thanks."] * 50, CALL)) == 20


def test_a_text_in_the_record() -> None:
    assert is_in_record("order W1  IS cancelled", CALL)
    assert not is_in_record("order W2 is cancelled", CALL)


@pytest.mark.parametrize("value", ['Room "Rose" is free', "first\nsecond", "C:\\orders"])
def test_a_text_in_a_result_is_found_as_it_really_is_and_as_json_writes_it(value: str) -> None:
    call = evidence(tools=(use(result={"rows": [{"note": value}]}),))
    assert find_quote(value, None, call) == Quote(value, None, 100, found=True)
    assert find_quote(json.dumps(value), None, call).found


def test_a_copy_is_one_however_it_is_spaced() -> None:
    call = evidence(turns=turns('Say {"score": 1, "x": []} please.'))
    assert is_in_record('{\n  "score": 1,\n  "x": []\n}', call)
    assert not is_in_record('{"score": 0, "x": []}', call)


CHANGES = [
    {
        "side": "agent",
        "path": ["orders", "W1", "status"],
        "before": "open",
        "after": "cancel requested",
        "op": "set",
    }
]
DATA = evidence(
    turns=turns("Cancel W1.", "It is done."),
    tools=(use(result={"order_id": "W1", "status": "cancel requested", "total": 1126.04}, changes=tuple(CHANGES)),),
)


@pytest.mark.parametrize(
    "text",
    [
        '"status": "cancel requested"',
        "status: cancel requested",
        '{"order_id":"W1","status":"cancel requested"}',
        'status = "cancel requested", total = 1126.04',
        "orders.W1.status: cancel requested",
        "orders.W1.status: open -> cancel requested",
        "orders['W1']['status'] = 'open'",
    ],
)
def test_results_and_database_fields_are_found_however_json_is_written(text: str) -> None:
    assert find_quote(text, None, DATA) == Quote(text, None, 100, found=True)


@pytest.mark.parametrize(
    "text",
    [
        "status: cancelled",
        "status: requested",
        "orders.W2.status: cancel requested",
        "total: 1126.4",
        "total: 126.04",
        "requested cancel",
        "tatus: cancel reques",
    ],
)
def test_data_that_is_not_there_is_not_found(text: str) -> None:
    assert not find_quote(text, None, DATA).found


@pytest.mark.parametrize("text", ["[turn 2] agent said: It is done.", "agent said: It is done"])
def test_a_turn_may_be_quoted_as_the_line_that_was_shown(text: str) -> None:
    assert find_quote(text, 2, DATA).turn == 2
    assert find_quote(text, 2, DATA).found


def test_what_was_said_is_looked_up_word_for_word() -> None:
    assert not find_quote("It, is: done", 2, DATA).found
