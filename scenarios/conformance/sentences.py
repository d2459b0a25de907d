"""What a plain sentence says, apart from how: two tools may word an answer differently, but not answer differently.

The phone of the telecom domain answers in sentences ("Airplane mode is now ON."), and a vector holds the reference's.
The data of such an answer are numbers, identifiers, addresses, states, and how many items a bar ("A | B | C") has; the
words between them are wording, and so is the label before a line's colon.
"""

import re
from collections.abc import Iterator

# States as they are written, each with what it means where several words mean the same.
_STATES = {
    **dict.fromkeys(("on", "yes", "enabled"), "on"),
    **dict.fromkeys(("off", "no", "not", "cannot", "none", "disabled"), "off"),
    **{
        state: state
        for state in (
            *("active", "missing", "locked", "pin", "puk", "locked_pin", "locked_puk"),
            *("connected", "searching", "no_service", "emergency_only"),
            *("very poor", "poor", "fair", "good", "excellent"),
            *("internet", "broken", "messaging", "browser"),
        )
    },
}
_MEANINGS = frozenset(_STATES.values())
# Permissions of apps. They are everyday words, so they count only where a sentence is about permissions.
_PERMISSIONS = {"sms", "storage", "phone", "network"}
_LABEL = re.compile(r"^[^.:\n]*:(?=\s|$)", re.MULTILINE)
_PIECE = re.compile(r"https?://[^\s,;()]+|very poor|\||[A-Za-z0-9_]+(?:[.:-][A-Za-z0-9_]+)*", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def is_sentence(value: object) -> bool:
    """Return whether a value is prose: text with white space in it."""
    return isinstance(value, str) and any(map(str.isspace, value.strip()))


def says_the_same(expected: str, got: str) -> bool:
    """Return whether two sentences carry the same data in the same order."""
    return list(_data(expected)) == list(_data(got))


def _data(sentence: str) -> Iterator[str | float]:
    is_about_permissions = "permission" in sentence.lower()
    for line in _LABEL.sub("", sentence).splitlines():
        before: str | float | None = None
        for piece in _PIECE.findall(line):
            datum = _datum(piece, is_about_permissions)
            # A state that a line says again, with no other data between, is said once: "(Good). It is good for video."
            if datum is None or datum == before and datum in _MEANINGS:
                continue
            yield datum
            before = datum


def _datum(piece: str, is_about_permissions: bool) -> str | float | None:
    """Return what a piece of a sentence tells; None: it is wording."""
    word = piece.lower()
    if _NUMBER.fullmatch(piece):
        return float(piece)
    if word in _STATES:
        return _STATES[word]
    if word in _PERMISSIONS:
        return word if is_about_permissions else None
    return piece if piece == "|" or "://" in piece or any(map(str.isdigit, piece)) else None
