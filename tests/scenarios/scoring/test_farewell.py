"""What counts as nothing but a goodbye."""

import pytest

from scenarios.scoring.farewell import gist, goodbyes_at_end


@pytest.mark.parametrize(
    "text", ["Bye!", "Good bye.", "Thank you so much, take care!", "You too, have a great day. Bye"]
)
def test_farewells_are_all_one(text: str) -> None:
    assert gist(text) == "goodbye"


@pytest.mark.parametrize("text", ["Goodbye, your refund is 30 dollars.", "Have a great day.", "Buy now"])
def test_a_farewell_that_says_more_is_not(text: str) -> None:
    assert gist(text) != "goodbye"


def test_only_the_goodbyes_at_the_end_count() -> None:
    """B39: one in the middle of a call ended nothing."""
    assert goodbyes_at_end(["Bye!", "Wait, one more thing.", "Bye!", "Good bye.", "Take care, bye."]) == 3
    assert goodbyes_at_end(["Bye!", "Wait."]) == goodbyes_at_end([]) == 0
