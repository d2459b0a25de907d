"""JSON as models write it: bare, fenced, or in the middle of prose."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

# A text with more brackets than this that open nothing readable is not worth reading on.
_MAX_FALSE_STARTS = 2000
_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)


class DuplicateKey(ValueError):
    """An object gives the same key twice, so it says two things at once."""


class Found(NamedTuple):
    """A JSON value and the very text that it was read from."""

    value: Any
    text: str


def json_in(text: str) -> list[Found]:
    """Return every outermost JSON object or array in a text, in order; a leading thought is passed over.

    Raises DuplicateKey, since Python would keep the last of two conflicting values in silence.
    """
    return list(_scan(_THOUGHT.sub("", text)))


def _scan(text: str) -> Iterator[Found]:
    decoder = json.JSONDecoder(object_pairs_hook=_unique)
    position = false_starts = 0
    while (start := _next_bracket(text, position)) is not None and false_starts < _MAX_FALSE_STARTS:
        try:
            value, position = decoder.raw_decode(text, start)
        except DuplicateKey:
            raise
        except (ValueError, RecursionError):
            position = start + 1
            false_starts += 1
            continue
        yield Found(value, text[start:position])


def _next_bracket(text: str, position: int) -> int | None:
    found = [at for at in (text.find("{", position), text.find("[", position)) if at >= 0]
    return min(found, default=None)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        keys = [key for key, _ in pairs]
        raise DuplicateKey(f"the key {next(key for key in keys if keys.count(key) > 1)!r} occurs twice in one object")
    return value
