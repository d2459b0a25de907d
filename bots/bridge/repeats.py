"""When a talk goes round in circles: the same exchange again and again, goodbyes included."""

from collections.abc import Hashable
from dataclasses import dataclass

from scenarios.scoring.farewell import gist
from scenarios.sides import Side


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
