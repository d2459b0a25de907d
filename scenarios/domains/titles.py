"""Titles of scenarios, which are sentences of the benchmark cut to fit a list."""

_LONGEST = 120


def shortened(text: str) -> str:
    """Return a text in one line, cut at a word where it is too long for a title."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1].rsplit(" ", 1)[0] + "…"
