"""Number words of spoken English as digits: "twenty three" is 23, "two hundred and five" 205, "double seven" 77."""

from collections.abc import Sequence
from dataclasses import dataclass

UNITS = {
    word: value
    for value, word in enumerate(("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"))
}
TEENS = {
    word: value
    for value, word in enumerate(
        (
            *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen"),
            *("sixteen", "seventeen", "eighteen", "nineteen"),
        ),
        start=10,
    )
}
TENS = {
    word: 10 * value
    for value, word in enumerate(
        ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), start=2
    )
}
SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
REPEATS = {"double": 2, "triple": 3, "treble": 3}
_IRREGULAR = {"first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12}
ORDINALS = (
    _IRREGULAR
    | {f"{word}th": value for word, value in (UNITS | TEENS).items() if value not in {0, *_IRREGULAR.values()}}
    | {f"{word[:-1]}ieth": value for word, value in TENS.items()}
)


@dataclass(frozen=True)
class Number:
    """A number that was said: its digits, and how many words it took."""

    digits: str
    words: int
    is_ordinal: bool = False


def number_at(words: Sequence[str], start: int) -> Number | None:
    """Return the number that begins at a word, or None.

    Groups stay apart, as they are said: "twenty five fifty" is 25 and then 50, "two three" is 2 and then 3.
    """
    total = group = 0
    position, last = start, "start"
    while position < len(words):
        word = words[position]
        step = _kind(word)
        if (
            step == "and"
            and last == "scale"
            and position + 1 < len(words)
            and _follows(last, _kind(words[position + 1]))
        ):
            position += 1
            continue
        if not _follows(last, step):
            break
        if step == "scale" and SCALES[word] == 100:
            group *= 100
        elif step == "scale":
            total, group = total + group * SCALES[word], 0
        else:
            group += _value(word)
        position, last = position + 1, step
        if step == "ordinal":
            break
    if last == "start":
        return None
    return Number(str(total + group), position - start, last == "ordinal")


def _kind(word: str) -> str:
    for kind, table in (("unit", UNITS), ("teen", TEENS), ("tens", TENS), ("scale", SCALES), ("ordinal", ORDINALS)):
        if word in table:
            return kind
    return "and" if word == "and" else ""


def _follows(last: str, kind: str) -> bool:
    """Return whether a word may go on a number: "twenty" takes "three", "three" takes only "hundred"."""
    allowed = {
        "start": ("unit", "teen", "tens", "ordinal"),
        "unit": ("scale",),
        "teen": ("scale",),
        "tens": ("unit", "scale", "ordinal"),
        "scale": ("unit", "teen", "tens", "scale", "ordinal"),
    }
    return kind in allowed.get(last, ())


def _value(word: str) -> int:
    for table in (UNITS, TEENS, TENS, ORDINALS):
        if word in table:
            return table[word]
    raise ValueError(f"{word!r} is no number word")
