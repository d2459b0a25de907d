"""Identifiers and numbers that a simulated caller made up: neither in its instructions nor said before."""

import json
from collections.abc import Iterator
from string import ascii_lowercase

from scenarios.scoring.evidence import CallRecord, ToolUse, Turn
from scenarios.scoring.numbers import identifiers, words
from scenarios.sides import Side

CALLER: Side = "user"
# Characters of one text that are read; longer ones are dumps, and a page waits for this.
MAX_CHARS = 20_000


class _Known:
    """Everything the caller was told, heard, looked up or said so far."""

    def __init__(self, text: str) -> None:
        self._words: set[str] = set()
        self._run = ""
        self.add(text)

    def add(self, text: str) -> None:
        found = list(words(text[:MAX_CHARS]))
        self._words.update(found)
        self._run += " " + "".join(found).replace(".", "")

    def has(self, word: str) -> bool:
        """Return whether a word was there, as it is or as a part of what was spelled, grouped or joined otherwise."""
        bare = word.replace(".", "")
        return word in self._words or bare in self._run or bare.lstrip(ascii_lowercase) in self._run


def invented(record: CallRecord) -> Iterator[tuple[Turn, list[str]]]:
    """Yield the caller's turns that bring something made up, each thing once.

    Without the caller's instructions on record nothing can be called made up.
    """
    prompt = str(record.prepared.get(CALLER, {}).get("prompt") or "")
    if not prompt:
        return
    known = _Known(prompt)
    happened: list[Turn | ToolUse] = [*record.turns.values(), *record.tools.values()]
    for item in sorted(happened, key=lambda item: item.seq):
        if isinstance(item, ToolUse):
            if item.side == CALLER:
                known.add(json.dumps(item.result, ensure_ascii=False, default=str))
            continue
        if item.side == CALLER:
            made_up = [word for word in identifiers(item.said[:MAX_CHARS]) if not known.has(word)]
            if made_up:
                yield item, made_up
        known.add(f"{item.said} {item.heard or ''}")
