"""What a natural-language claim asks of an agent: to say something, or to do something.

Agent and judge share this reading, but not each other's conclusions: the agent turns a claim into a sentence, the judge
looks for the claim's figures and content words in what was said, and for its acts in the successful tool calls.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

_SAYING = re.compile(
    r"^\W*(?:the )?agent (?:should|must|has to|needs to) (?:correctly )?"
    r"(?:tell|inform|say|state|provide|explain|mention|communicate|quote|let|offer|give)\b"
    r"(?:\s+(?:to\s+)?(?:the\s+)?(?:user|customer|caller|guest|them))?(?:\s+know)?(?:\s+with)?(?:\s+that)?\s*[:,]?\s*",
    re.I,
)
_SECOND_PERSON = (
    (r"\bthe (?:user|customer|caller|guest)'s\b|\btheir\b", "your"),
    (r"\bthe (?:user|customer|caller|guest) (?:has|is)\b", "you have"),
    (r"\bthey are\b", "you are"),
    (r"\bthe (?:user|customer|caller|guest)\b|\bthey\b|\bthem\b", "you"),
)
_WHOM = re.compile(r"\b(?:the |a )?(?:user|customer|guest|caller)'s\b|\bthe (?:user|customer|guest|caller)\b", re.I)
_NUMBER = re.compile(r"(?<![\w.])[$#]?\d[\d,]*(?:\.\d+)?")
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*", re.I)
# Words that say how a claim is put, not what it claims.
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        "agent should must user customer caller guest their they them your that this there the and for are was were"
        " will have has had not but with from into get back tell told said available total",
    )
)
_SYNONYMS = {"change": "modify", "update": "modify", "switch": "modify", "swap": "exchange", "addresse": "address"}


@dataclass(frozen=True)
class Saying:
    """A claim that something is said: the sentence, its figures and its content words."""

    sentence: str
    numbers: frozenset[Decimal]
    words: frozenset[str]


@lru_cache(maxsize=4096)
def saying(claim: str) -> Saying | None:
    """Return what a claim wants said, or None for a claim about an act."""
    match = _SAYING.match(claim)
    if match is None:
        return None
    sentence = claim[match.end() :].strip()
    for pattern, replacement in _SECOND_PERSON:
        sentence = re.sub(pattern, replacement, sentence, flags=re.I)
    sentence = sentence[:1].upper() + sentence[1:]
    content = claim[match.end() :]
    return Saying(sentence, numbers(content), content_words(content))


def numbers(text: str) -> frozenset[Decimal]:
    """Return the figures of a text without currency signs and thousands commas: ``$1,095.50`` is 1095.5."""
    return frozenset(Decimal(found.lstrip("$#").replace(",", "").rstrip(".")) for found in _NUMBER.findall(text))


def content_words(text: str) -> frozenset[str]:
    """Return the words of three letters or more that carry meaning, in a common form."""
    words = (word for found in _WORD.findall(text.lower()) for word in found.split("-"))
    return frozenset(stem(word) for word in words if len(word) > 2 and word not in _EMPTY)


def stem(word: str) -> str:
    """Return a word without its plural, in the tools' vocabulary (``changes`` is ``modify``)."""
    if word.endswith("s") and not word.endswith(("ss", "us")):
        word = word[:-1]
    return _SYNONYMS.get(word, word)


def act_words(claim: str, vocabulary: Collection[str]) -> frozenset[str]:
    """Return the words of a claim that the tools are named with; "the user" is whom it is done for, not what."""
    content = re.sub(
        r"\b(?:the |a )?(?:user|customer|guest|caller)'s\b|\bthe (?:user|customer|guest|caller)\b", " ", claim
    )
    words = content_words(content) | ({"user"} if re.search(r"\buser\b", content, re.I) else set())
    return frozenset(words & set(vocabulary))


def is_negative(claim: str) -> bool:
    """Return whether a claim forbids an act."""
    return bool(re.search(r"\b(?:should|must) (?:not|never)\b", claim, re.I))
