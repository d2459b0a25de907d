"""What an identifier looks like, in any domain: found in task text and tool arguments by shape alone."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from scenarios.analysis.speech.readings import MONTHS

Kind = Literal["email", "date", "phone", "name_id", "code", "digits"]

# In this order: what an earlier shape has taken, a later one does not see.
_SHAPES: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("email", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("date", re.compile(r"(?<![\w-])\d{4}-\d{2}-\d{2}(?![\w-])")),
    ("phone", re.compile(r"(?<![\w-])(?:\+?1[-. ])?\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}(?![\w-])")),
    ("name_id", re.compile(r"(?<!\w)[^\W_]+(?:_[^\W_]+)*_\d\d+(?!\w)")),
    # W2378156, HAT005, C1001; six letters and digits such as Q69X3R; a string of capitals such as EPXYEK.
    ("code", re.compile(r"#?(?<!\w)(?:[A-Z]{1,4}\d{2,}|(?=[A-Z0-9]*[A-Z])[A-Z0-9]{6})(?!\w)")),
    ("digits", re.compile(r"(?<![\w.,$-])\d{5,}(?![\w%]|[.,-]\d)")),
)
# As an argument of its own, a shorter one counts too ("7731", the last four of a number).
_SHORT_DIGITS = re.compile(r"\d{4,}")
_MONTH_NAMES = {number: name for name, number in MONTHS.items()}


@dataclass(frozen=True)
class Identifier:
    """An identifier as it is written, and its shape."""

    text: str
    kind: Kind


def in_text(text: str) -> list[Identifier]:
    """Return the identifiers that stand in a text, each once, in the order of their shapes and places."""
    found: dict[str, Identifier] = {}
    for kind, shape in _SHAPES:
        for match in shape.finditer(text):
            found.setdefault(match[0], Identifier(match[0], kind))
        text = shape.sub(" ", text)
    return list(found.values())


def of_value(value: object) -> Identifier | None:
    """Return an argument's value as an identifier when all of it is one, else None."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value).strip()
    for kind, shape in _SHAPES:
        if shape.fullmatch(text):
            return Identifier(text, kind)
    return Identifier(text, "digits") if isinstance(value, str) and _SHORT_DIGITS.fullmatch(text) else None


def leaves(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the path (``flights.0.date``) and value of every single value of a call's arguments."""
    stack: list[tuple[str, Any]] = list(reversed(list(arguments.items())))
    while stack:
        path, value = stack.pop()
        if isinstance(value, Mapping):
            stack += reversed([(f"{path}.{key}", inner) for key, inner in value.items()])
        elif isinstance(value, list | tuple):
            stack += reversed([(f"{path}.{index}", inner) for index, inner in enumerate(value)])
        else:
            yield path, value


def spoken_forms(identifier: Identifier) -> list[str]:
    """Return the ways in which an identifier may be said, besides as it is written; a date by its month's name."""
    text = identifier.text
    if identifier.kind == "phone":
        digits = "".join(character for character in text if character.isdecimal())
        return [digits, digits[-10:], f"1{digits[-10:]}"]
    if identifier.kind != "date":
        return [text]
    year, month, day = text.split("-")
    name = _MONTH_NAMES.get(month, month)
    days = dict.fromkeys((day, str(int(day))))
    return [text, *(f"{a}{b}{y}" for d in days for y in (year, "") for a, b in ((name, d), (d, name), (month, d)))]
