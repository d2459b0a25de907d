"""How a claim is read: what is to be said, what is to be done."""

from decimal import Decimal

import pytest

from bots.standins.claims import act_words, is_negative, numbers, saying, stem

WORDS = {"modify", "pending", "order", "item", "address", "user", "exchange", "delivered", "cancel"}


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Agent should tell the user their gift card balance is $60.", "Your gift card balance is $60."),
        ("Agent should tell the user that there are 10 options.", "There are 10 options."),
        ("Agent should tell the user they will get back $17.99.", "You will get back $17.99."),
        ("Agent should provide the tracking number 286422338955.", "The tracking number 286422338955."),
        ("The agent must inform the guest that breakfast is free.", "Breakfast is free."),
        ("Agent should let the caller know that the price is 5.", "The price is 5."),
        ("Agent should tell the customer the customer's order is late.", "Your order is late."),
    ],
)
def test_a_claim_becomes_a_sentence_to_the_caller(claim: str, sentence: str) -> None:
    wanted = saying(claim)

    assert wanted is not None
    assert wanted.sentence == sentence


@pytest.mark.parametrize(
    "claim", ["Agent should modify the pending order.", "Agent should process the exchange.", "Order is cancelled."]
)
def test_a_claim_about_an_act_is_nothing_to_say(claim: str) -> None:
    assert saying(claim) is None


def test_figures_are_read_without_their_signs() -> None:
    found = numbers("It is $1,095.55 or 60, order #W2702727 aside, 64GB, and 3.50 in all. 7.")

    assert found == {Decimal("1095.55"), Decimal(60), Decimal(64), Decimal("3.5"), Decimal(7)}


def test_figures_are_compared_by_value() -> None:
    assert numbers("$60") == numbers("60.00")


@pytest.mark.parametrize(
    ("word", "common"),
    [("items", "item"), ("address", "address"), ("addresses", "address"), ("changes", "modify"), ("status", "status")],
)
def test_words_are_brought_to_a_common_form(word: str, common: str) -> None:
    assert stem(word) == common


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("Agent should modify the pending order.", {"modify", "pending", "order"}),
        ("Agent should make changes to address on order and user profile", {"modify", "address", "order", "user"}),
        ("Agent should modify user address", {"modify", "user", "address"}),
        ("Agent should cancel the user's order.", {"cancel", "order"}),
        ("Agent should cancel the order for the user.", {"cancel", "order"}),
        ("Agent should sing.", set()),
    ],
)
def test_an_act_is_named_in_the_words_of_the_tools(claim: str, words: set[str]) -> None:
    assert act_words(claim, WORDS) == words


def test_a_forbidden_act_is_recognised() -> None:
    assert is_negative("Agent should not cancel the order.")
    assert is_negative("The agent must never cancel the order.")
    assert not is_negative("Agent should cancel the order that was not sent.")
