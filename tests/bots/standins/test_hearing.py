"""What the stand-in agent takes from what it heard."""

import json
from typing import Any

import pytest

from bots.standins.hearing import looking_like
from tests.bots.standins.conversation import Conversation, ask

ORDER, ZIP = "A0000000", "00000"
AGENT = "standin-faithful+voice:tau2_retail__44"
OPENING = "I want to change the desk lamp in order hash, W, 9, 3, 0, 0, 1, 4, 6."
IDENTITY = "I am Aarav Anderson, in Philadelphia 1-9-0-3-1."


@pytest.mark.parametrize(
    ("shape", "transcript", "found"),
    [
        (ORDER, "in order hash, W, two, three, seven, eight, one, five, six and wish", ["W2378156"]),
        (ORDER, "in order hatched double u 2378156, please", ["W2378156"]),
        (ORDER, "#W2378156", ["W2378156"]),
        (ORDER, "W to free 7 ate won fife sicks", ["W2378156"]),
        (ORDER, "W as in whisky, double two, 3, 4, 5, 6, 7", ["W2234567"]),
        # Misheard, and so taken as it was heard.
        (ORDER, "hash, V, 9, 3, 0, 0, 1, 4, 5", ["V9300145"]),
        # A digit lost, or one too many, is no order number.
        (ORDER, "hash, W, 2, 3, 7, 8, 1, 5", []),
        (ORDER, "hash, W, 2, 3, 7, 8, 1, 5, 6, 6", []),
        (ORDER, "W2378156 and then W2378157", ["W2378156", "W2378157"]),
        (ZIP, "in zip code 1, 9, 1, 2, 2.", ["19122"]),
        (ZIP, "in Philadelphia 19031.", ["19031"]),
        (ZIP, "in Philadelphia 1-9-0-3-1. 2 of them", ["19031"]),
        (ZIP, "in Philadelphia 1-9-0-3-1-2", []),
        # Nothing within another identifier.
        (ZIP, "hash, W, 9, 3, 0, 0, 1", []),
        (ZIP, "hash, W, 9, 3, 0, 0, 1, 4, 6", []),
        (ZIP, "", []),
    ],
)
def test_what_has_the_shape_is_read_from_a_transcript(shape: str, transcript: str, found: list[str]) -> None:
    assert looking_like(shape, transcript) == found


def context(*steps: str) -> list[dict[str, Any]]:
    """Return messages: what the agent said, then what it heard, by turns."""
    roles = ["assistant", "user"] * len(steps)
    return [{"role": role, "content": text} for role, text in zip(roles, steps, strict=False)]


@pytest.mark.usefixtures("benchmarks")
class TestTheAgent:
    def zip_of(self, *steps: str) -> str:
        _, reply = ask(AGENT, context(*steps))
        (call,) = reply.tool_calls
        return str(json.loads(call.arguments)["zip"])

    def test_takes_what_it_heard(self) -> None:
        assert self.zip_of("Hello.", OPENING, "Your name?", IDENTITY) == "19031"

    def test_takes_what_it_misheard(self) -> None:
        assert self.zip_of("Hello.", OPENING, "Your name?", IDENTITY.replace("9", "5")) == "15031"

    def test_asks_twice_for_what_it_did_not_hear_and_then_goes_on_without(self) -> None:
        steps = ["Hello.", OPENING, "Your name?", "I am Aarav Anderson, in Philadelphia."]
        for _ in range(2):
            _, reply = ask(AGENT, context(*steps))
            assert reply.text == "I am sorry, I did not catch the zip. Could you spell it for me, please?"
            assert not reply.tool_calls
            steps += [reply.text, "It is something."]
        assert self.zip_of(*steps) == ""

    def test_goes_on_where_it_was_when_it_is_told(self) -> None:
        _, question = ask(AGENT, context("Hello.", OPENING, "Your name?", "I am Aarav."))
        steps = ("Hello.", OPENING, "Your name?", "I am Aarav.", question.text, "1, 9, 0, 3, 1.")
        assert self.zip_of(*steps) == "19031"

    def test_says_what_it_heard_and_spells_it(self) -> None:
        model = AGENT.replace("__44", "__80")
        opening = "For order hash W 7 2 0 9 9 3 1, exchange a T-shirt."
        steps = context("Hello.", opening, "Your name?", "I am Amelia.")
        _, reply = ask(model, steps)
        assert "order id hash, W, seven, two, zero, nine, nine, three, one, item ids five, zero" in reply.text

    def test_on_the_text_channel_takes_the_gold(self) -> None:
        _, reply = ask(AGENT.replace("+voice", ""), context("Hello.", "Hm.", "Your name?", "Hm."))
        (call,) = reply.tool_calls
        assert json.loads(call.arguments)["zip"] == "19031"


@pytest.mark.usefixtures("benchmarks")
@pytest.mark.parametrize("scenario", ["tau2_retail__44", "tau2_retail__0", "tau2_airline__5"])
def test_a_call_that_is_heard_whole_ends_as_the_gold_does(scenario: str) -> None:
    call = Conversation(scenario, "standin-faithful+voice", "standin-caller+voice").hold()
    assert (call.is_as_expected, call.end_reason in {"end_tool", "transfer"}) == (True, True)
    assert not [line for line in call.said if "did not catch" in line]


@pytest.mark.usefixtures("benchmarks")
def test_what_the_caller_has_not_told_yet_is_asked_for() -> None:
    call = Conversation("tau2_retail__78", "standin-faithful+voice", "standin-caller+voice").hold()
    assert len([line for line in call.said if "did not catch the order id" in line]) == 1
    assert call.is_as_expected


def test_the_built_in_domain_is_spoken_too() -> None:
    call = Conversation("frontdesk__breakfast", "standin-faithful+voice", "standin-caller+voice").hold()
    assert (call.is_as_expected, call.end_reason) == (True, "end_tool")
