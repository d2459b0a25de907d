"""The way of an identifier: told, said, heard, passed; the first link that does not hold; when speech is to blame."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from scenarios.analysis.speech import identifiers, shapes
from scenarios.analysis.speech.identifiers import Chain, chains, speech_fault, summary
from scenarios.scoring.evidence import Turn
from scenarios.sides import Side
from tests.scenarios.analysis.speech.calls import evidence, scenario, turn, use

ORDER = "#W2378156"
TOLD = "Your order is #W2378156."
SPELLED = "It is hash W, two, three, seven, eight, one, five, six."
MISHEARD = "It is hash W, two, three, seven, eight, one, nine, six."


def the_chain(
    turns: Sequence[Turn], *passed: Any, told: str = TOLD, expected: str | None = ORDER, result: Any = "ok"
) -> Chain:
    spec = scenario(told, **({"order_id": expected} if expected else {}))
    tools = [use(number, {"order_id": value}, result) for number, value in enumerate(passed, 1)]
    return chains(evidence(turns, tools), spec)[0]


@pytest.mark.parametrize(
    ("said", "heard", "passed", "broken"),
    [
        (SPELLED, SPELLED, ORDER, None),
        (SPELLED, "It is #W2378156", "W2378156", None),
        (SPELLED, None, ORDER, None),
        (SPELLED, MISHEARD, "#W2378196", "heard_wrong"),
        (SPELLED, "Sorry?", None, "heard_wrong"),
        (SPELLED, MISHEARD, ORDER, None),  # the agent asked again, or guessed well
        (MISHEARD, MISHEARD, "#W2378196", "said_wrong"),
        ("I have no idea.", "I have no idea.", None, "not_said"),
        (SPELLED, SPELLED, "#W2378165", "passed_wrong"),
        (SPELLED, SPELLED, None, "not_passed"),
        (SPELLED, None, "#W2378165", "passed_wrong"),
    ],
)
def test_the_first_broken_link_is_named(said: str, heard: str | None, passed: str | None, broken: str | None) -> None:
    chain = the_chain([turn(1, "user", said, heard)], *([passed] if passed else []))
    assert chain.broken == broken
    assert chain.is_spoken
    assert chain.is_expected


def test_each_link_says_where_it_is() -> None:
    chain = the_chain(
        [turn(1, "agent", "Hello", "Hello"), turn(2, "user", "Hi", "Hi"), turn(3, "user", SPELLED, MISHEARD)],
        "#W2378196",
    )
    assert [link.place for link in chain.links] == ["told", "said", "heard", "passed"]
    assert [link.state for link in chain.links] == ["whole", "whole", "wrong", "wrong"]
    assert [link.text for link in chain.links] == [ORDER, ORDER, "W2378196", "#W2378196"]
    assert [(link.turn, link.seq) for link in chain.links] == [(None, None), (3, 30), (3, 30), (None, 101)]
    assert (chain.passed.call, chain.passed.argument) == (1, "order_id")


def test_a_correction_counts_and_the_first_right_turn_is_named() -> None:
    turns = [turn(1, "user", MISHEARD, MISHEARD), turn(2, "user", SPELLED, SPELLED), turn(3, "user", SPELLED, SPELLED)]
    chain = the_chain(turns, "#W2378196", ORDER)
    assert chain.broken is None
    assert (chain.said.turn, chain.passed.call) == (2, 2)


def test_what_nobody_told_the_caller_is_never_told_and_no_matter_of_speech() -> None:
    turns = [turn(1, "user", "I forgot the number.", "I forgot the number.")]
    chain = the_chain(turns, ORDER, told="You have an order.")
    assert (chain.broken, chain.is_spoken, chain.passed.state) == ("never_told", False, "whole")
    assert the_chain([], told="You have an order.").broken == "never_told"


def test_another_value_is_no_wrong_form_of_this_one() -> None:
    spoken = [turn(1, "user", SPELLED, SPELLED)]
    assert the_chain(spoken, "#W9999999").broken == "not_passed"
    assert the_chain(spoken, 12).broken == "not_passed"
    assert the_chain(spoken, True).passed.state == "absent"
    # A near one that a tool had returned before, or that the scenario knows as well, is another order.
    returned = [use(1, {"user": "u"}, {"orders": ["#W2378165"]}), use(2, {"order_id": "#W2378165"})]
    assert chains(evidence(spoken, returned), scenario(TOLD, order_id=ORDER))[0].broken == "not_passed"
    both = scenario(f"{TOLD} The other one is #W2378165.", order_id=ORDER)
    assert chains(evidence(spoken, [use(1, {"order_id": "#W2378165"})]), both)[0].broken == "not_passed"


def test_only_the_agents_calls_pass_it_and_lists_are_looked_into() -> None:
    spec = scenario(TOLD, order_ids=[ORDER])
    spoken = [turn(1, "user", SPELLED, SPELLED)]
    theirs = chains(evidence(spoken, [use(1, {"id": ORDER}, side="user")]), spec)[0]
    inside = chains(evidence(spoken, [use(1, {"orders": [{"id": "#W1"}, {"id": ORDER}]})]), spec)[0]
    assert theirs.broken == "not_passed"
    assert (inside.broken, inside.passed.argument) == (None, "orders.1.id")


def test_what_is_told_but_not_needed_says_so() -> None:
    chain = the_chain([turn(1, "user", SPELLED, SPELLED)], expected=None)
    assert (chain.broken, chain.is_expected) == ("not_passed", False)


@pytest.mark.parametrize(
    ("told", "argument", "said"),
    [
        ("Your flight is on May 20.", "2024-05-20", "On May twentieth, please."),
        ("Your flight is on May 20.", "2024-05-20", "the 20th of May"),
        ("You fly on 2024-05-02.", "2024-05-02", "May second, two thousand twenty four"),
        ("Your phone number is 555-123-2002.", "555-123-2002", "five five five, one two three, two oh oh two"),
        ("Your phone number is 555-123-2002.", "555-123-2002", "one, 555 123 2002"),
        ("Your user id is raj_sanchez_7340.", "raj_sanchez_7340", "raj underscore sanchez underscore 7 3 4 0"),
        ("Your telephone number ends in 7731.", "7731", "double seven three one"),
        (
            "Your email is mia.garcia2723@example.com",
            "mia.garcia2723@example.com",
            "mia dot garcia 2723 at example dot com",
        ),
        ("The code is EPXYEK.", "EPXYEK", "E, P, X, Y, E, K"),
        ("You live in zip code 19122.", "19122", "one nine one two two"),
    ],
)
def test_every_shape_goes_all_the_way(told: str, argument: str, said: str) -> None:
    spec = scenario(told, value=argument)
    found = chains(evidence([turn(1, "user", said, said)], [use(1, {"value": argument})]), spec)
    chain = next(chain for chain in found if chain.identifier.text == argument)
    assert [link.state for link in chain.links] == ["whole"] * 4
    assert chain.broken is None


def test_speech_is_to_blame_when_the_argument_came_from_what_was_misheard() -> None:
    spec = scenario(TOLD, order_id=ORDER)
    call = evidence([turn(3, "user", SPELLED, MISHEARD)], [use(2, {"order_id": "#W2378196"})])
    reason = speech_fault(call, spec)
    assert reason == (
        "#W2378156 was said (turn 3, event 30) and heard as W2378196 (turn 3, event 30); "
        "order_id of call 2 (event 102) was then #W2378196"
    )


@pytest.mark.parametrize(
    ("said", "heard", "passed"),
    [
        (SPELLED, SPELLED, "#W2378196"),  # heard well: the agent's own slip
        (SPELLED, MISHEARD, ORDER),
        (SPELLED, MISHEARD, None),
        (MISHEARD, MISHEARD, "#W2378196"),  # the caller's
        (SPELLED, None, "#W2378196"),  # not transcribed
        (SPELLED, MISHEARD, "#W2378155"),  # wrong in a way of its own, nearer to the truth
    ],
)
def test_speech_is_not_to_blame_otherwise(said: str, heard: str | None, passed: str | None) -> None:
    tools = [use(1, {"order_id": passed})] if passed else []
    assert speech_fault(evidence([turn(1, "user", said, heard)], tools), scenario(TOLD, order_id=ORDER)) is None


def test_a_misheard_digit_is_recognitions_fault_before_the_agent_is_blamed() -> None:
    spec = scenario("Your number is 555-555-0142.", phone="555-555-0142")
    turns = [turn(1, "user", "triple five, triple five, 0142", "555 555 0143")]
    assert speech_fault(evidence(turns, [use(1, {"phone": "555-555-0143"})]), spec) is not None


def test_a_summary_counts_what_is_spoken() -> None:
    spec = scenario(f"{TOLD} Your zip code is 19122.", order_id=ORDER, item="9690244258", zip="19122")
    turns = [turn(1, "user", SPELLED, MISHEARD), turn(2, "user", "One nine one two two", "19122")]
    found = chains(evidence(turns, [use(1, {"zip": "19122"})]), spec)
    assert summary(found) == {"heard_wrong": 1, "whole": 1}
    assert summary([]) == {}


def test_a_scenario_without_identifiers_has_no_chains() -> None:
    assert chains(evidence([turn(1, "user", "Hello", "Hello")]), scenario("You are calm.")) == []
    assert speech_fault(evidence(), scenario("You are calm.")) is None


def test_all_that_a_caller_is_told_is_looked_through() -> None:
    spec = scenario("", order_id=ORDER)
    fields: Mapping[str, Any] = vars(spec.caller)
    for name in (name for name in fields if name != "instructions"):
        caller = type(spec.caller)(**{**fields, name: TOLD})
        assert ORDER in identifiers.told_text(caller)
    assert ORDER in identifiers.told_text(type(spec.caller)(goal="", instructions=("One.", TOLD)))


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (
            "order #W2378156 and item 9690244258, zip 19122",
            {"#W2378156": "code", "9690244258": "digits", "19122": "digits"},
        ),
        ("You are yusuf_rossi_9620 (mia.g@example.com)", {"mia.g@example.com": "email", "yusuf_rossi_9620": "name_id"}),
        ("Reservation Q69X3R or EPXYEK on HAT005", {"Q69X3R": "code", "EPXYEK": "code", "HAT005": "code"}),
        ("pay with credit_card_9513926 at 555-123-2002", {"555-123-2002": "phone", "credit_card_9513926": "name_id"}),
        ("on 2024-05-20, journey FL_SK621_20260320", {"2024-05-20": "date", "FL_SK621_20260320": "name_id"}),
        ("It costs $12345.67, 4.50 or 1,234,567 dollars; 2024; 100%", {}),
        ("You want A SUITE in room 4 in 2024", {}),
    ],
)
def test_shapes_are_found_in_text(text: str, kinds: dict[str, str]) -> None:
    assert {found.text: found.kind for found in shapes.in_text(text)} == kinds


@pytest.mark.parametrize(
    "value", ["no longer needed", "JFK", "one_way", "", "12", 2, True, None, 3.5, "123 Elm Street"]
)
def test_a_value_that_is_no_identifier_is_none(value: object) -> None:
    assert shapes.of_value(value) is None


@pytest.mark.parametrize("value", ["7731", 9690244258, "Q69X3R", "C1001"])
def test_a_value_that_is_one_keeps_its_text(value: object) -> None:
    found = shapes.of_value(value)
    assert found is not None
    assert found.text == str(value)


def test_a_hostile_record_breaks_nothing() -> None:
    strange: Side = "user"
    turns = [turn(1, strange, "\x00\ufffd" * 50, ""), turn(2, strange, "#" * 500 + "9" * 500, "\u202e")]
    tools = [use(1, {"order_id": ["x" * 5000, None, {"a": {"b": []}}], "n": 10**40}, {"deep": [[[ORDER]]]})]
    assert the_chain(turns, None).broken == "not_said"
    assert chains(evidence(turns, tools), scenario(TOLD, order_id=ORDER))[0].broken == "not_said"
