"""The canonical text; the vectors of hash.jsonl run in tests/conformance."""

from datetime import date, datetime
from typing import Any

import pytest

from scenarios.state.canonical import canonical_database_text, canonical_hash


@pytest.mark.parametrize(
    ("database", "digest"),
    [
        ({}, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
        (
            {"b": 1.0, "a": [3, 1, 2], "session": {"x": 1}},
            "c35614dff4239c844f2aba7b99dcf76087221bf13f20fa1fefbe4a4173a7ad12",
        ),
        (
            {
                "bookings": [{"id": "B", "fare": 200.0}, {"id": "A", "fare": 99.5}],
                "items": ["z", "a"],
                "status": " None ",
            },
            "4ea8db13c3a805a153ae637f154192297aba89807a25028c9ab8c2f6d11148f9",
        ),
        (
            {"n": None, "s": "null", "t": True, "f": -0.0, "big": 1e22, "small": 1e-7, "str": "1.0"},
            "7be1b18a6a8346baeac9eae58582ceea8039f20f1125207a38df4519d14e7a10",
        ),
        (
            {"name": "Zoë", "nested": {"session": 1, "Z": 1, "a": 2, "_x": 3}},
            "7ac52039126a392ff842f9e8c853b53d8deda8373f17f8b7427643946c58ecc5",
        ),
        (
            {
                "when": datetime(2024, 5, 15, 15, 0),
                "day": date(2024, 5, 15),
                "bal": 0.1 + 0.2,
                "gold": "nonesuch",
                "standby_list": [{"p": 2}, {"p": 10}, {"p": 1.0}],
            },
            "b1c7a95a4051604dd898b3da5a317964c3971e7a51f95be7ce34677d80c6128c",
        ),
    ],
)
def test_the_worked_examples_of_the_reference(database: Any, digest: str) -> None:
    assert canonical_hash(database) == digest


@pytest.mark.parametrize(
    ("left", "right", "alike"),
    [
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": "none"}, {"a": None}, True),
        ({"a": "1.0"}, {"a": 1}, False),
        ({"a": True}, {"a": 1}, False),
        ({"items": [1, 2]}, {"items": [2, 1]}, False),
        ({"bookings": [1, 2]}, {"bookings": [2, 1]}, True),
        ({"session": 1}, {}, True),
        ({"a": {"session": 1}}, {"a": {}}, False),
        ({"none": 1}, {"null": 1}, False),
    ],
)
def test_what_counts_as_the_same_database(left: Any, right: Any, alike: bool) -> None:
    assert (canonical_hash(left) == canonical_hash(right)) is alike


def test_values_that_are_no_plain_json_are_read_as_their_plain_kind() -> None:
    class Word(str):
        pass

    class Amount(float):
        pass

    odd = {"a": Word("None"), "b": Amount(2.0), "bookings": (2, 1)}
    assert canonical_database_text(odd) == '{"a":null,"b":2,"bookings":[1,2]}'


def test_infinities_keep_pythons_spelling() -> None:
    assert canonical_database_text({"a": float("inf")}) == '{"a":Infinity}'
