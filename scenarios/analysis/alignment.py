"""Two calls laid side by side: their tool calls aligned, and what was said between them in the aligned stretches.

The alignment maximises the likeness of the pairs it makes, in order (Needleman and Wunsch 1970). Only calls of the same
side and tool pair up; the more their arguments agree, the better. No figure is computed from it: it is for reading.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Generic, Literal, NamedTuple, TypeVar

Item = TypeVar("Item")
# alike: same arguments; changed: same tool, other arguments; only_left, only_right: the other call has none like it.
State = Literal["alike", "changed", "only_left", "only_right"]
# Beyond so many possible pairs, only calls that are alike to the letter are paired.
MOST_PAIRS = 250_000


class ToolUse(NamedTuple):
    """A tool call as it is aligned: who called what with which arguments."""

    side: str
    tool: str
    arguments: Mapping[str, Any]


class Pair(NamedTuple):
    """Positions of two calls that belong together; None where one side has no counterpart."""

    left: int | None
    right: int | None
    state: State


@dataclass(frozen=True)
class Stretch(Generic[Item]):
    """Either what lies between tool calls (``state`` None) or one aligned tool call, on both sides."""

    state: State | None
    left: tuple[Item, ...]
    right: tuple[Item, ...]


def likeness(left: ToolUse, right: ToolUse) -> float:
    """Return 0 for calls of different tools or sides; else 1 for the name plus the share of arguments that agree."""
    if (left.side, left.tool) != (right.side, right.tool):
        return 0.0
    names = left.arguments.keys() | right.arguments.keys()
    if not names:
        return 2.0
    missing = object()
    same = sum(_same(left.arguments.get(name, missing), right.arguments.get(name, missing)) for name in names)
    return 1.0 + same / len(names)


def align(left: Sequence[ToolUse], right: Sequence[ToolUse]) -> list[Pair]:
    """Return every call of either side once, in order, paired where they belong together."""
    if len(left) * len(right) > MOST_PAIRS:
        return _aligned_to_the_letter(left, right)
    likely = [[likeness(one, other) for other in right] for one in left]
    best = _best(likely, len(left), len(right))
    pairs: list[Pair] = []
    i, j = 0, 0
    while i < len(left) or j < len(right):
        if i < len(left) and j < len(right) and likely[i][j] and _is(best[i][j], best[i + 1][j + 1] + likely[i][j]):
            pairs.append(Pair(i, j, "alike" if likely[i][j] == 2 else "changed"))
            i, j = i + 1, j + 1
        elif i < len(left) and _is(best[i][j], best[i + 1][j]):
            pairs.append(Pair(i, None, "only_left"))
            i += 1
        else:
            pairs.append(Pair(None, j, "only_right"))
            j += 1
    return pairs


def stretches(
    left: Sequence[Item], right: Sequence[Item], use: Callable[[Item], ToolUse | None]
) -> list[Stretch[Item]]:
    """Return two whole calls in aligned stretches; ``use`` gives a tool call of an item, None for what was said.

    Every item is in exactly one stretch and in its own order.
    """
    sides = (list(left), list(right))
    uses = [[(place, call) for place, item in enumerate(side) if (call := use(item)) is not None] for side in sides]
    pairs = align([call for _, call in uses[0]], [call for _, call in uses[1]])
    at = [0, 0]
    found: list[Stretch[Item]] = []
    for pair in pairs:
        places = (pair.left, pair.right)
        # Beside a call that only one side made stands what the other said up to its own next call.
        calls = [_next(uses[n], at[n], len(sides[n])) if p is None else uses[n][p][0] for n, p in enumerate(places)]
        after = [call + (place is not None) for call, place in zip(calls, places, strict=True)]
        _add(found, None, sides, at, calls)
        _add(found, pair.state, sides, calls, after)
        at = after
    _add(found, None, sides, at, [len(side) for side in sides])
    return found


def _next(uses: Sequence[tuple[int, ToolUse]], start: int, end: int) -> int:
    """Return the position of the first tool call from ``start`` on, ``end`` without one."""
    return next((place for place, _ in uses if place >= start), end)


def _add(
    found: list[Stretch[Item]],
    state: State | None,
    sides: tuple[list[Item], list[Item]],
    starts: Sequence[int],
    ends: Sequence[int],
) -> None:
    left, right = (tuple(side[start:end]) for side, start, end in zip(sides, starts, ends, strict=True))
    if left or right:
        found.append(Stretch(state, left, right))


def _best(likely: Sequence[Sequence[float]], rows: int, columns: int) -> list[list[float]]:
    """Return for each pair of positions how alike the rest from there on can be made."""
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            apart = max(best[i + 1][j], best[i][j + 1])
            best[i][j] = max(apart, best[i + 1][j + 1] + likely[i][j]) if likely[i][j] else apart
    return best


def _aligned_to_the_letter(left: Sequence[ToolUse], right: Sequence[ToolUse]) -> list[Pair]:
    before, after = ([json.dumps(use, sort_keys=True, default=str) for use in side] for side in (left, right))
    pairs: list[Pair] = []
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            pairs += [Pair(a + n, c + n, "alike") for n in range(b - a)]
        else:
            pairs += [Pair(n, None, "only_left") for n in range(a, b)]
            pairs += [Pair(None, n, "only_right") for n in range(c, d)]
    return pairs


def _same(left: Any, right: Any) -> bool:
    """Tell whether two JSON values are the same; ``1`` is not ``true``."""
    return bool(type(left) is type(right) and left == right)


def _is(value: float, other: float) -> bool:
    return abs(value - other) < 1e-9
