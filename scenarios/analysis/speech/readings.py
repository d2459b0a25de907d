"""What one word of a spoken identifier can stand for: digits, letters, NATO words, homophones, groups of numbers.

A word has several readings, since recognisers write "far" for four and "to" for two; "" means that it may be passed
over at no cost ("dash", "um"). Which reading counts, the identifier decides that is looked for (``spoken.find``).
"""

import re
import unicodedata
from dataclasses import dataclass

from scenarios.analysis.speech.numerals import ORDINALS, REPEATS, SCALES, TEENS, TENS, UNITS

NATO = {
    **{"alpha": "a", "alfa": "a", "bravo": "b", "charlie": "c", "delta": "d", "echo": "e", "foxtrot": "f"},
    **{"golf": "g", "hotel": "h", "india": "i", "juliett": "j", "juliet": "j", "kilo": "k", "lima": "l", "mike": "m"},
    **{"november": "n", "oscar": "o", "papa": "p", "quebec": "q", "romeo": "r", "sierra": "s", "tango": "t"},
    **{"uniform": "u", "victor": "v", "whiskey": "w", "whisky": "w", "xray": "x", "yankee": "y", "zulu": "z"},
}
HOMOPHONES = {
    **{"oh": "0", "o": "0", "zero": "0", "nought": "0", "naught": "0", "won": "1", "to": "2", "too": "2", "tu": "2"},
    **{"tree": "3", "free": "3", "for": "4", "far": "4", "fore": "4", "fife": "5", "sex": "6", "sicks": "6"},
    **{"ate": "8", "niner": "9", "nein": "9", "nigh": "9"},
}
LETTERS = {
    **{"ay": "a", "eh": "a", "be": "b", "bee": "b", "see": "c", "sea": "c", "cee": "c", "dee": "d", "ee": "e"},
    **{"eff": "f", "ef": "f", "gee": "g", "aitch": "h", "haitch": "h", "eye": "i", "aye": "i", "jay": "j", "kay": "k"},
    **{"okay": "k", "el": "l", "ell": "l", "em": "m", "en": "n", "oh": "o", "owe": "o", "pee": "p", "pea": "p"},
    **{"cue": "q", "queue": "q", "kew": "q", "are": "r", "ar": "r", "es": "s", "ess": "s", "tee": "t", "tea": "t"},
    **{"you": "u", "yu": "u", "vee": "v", "we": "v", "doubleu": "w", "ex": "x", "ax": "x", "why": "y", "wye": "y"},
    **{"zed": "z", "zee": "z"},
}
PUNCTUATION = {
    **{"hash": "#", "hashtag": "#", "hatch": "#", "hatched": "#", "pound": "#", "sharp": "#", "number": "#"},
    **{"dash": "-", "hyphen": "-", "minus": "-", "underscore": "_", "dot": ".", "point": ".", "period": "."},
    **{"at": "@", "plus": "+", "slash": "/", "star": "*", "space": "", "comma": ""},
}
FILLERS = frozenset(
    {
        *("um", "uh", "er", "erm", "hmm", "and", "then", "so", "well", "okay", "ok", "yes", "its", "it", "is", "the"),
        *(
            "that",
            "thats",
            "letter",
            "capital",
            "uppercase",
            "lowercase",
            "digit",
            "followed",
            "by",
            "again",
            "sorry",
            "of",
        ),
    }
)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
MONTHS = {name: f"{number:02d}" for number, name in enumerate(_MONTHS, 1)}
_PART = re.compile(r"[^\W_]+|[#@_.\-/+*]")
_LINKING = frozenset({"as", "for", "like"})


@dataclass(frozen=True)
class Spoken:
    """One word of an utterance with its readings (lower case; punctuation left out, so some are "")."""

    text: str
    readings: tuple[str, ...]
    skip_cost: float  # of passing it over in the middle of an identifier
    is_character: bool  # rather a character, digit or group of digits than a word
    plain: str  # the reading taken when nothing is looked for; punctuation kept


def spoken_words(text: str) -> list[Spoken]:
    """Return the words of an utterance with their readings; "W as in whisky" is one word, so is "double seven"."""
    parts = _PART.findall(unicodedata.normalize("NFKC", text).casefold().replace("x-ray", "xray").replace("'", ""))
    found: list[Spoken] = []
    position = 0
    while position < len(parts):
        taken, word = _word_at(parts, position)
        found.append(word)
        position += taken
    return found


def _word_at(parts: list[str], position: int) -> tuple[int, Spoken]:
    part = parts[position]
    after = parts[position + 1] if position + 1 < len(parts) else ""
    if part == "double" and after in {"u", "you", "yew"}:
        return 2, _spoken("double u", "w")
    if part in REPEATS and after and _character(after):
        character, count = _character(after), REPEATS[part]
        return 2, _spoken(
            f"{part} {after}", *(reading * count for reading in _readings(after)), plain=character * count
        )
    example = _example(parts, position)
    if example:
        return example, _spoken(" ".join(parts[position : position + example]), _character(part))
    if not part[0].isalnum():
        return 1, Spoken(part, ("",), 0.0, True, part)
    character = _character(part)
    if character or part in PUNCTUATION:
        return 1, _spoken(part, *_readings(part), plain=character or PUNCTUATION[part])
    return 1, Spoken(part, _readings(part), 0.0 if part in FILLERS else 1.0, part.isdecimal(), part)


def _example(parts: list[str], position: int) -> int:
    """Return how many words "W as in whisky", "B for bravo" or "b like boy" take at a place; 0 elsewhere."""
    letter = _character(parts[position])
    if len(letter) != 1 or not letter.isalpha():
        return 0
    rest = parts[position + 1 : position + 4]
    if not rest or rest[0] not in _LINKING:
        return 0
    length = 2 if rest[0] == "as" and rest[1:2] == ["in"] else 1
    if length == 1 and rest[0] == "as":
        return 0
    example = rest[length : length + 1]
    named = bool(example) and len(example[0]) > 1 and (example[0].startswith(letter) or NATO.get(example[0]) == letter)
    return 1 + length + 1 if named and example[0] not in UNITS else 0


def _spoken(text: str, *readings: str, plain: str = "") -> Spoken:
    skip = 0.0 if "" in readings or text in FILLERS else 1.0
    return Spoken(text, tuple(dict.fromkeys(readings)), skip, True, plain or readings[0])


def _character(part: str) -> str:
    """Return the character that a word names when nothing is looked for: "seven", "b", "bravo", "oh"; else ""."""
    if len(part) == 1 and part.isalnum():
        return part
    for table in (UNITS, TEENS):
        if part in table:
            return str(table[part])
    return "0" if part == "oh" else NATO.get(part, "")


def _readings(part: str) -> tuple[str, ...]:
    """Return all that a word can stand for, itself included where it is written with letters."""
    found = [part]
    for table in (UNITS, TEENS):
        found += [str(table[part])] if part in table else []
    if part in TENS:
        found += [str(TENS[part]), str(TENS[part] // 10)]
    if part in SCALES:
        # What follows fills the zeros from behind: "one thousand two" is 1002, "one thousand twenty four" 1024.
        found += [str(SCALES[part])[1 : 1 + count] for count in range(len(str(SCALES[part])))]
    for other in (NATO, HOMOPHONES, LETTERS):
        found += [other[part]] if part in other else []
    found += [""] if part in PUNCTUATION else []
    found += _of_dates(part)
    return tuple(dict.fromkeys(found))


def _of_dates(part: str) -> list[str]:
    """Return what a month or an ordinal in figures stands for in a date."""
    if part in MONTHS:
        return [MONTHS[part]]
    if part in ORDINALS:
        return [str(ORDINALS[part]), f"{ORDINALS[part]:02d}"]
    ordinal = re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th)", part)
    return [ordinal[1], f"{int(ordinal[1]):02d}"] if ordinal else []
