"""One plausible wrong argument: what a hurried agent would get wrong, and the tool would still accept.

Candidates for a value, most plausible first: a sibling of it in the database (another card of the same guest, another
variant of the same product), one list item too few or two digits swapped, a value that the same argument has elsewhere
in the domain's gold. The first that the tool accepts and that leads to another end state is taken; where there is none,
the first that the tool refuses, which leaves the write undone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from bots.standins.cue import Cue
from scenarios.domains.base import Domain, GoldAction
from scenarios.domains.environment import Environment
from scenarios.sides import Side
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
    """Return the wrong argument of a scenario's last write that changes something; None when nothing is written."""
    if cue.last_write is None:
        return None
    right = cue.spec.gold_actions[cue.last_write]
    refused: Wrong | None = None
    for argument, value in _candidates(cue, right):
        wrong = Wrong(cue.last_write, argument, replace(right, arguments={**right.arguments, argument: value}))
        hashes = _try(cue, wrong)
        if hashes is None:
            refused = refused or wrong
        elif hashes != cue.gold.expected_hashes:
            return wrong
    return refused


def _try(cue: Cue, wrong: Wrong) -> Mapping[Side, str] | None:
    """Return the final hashes with the wrong call in the gold's place, None when the tool refuses it."""
    environment = Environment(cue.domain, cue.spec)
    for position, action in enumerate(cue.spec.gold_actions):
        chosen = wrong.action if position == wrong.position else action
        result = environment.call_tool(action.side, chosen.tool, dict(chosen.arguments))
        if position == wrong.position and not result.ok:
            return None
    return {side: database.hash for side, database in environment.databases.items()}


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
