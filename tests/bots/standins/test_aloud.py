"""Identifiers as they are spoken."""

import pytest

from bots.standins.aloud import aloud
from scenarios.analysis.speech.spoken import find


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("My order is #W2378156.", "My order is hash, W, two, three, seven, eight, one, five, six."),
        ("I live in 19122.", "I live in one, nine, one, two, two."),
        ("It is a_li_95.", "It is A, underscore, L, I, underscore, nine, five."),
        ("Mail to a1@b.com", "Mail to A, one, at, B, dot, C, O, M"),
        ("Call 555-123-4567.", "Call five, five, five, dash, one, two, three, dash, four, five, six, seven."),
        # Sums, dates, years and small numbers are said as they are.
        ("It cost $153.23 on 2024-05-15, 2 of 10.", "It cost $153.23 on 2024-05-15, 2 of 10."),
        ("", ""),
    ],
)
def test_only_identifiers_are_spelled(written: str, spoken: str) -> None:
    assert aloud(written) == spoken


@pytest.mark.parametrize("identifier", ["#W9300146", "9190635437", "gift_card_7245904", "EPXYEK"])
def test_what_is_spelled_reads_as_it_was_written_and_is_spelled_once(identifier: str) -> None:
    spoken = aloud(f"It is {identifier}.")
    assert identifier not in spoken
    reading = find(spoken, identifier)
    assert reading is not None
    assert reading.is_exact
    assert aloud(spoken) == spoken


def test_an_identifier_within_another_leaves_it_whole() -> None:
    assert aloud("12345 or b_12345") == "one, two, three, four, five or B, underscore, one, two, three, four, five"
