"""In words, how two different values are alike: a reading beside the strict comparison, which it never changes."""

import json
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any

from scenarios.state.changes import ABSENT

OTHER_ORDER = "same items, other order"
OTHER_FORM = "same text, other normal form"


def likeness(expected: Any, actual: Any) -> str:
    """Return what a reader should know about two canonical values that differ; "" when they are just different."""
    if expected is ABSENT or actual is ABSENT or expected is None or actual is None:
        return ""
    wanted, found = _kind(expected), _kind(actual)
    if wanted != found:
        same = "same value, " if _reading(expected) == _reading(actual) else ""
        return f"{same}other type: {found}, not {wanted}"
    if wanted == "text" and _composed(expected) == _composed(actual):
        return OTHER_FORM
    return OTHER_ORDER if wanted == "list" and is_other_order(expected, actual) else ""


def is_other_order(expected: Sequence[Any], actual: Sequence[Any]) -> bool:
    """Return whether two different lists hold the same items."""
    # Python's own equality takes 1 for true; where that is the only difference, the items differ.
    return len(expected) == len(actual) and expected != actual and _items(expected) == _items(actual)


def rows_of(columns: Sequence[Sequence[Any]]) -> Counter[str]:
    """Return how often each row stands in lists that belong together, read side by side."""
    return _items(list(zip(*columns, strict=True)))


def _items(values: Sequence[Any]) -> Counter[str]:
    return Counter(json.dumps(value, sort_keys=True, default=str) for value in values)


def _kind(value: Any) -> str:
    kinds = {bool: "truth value", int: "number", float: "number", str: "text", list: "list", dict: "object"}
    return kinds.get(type(value), type(value).__name__)


def _reading(value: Any) -> Any:
    """Return a scalar as the number it can be read as, else as its text."""
    text = str(value).strip().casefold()
    try:
        return float({"true": "1", "false": "0"}.get(text, text))
    except ValueError:
        return text


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)
