"""What a reviewer sees of a call, read from its record alone."""

import pytest

from evalsite.review_item import Record, call_events, choices, words
from scenarios.events import AttemptFailed, StateSynced
from scenarios.models import Trial, Verdict
from tests.calls import CHANGES, Call, exchange_call
from tests.factories import make_trial

pytestmark = pytest.mark.django_db


@pytest.fixture
def trial() -> Trial:
    return exchange_call(make_trial(state="running", last_seq=0)).end().trial


def test_the_last_attempt_alone_counts(trial: Trial) -> None:
    again = make_trial(trial.run, number=2, state="running", last_seq=0)
    call = Call(again).begin().turn("agent", "first try").add(AttemptFailed("socket", "lost", True))
    call.begin(2).turn("agent", "second try")
    said = [event.data["said"] for event in call_events(again) if event.kind == "turn.ended"]
    assert said == ["second try"]


def test_tool_calls_are_listed_with_how_they_went(trial: Trial) -> None:
    assert [(use["tool"], use["ok"], use["changes"]) for use in Record(trial).tools] == [
        ("get_order_details", True, 0),
        ("exchange_delivered_order_items", False, 0),
        ("exchange_delivered_order_items", True, 3),
    ]


def test_changes_are_net(trial: Trial) -> None:
    assert [change["place"] for change in Record(trial).changed] == [
        "orders.#W2378156.status",
        "orders.#W2378156.exchange_items",
        "orders.#W2378156.exchange_new_items",
    ]
    back = {**CHANGES[0], "before": CHANGES[0]["after"], "after": CHANGES[0]["before"]}
    other = make_trial(trial.run, number=2, state="running", last_seq=0)
    Call(other).begin().tool("a", {}, changes=[CHANGES[0]]).add(StateSynced([back], 1, {}, {}))
    # Changed and changed back is no change.
    assert Record(other).changed == []


def test_places_share_telling_words_and_numbers(trial: Trial) -> None:
    record = Record(trial)
    assert record.places("The agent says that an e-mail will come.") == ["turn-5"]
    assert record.places("Item 7706410293 is chosen")[0] == "call-3"
    assert record.places("Nothing of this occurs: zebra") == []


def test_words_are_what_tells() -> None:
    assert words("The e-mail of #W2378156, in it 5 of") == {"e-mail", "w2378156", "5"}


@pytest.mark.parametrize(
    ("passed", "is_blind", "own", "expected"),
    [
        (True, True, "", [("1", "pass"), ("2", "fail"), ("3", "cannot_tell")]),
        (False, True, "", [("1", "pass"), ("2", "fail"), ("3", "cannot_tell")]),
        (True, False, "", [("1", "pass"), ("2", "fail"), ("3", "cannot_tell")]),
        # Beside the judge's ruling 1 agrees with it.
        (False, False, "", [("1", "fail"), ("2", "pass"), ("3", "cannot_tell")]),
        # Enter keeps, and the key that was pressed before does nothing: a double press skips no reveal.
        (False, True, "pass", [("Enter", "pass"), ("2", "fail"), ("3", "cannot_tell")]),
        (True, True, "cannot_tell", [("Enter", "cannot_tell"), ("1", "pass"), ("2", "fail")]),
    ],
)
def test_keys_mean_what_they_say(passed: bool, is_blind: bool, own: str, expected: list[tuple[str, str]]) -> None:
    found = choices(Verdict(passed=passed), is_blind=is_blind, own=own)
    assert [(choice["key"], choice["ruling"]) for choice in found] == expected


def test_where_the_judge_failed_there_is_nobody_to_agree_with() -> None:
    assert choices(Verdict(passed=False, error="outage"), is_blind=False)[0]["words"] == "Holds"
