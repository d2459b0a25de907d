"""When a turn says nothing but goodbye, and where the goodbyes at the end of a call began."""

import re
from collections.abc import Iterable

_WORDS = re.compile(r"\w+")
_FAREWELL = re.compile(r"\b(?:bye|goodbye|farewell|take care)\b")
_FAREWELL_WORDS = frozenset(
    _WORDS.findall(
        "a again all and bye call calling care day evening everything for good goodbye great have help i it much "
        "nice night ok okay rest s so take thank thanks the to too very welcome wonderful you your re"
    )
)
GOODBYE = "goodbye"


def gist(text: str) -> str:
    """Return the words of a text in lower case; all ways of saying nothing but goodbye are one."""
    words = _WORDS.findall(text.casefold().replace("good bye", GOODBYE))
    plain = " ".join(words)
    if _FAREWELL.search(plain) and _FAREWELL_WORDS.issuperset(words):
        return GOODBYE
    return plain


def goodbyes_at_end(texts: Iterable[str]) -> int:
    """Return how many of the last turns in a row said nothing but goodbye."""
    count = 0
    for text in reversed(list(texts)):
        if gist(text) != GOODBYE:
            break
        count += 1
    return count
