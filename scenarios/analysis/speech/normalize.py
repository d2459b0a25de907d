"""Text of a turn as the words that a telephone carries, so that said and heard differ only where they sound different.

Case, punctuation, fillers, contractions and the ways to write a number are evened out; each digit is a word, since it
is said as one. What one side writes "#W-2378", the other "hash W, two three seven eight", is the same five words.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from scenarios.analysis.speech.numerals import REPEATS, UNITS, number_at

_FILLERS = frozenset({"um", "umm", "uh", "uhm", "uhh", "er", "erm", "hmm", "hm", "mm", "mhm", "ah"})
_SAME = {
    "ok": "okay",
    "cannot": "can not",
    "can't": "can not",
    "won't": "will not",
    "gonna": "going to",
    "wanna": "want to",
    "mr": "mister",
    "mrs": "missus",
    "dr": "doctor",
    "alright": "all right",
}
_ENDINGS = (("n't", " not"), ("'m", " am"), ("'re", " are"), ("'ve", " have"), ("'ll", " will"))
_SYMBOLS = {
    "#": " hash ",
    "@": " at ",
    "_": " underscore ",
    "%": " percent ",
    "&": " and ",
    "+": " plus ",
    "*": " star ",
}
_MONEY = re.compile(r"\$\s?(\d[\d,]*)(?:\.(\d{2}))?(?!\d)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_INNER_DOT = re.compile(r"(?<=[^\W_])\.(?=[^\W_])")
_DOTTED_LETTERS = re.compile(r"\b(?:[^\W\d_]\.){2,}")
_PART = re.compile(r"\d+(?:st|nd|rd|th)\b|\d|[^\W\d_]+(?:'[^\W\d_]+)*")
_DASHES = frozenset({"dash", "hyphen"})


@dataclass(frozen=True)
class Word:
    """One normal word, and the first and last piece (split at white space) of the text that it comes from."""

    text: str
    first: int
    last: int


def pieces(text: str) -> list[str]:
    """Return a text split at white space, as a page shows it; ``Word.first`` and ``last`` count these."""
    return text.split()


def words(text: str) -> list[Word]:
    """Return the normal words of a text in order."""
    parts = [
        Word(part, index, index)
        for index, piece in enumerate(pieces(text))
        for part in _parts(piece)
        if part not in _FILLERS
    ]
    return _without_dashes(_numbers(parts))


def plain_words(text: str) -> list[str]:
    """Return the normal words of a text without their places."""
    return [word.text for word in words(text)]


def _parts(piece: str) -> Iterator[str]:
    """Yield the words of one piece: symbols by name, digits one by one."""
    folded = unicodedata.normalize("NFKC", piece).casefold().replace("\u2019", "'")
    folded = _MONEY.sub(_money, folded)
    folded = _THOUSANDS.sub("", folded)
    folded = _DOTTED_LETTERS.sub(lambda match: match[0].replace(".", " "), folded)
    folded = _INNER_DOT.sub(" dot ", folded)
    for symbol, name in _SYMBOLS.items():
        folded = folded.replace(symbol, name)
    for match in _PART.finditer(folded):
        yield from _expanded(match[0])


def _money(match: re.Match[str]) -> str:
    cents = f" {match[2]} cents" if match[2] and match[2] != "00" else ""
    return f"{match[1]} dollars{cents}"


def _expanded(word: str) -> Iterator[str]:
    if word[0].isdecimal():
        yield from (character for character in word if character.isdecimal())
        if not word[-1].isdecimal():
            yield "th"
        return
    word = _SAME.get(word, word)
    for ending, spelled in _ENDINGS:
        word = word.replace(ending, spelled)
    yield from word.replace("'", "").split()


def _numbers(parts: Sequence[Word]) -> list[Word]:
    """Return the words with number words as digits, one word a digit."""
    texts = [part.text for part in parts]
    found: list[Word] = []
    position = 0
    while position < len(parts):
        number = number_at(texts, position)
        if number is not None:
            first, last = parts[position].first, parts[position + number.words - 1].last
            found += [Word(digit, first, last) for digit in number.digits]
            found += [Word("th", first, last)] if number.is_ordinal else []
            position += number.words
        elif texts[position] in REPEATS and position + 1 < len(parts) and _repeatable(texts[position + 1]):
            word = parts[position + 1]
            digit = _digit(word.text)
            found += [replace(word, text=digit, first=parts[position].first)] * REPEATS[texts[position]]
            position += 2
        else:
            found.append(_named(parts, found, position))
            position += 1
    return found


def _repeatable(text: str) -> bool:
    return text in UNITS or text == "oh" or len(text) == 1


def _digit(text: str) -> str:
    return "0" if text == "oh" else str(UNITS.get(text, text))


def _named(parts: Sequence[Word], before: Sequence[Word], position: int) -> Word:
    """Return one word; "oh" beside a digit is a zero, "point" after one a dot."""
    word = parts[position]
    after_digit = bool(before) and before[-1].text.isdecimal()
    before_digit = position + 1 < len(parts) and (
        parts[position + 1].text in UNITS or parts[position + 1].text.isdecimal()
    )
    if word.text in {"oh", "o"} and (after_digit or before_digit):
        return replace(word, text="0")
    if word.text == "point" and after_digit:
        return replace(word, text="dot")
    if word.text == "pound" and position + 1 < len(parts) and len(parts[position + 1].text) == 1:
        return replace(word, text="hash")
    return word


def _without_dashes(found: Sequence[Word]) -> list[Word]:
    """Leave out "dash" between spelled characters, and "and" between dollars and cents: writing drops them."""
    kept: list[Word] = []
    for position, word in enumerate(found):
        before = found[position - 1].text if position else ""
        after = found[position + 1].text if position + 1 < len(found) else ""
        if word.text in _DASHES and (len(before) == 1 or len(after) == 1):
            continue
        if word.text == "and" and before in {"dollar", "dollars"} and after.isdecimal():
            continue
        kept.append(word)
    return kept
