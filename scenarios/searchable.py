"""Text in the form in which it is searched: one case, and names in one normal form."""

import unicodedata


def searchable(text: str) -> str:
    """Return a text in composed form without case: a name with U+00EB is that with ``e`` and U+0308."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def composed(text: str) -> str:
    """Return a text in composed form, its case kept."""
    return unicodedata.normalize("NFC", text)
