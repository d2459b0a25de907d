"""When a talk goes round in circles: the same exchange again and again, goodbyes included."""

import re
from collections.abc import Hashable
from dataclasses import dataclass

from scenarios.sides import Side

_WORDS = re.compile(r"\w+")
_FAREWELL = re.compile(r"\b(?:bye|goodbye|farewell|take care)\b")
_FAREWELL_WORDS = frozenset(
    _WORDS.findall(
        "a again all and bye call calling care day evening everything for good goodbye great have help i it much "
        "nice night ok okay rest s so take thank thanks the to too very welcome wonderful you your re"
    )
)


def gist(text: str) -> str:
    """Return the words of a text in lower case; all ways of saying nothing but goodbye are one."""
    words = _WORDS.findall(text.casefold().replace("good bye", "goodbye"))
    plain = " ".join(words)
    if _FAREWELL.search(plain) and _FAREWELL_WORDS.issuperset(words):
        return "goodbye"
    return plain


@dataclass
class RepeatWatch:
    """Counts equal exchanges (the agent's turn and the caller's answer) in a row; tool calls make a turn differ."""

    limit: int
    _agent: Hashable = None
    _last: Hashable = None
    _count: int = 0

    def is_loop(self, side: Side, text: str, tools: Hashable) -> bool:
        """Take a turn; return whether its exchange was the same ``limit`` times in a row."""
        turn = (gist(text), tools)
        if side == "agent":
            self._agent = turn
            return False
        exchange = (self._agent, turn)
        self._count = self._count + 1 if exchange == self._last else 1
        self._last = exchange
        return self._count >= self.limit
