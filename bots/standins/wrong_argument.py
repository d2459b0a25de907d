"""One plausible wrong argument: what a hurried agent would get wrong, and the tool would still accept.

Candidates for a value, most plausible first: a sibling of it in the database (another card of the same guest, another
variant of the same product), one list item too few or two digits swapped, a value that the same argument has elsewhere
in the domain's gold, a value that the tool itself offers. The first that the tool accepts and that spoils the end state
is taken; where there is none, the first that the tool refuses, which leaves the write undone.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from bots.standins.cue import Cue
from scenarios.domains.base import Domain, GoldAction, Tool
from scenarios.state.overlay import Seed

_LARGEST_FAMILY = 30  # a larger table holds no alternatives to a value
_MOST_VALUES = 6  # of the same argument elsewhere


@dataclass(frozen=True)
class Wrong:
    """The gold call at ``position`` with ``argument`` changed."""

    position: int
    argument: str
    action: GoldAction


@lru_cache(maxsize=2048)
def plausible_wrong(cue: Cue) -> Wrong | None:
    """Return the wrong argument of the last gold write that has one; None where no write takes an argument."""
    return next(filter(None, (_wrong_at(cue, position) for position in reversed(cue.writes))), None)


def _wrong_at(cue: Cue, position: int) -> Wrong | None:
    right = cue.spec.gold_actions[position]
    refused: Wrong | None = None
    for argument, value in _candidates(cue, right):
        wrong = Wrong(position, argument, replace(right, arguments={**right.arguments, argument: value}))
        actions = list(cue.spec.gold_actions)
        actions[position] = wrong.action
        passes, results = cue.play(actions)
        if not passes and results[position].ok:
            return wrong
        if not passes:
            refused = refused or wrong
    return refused


def _candidates(cue: Cue, action: GoldAction) -> Iterator[tuple[str, Any]]:
    seed = cue.domain.seeds(cue.spec)[action.side]
    # The last arguments of a call say how; the first say for whom.
    named = list(action.arguments.items())[::-1]
    for name, value in named:
        yield from ((name, other) for other in _siblings(value, _families(seed)))
    for name, value in named:
        if isinstance(value, list | tuple) and len(value) > 1:
            yield name, list(value[:-1])
        elif (swapped := _swapped(value)) != value:
            yield name, swapped
    elsewhere = _values(cue.domain)
    for name, value in named:
        yield from ((name, other) for other in elsewhere.get((action.tool, name), ()) if other != value)
    tool = next(tool for tool in cue.domain.tools(action.side) if tool.model_name() == action.tool)
    for name, value in named:
        yield from ((name, other) for other in _offered(tool, name) if other != value)


def _offered(tool: Tool, argument: str) -> list[str]:
    """Return the values that the description of an argument lists: "One of a, b, c."."""
    listed = re.match(r"One of ([^.]+)\.", tool.Arguments.model_fields[argument].description or "")
    return listed[1].split(", ") if listed else []


def _siblings(value: Any, families: Mapping[str, tuple[str, ...]]) -> Iterator[Any]:
    if isinstance(value, list | tuple) and value:
        yield from ([*value[:-1], other] for other in _siblings(value[-1], families))
    elif isinstance(value, str):
        yield from families.get(value, ())


def _swapped(value: Any) -> Any:
    """Return a text or whole number with its last two unequal neighbouring digits swapped, else the value itself."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return value
    text = str(value)
    for i in range(len(text) - 1, 0, -1):
        if text[i - 1 : i + 1].isdigit() and text[i - 1] != text[i]:
            return type(value)(text[: i - 1] + text[i] + text[i - 1] + text[i + 1 :])
    return value


@lru_cache(maxsize=16)
def _families(seed: Seed) -> Mapping[str, tuple[str, ...]]:
    """Return the siblings of each key of a small table of records inside a database."""
    families: dict[str, tuple[str, ...]] = {}
    stack: list[Any] = [seed.data]
    while stack:
        node = stack.pop()
        children = list(node.values()) if isinstance(node, Mapping) else node
        if (
            isinstance(node, Mapping)
            and 2 <= len(node) <= _LARGEST_FAMILY
            and all(isinstance(c, dict) for c in children)
        ):
            families.update((key, tuple(other for other in node if other != key)) for key in node)
        stack.extend(child for child in children if isinstance(child, dict | list))
    return families


@lru_cache(maxsize=16)
def _values(domain: Domain) -> Mapping[tuple[str, str], list[Any]]:
    """Return the values that each argument of each tool has in the domain's gold, the first few of them."""
    values: dict[tuple[str, str], list[Any]] = {}
    for action in (action for spec in domain.scenarios() for action in spec.gold_actions):
        for name, value in action.arguments.items():
            known = values.setdefault((action.tool, name), [])
            if value not in known and len(known) < _MOST_VALUES:
                known.append(value)
    return values
