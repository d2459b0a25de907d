"""Identifiers as a telephone needs them: one character at a time, digits as words, signs by name.

What the voice prompts demand of a model (``scenarios.domains.voice_prompts``), and so of its stand-in: the spelled form
only, never the written one beside it. A date is no such identifier.
"""

from functools import lru_cache

from scenarios.analysis.speech.numerals import UNITS
from scenarios.analysis.speech.shapes import in_text

_DIGITS = {str(value): word for word, value in UNITS.items() if word != "oh"}
_SIGNS = {"#": "hash", "@": "at", ".": "dot", "-": "dash", "_": "underscore", "+": "plus", "*": "star", "/": "slash"}


@lru_cache(maxsize=4096)
def aloud(text: str) -> str:
    """Return a text with its identifiers spelled.

    >>> aloud("It is order #W23.")
    'It is order hash, W, two, three.'
    """
    # The longest first: a number may be part of an address.
    for found in sorted(in_text(text), key=lambda one: -len(one.text)):
        if found.kind != "date":
            text = text.replace(found.text, spelled_out(found.text))
    return text


def spelled_out(identifier: str) -> str:
    """Return an identifier's characters by name, a comma between them, so that each is heard by itself."""
    names = (_DIGITS.get(c) or _SIGNS.get(c) or c.upper() for c in identifier if not c.isspace() and c not in "()")
    return ", ".join(names)
