"""Identifiers and numbers in what was said, in a form in which the same one is the same text."""

import re
import unicodedata
from collections.abc import Iterator

_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_DIGIT_WORD = re.compile(rf"\b({'|'.join(_DIGITS)})\b")
_WORD = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?![^\W_])|[^\W_]+")
# Fewer digits are counts, ages, days and times, which callers rightly work out by themselves.
_MIN_DIGITS, _MIN_DIGITS_AFTER_LETTER = 3, 2


def plain(text: str) -> str:
    """Return a text in one normal form and lower case, digits spelled as words written as digits."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _DIGIT_WORD.sub(lambda match: str(_DIGITS.index(match[1])), folded)


def words(text: str) -> Iterator[str]:
    """Yield the words of a text: numbers without signs that group them, characters said one by one as one word."""
    run = ""
    for match in _WORD.finditer(plain(text)):
        word = match[0]
        if len(word) == 1:
            run += word
            continue
        if run:
            yield run
            run = ""
        yield _number(word)
    if run:
        yield run


def identifiers(text: str) -> list[str]:
    """Return the words that are identifiers or numbers of some length, in order, each once."""
    return list(dict.fromkeys(word for word in words(text) if _is_identifier(word)))


def _number(word: str) -> str:
    if not word[0].isdecimal() or not re.fullmatch(r"[\d,]+(\.\d+)?", word):
        return word
    whole, _, fraction = word.replace(",", "").partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def _is_identifier(word: str) -> bool:
    digits = sum(character.isdecimal() for character in word)
    return digits >= (_MIN_DIGITS_AFTER_LETTER if word[0].isalpha() else _MIN_DIGITS)
