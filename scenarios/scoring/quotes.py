"""Quotes that a judge gives as evidence, looked up in the record: turns, tool calls, results, changed fields.

What was said is looked up word for word. Data may be quoted without the marks of JSON (``status: cancelled``), and a
changed field by its path (``orders.W1.status: cancelled``), but always with all its words and figures, in their order.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scenarios.scoring.evidence import Evidence
from scenarios.scoring.record_text import tool_line, turn_line
from scenarios.scoring.results import Quote

MAX_QUOTES = 20
MAX_QUOTE_CHARS = 2000
# Fewer words of data than this stand somewhere in any call.
MIN_DATA_WORDS = 2
_WORD = re.compile(r"\w+(?:[.,]\d+)*")


def read_quotes(value: Any, evidence: Evidence) -> tuple[Quote, ...]:
    """Return the quotes of one verdict, each looked up; entries that are no quote are left out.

    ``value`` is what the judge gave: a list of ``{"quote", "turn"}`` or of plain strings.
    """
    entries = value if isinstance(value, list) else []
    texts = [(_text(entry), _turn(entry)) for entry in entries[:MAX_QUOTES]]
    return tuple(find_quote(text, turn, evidence) for text, turn in texts if text.strip())


def find_quote(text: str, turn: int | None, evidence: Evidence) -> Quote:
    """Look a quote up, first in the turn that the judge names, then in the whole record; case and spacing are free.

    A turn or tool call may be quoted as the whole line that the judge was shown.
    """
    wanted = _fold(text).strip(" \"'\u201c\u201d\u2026.")
    if not wanted:
        return Quote(text, turn)
    places = sorted(_places(evidence), key=lambda place: place[0] != turn)
    for number, seq, content in places:
        if wanted in _fold(content):
            return Quote(text, number if number is not None else turn, seq, found=True)
    data = _words(text)
    if data.count(" ") > MIN_DATA_WORDS:  # one space around each word
        for seq, content in _data(evidence):
            if data in _words(content):
                return Quote(text, turn, seq, found=True)
    return Quote(text, turn)


def is_in_record(text: str, evidence: Evidence) -> bool:
    """Return whether a text stands word for word in the record of the call, however it is spaced."""
    wanted = _fold(text).replace(" ", "")
    return any(wanted in _fold(content).replace(" ", "") for _, _, content in _places(evidence))


def _places(evidence: Evidence) -> Iterator[tuple[int | None, int, str]]:
    for turn in evidence.turns:
        for spoken in _spoken(turn.said, turn.heard):
            yield turn.turn, turn.seq, spoken
        yield turn.turn, turn.seq, turn_line(turn)
    for use in evidence.tools:
        yield None, use.seq, tool_line(use)
        yield None, use.seq, f"{use.tool} {json.dumps(use.arguments, ensure_ascii=False, default=str)}"
        yield None, use.seq, json.dumps(use.result, ensure_ascii=False, default=str)
        for text in (*_escaped(use.arguments), *_escaped(use.result)):
            yield None, use.seq, text


def _data(evidence: Evidence) -> Iterator[tuple[int, str]]:
    for use in evidence.tools:
        yield use.seq, tool_line(use)
        for change in use.changes:
            path, before, after = (change.get(name) for name in ("path", "before", "after"))
            place = " ".join(map(str, path)) if isinstance(path, list | tuple) else str(path or "")
            for values in ((after,), (before, after), (before,)):
                yield use.seq, f"{place} {' '.join(_json(value) for value in values)}"


def _words(text: str) -> str:
    """Return the words and figures of a text, without what JSON puts between them."""
    return f" {' '.join(_WORD.findall(_fold(text)))} "


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _escaped(value: Any) -> Iterator[str]:
    """Yield the texts within a JSON value that JSON writes otherwise: a judge may give them back as they really are."""
    if isinstance(value, str):
        if json.dumps(value, ensure_ascii=False) != f'"{value}"':
            yield value
    elif isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _escaped(item)


def _spoken(said: str, heard: str | None) -> Iterable[str]:
    return (said,) if heard is None or heard == said else (said, heard)


def _fold(text: str) -> str:
    # A name in composed and in decomposed form is one name.
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _text(entry: Any) -> str:
    quote = entry.get("quote") if isinstance(entry, Mapping) else entry
    return quote[:MAX_QUOTE_CHARS] if isinstance(quote, str) else ""


def _turn(entry: Any) -> int | None:
    turn = entry.get("turn") if isinstance(entry, Mapping) else None
    return turn if isinstance(turn, int) and not isinstance(turn, bool) else None
