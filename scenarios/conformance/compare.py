"""Comparing what was recorded with what the code does: a problem is one line of text."""

import json
from collections.abc import Mapping
from typing import Any

from scenarios.conformance.sentences import is_sentence, says_the_same

_LONGEST = 300


class Problems(list[str]):
    """What differs on one line of a vector file; empty when nothing does."""

    def expect(self, what: str, expected: Any, got: Any) -> None:
        """Note a difference, numbers compared by value."""
        if not same_data(expected, got):
            self.append(f"{what}: expected {shown(expected)}, got {shown(got)}")

    def expect_result(self, expected: Any, got: Any) -> None:
        """Note a difference in what a tool returned: of two sentences only in what they say."""
        if not (is_sentence(expected) and is_sentence(got) and says_the_same(expected, got)):
            self.expect("result", expected, got)


def same_data(expected: Any, got: Any) -> bool:
    """Return whether two JSON values are equal: 2 equals 2.0, but true is no number.

    The text under ``message`` is the reference's wording and need not be ours.
    """
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        return expected.keys() == got.keys() and all(
            same_data(value, got[key]) or key == "message" and isinstance(got[key], str)
            for key, value in expected.items()
        )
    if isinstance(expected, list | tuple) and isinstance(got, list | tuple):
        return len(expected) == len(got) and all(same_data(*pair) for pair in zip(expected, got, strict=True))
    return isinstance(expected, bool) == isinstance(got, bool) and bool(expected == got)


def shown(value: Any) -> str:
    """Return a value as text of bearable length."""
    text = json.dumps(value, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)"
