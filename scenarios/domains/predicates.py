"""Predicates over a final database: their registry, and the one way they are asked.

A predicate is a pure function of one side's database, whichever side that is, and the assertion's arguments; it is
registered under a domain and its own name. A domain's predicates stand in a module that its package imports::

    @predicate("frontdesk")
    def charged_total(db: Overlay, reservation_id: str) -> float: ...
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from scenarios.state.overlay import Overlay

if TYPE_CHECKING:
    from scenarios.domains.base import DbAssertion
    from scenarios.sides import Side

Predicate = Callable[..., Any]
_REGISTRY: dict[str, dict[str, Predicate]] = {}


def predicate(domain: str) -> Callable[[Predicate], Predicate]:
    """Register a function as a predicate of a domain under its own name; a second one of that name is refused."""

    def register(function: Predicate) -> Predicate:
        known = _REGISTRY.setdefault(domain, {})
        name = function.__name__
        if name in known:
            raise ValueError(
                f"two predicates of {domain} are called {name!r}: {known[name].__module__} and {function.__module__}"
            )
        known[name] = function
        return function

    return register


def predicates_of(domain: str) -> Mapping[str, Predicate]:
    """Return a domain's registered predicates by name."""
    return MappingProxyType(_REGISTRY.get(domain, {}))


def registered_predicates() -> list[tuple[str, str]]:
    """Return (domain, name) of every registered predicate, sorted."""
    return sorted((domain, name) for domain, known in _REGISTRY.items() for name in known)


@dataclass(frozen=True)
class PredicateVerdict:
    """What came of one assertion. ``actual`` is None where the predicate could not answer; ``error`` says why."""

    func_name: str
    side: str
    passed: bool
    expected: Any
    actual: Any
    message: str
    error: str | None


def evaluate(
    assertion: DbAssertion, predicates: Mapping[str, Predicate], databases: Mapping[Side, Overlay]
) -> PredicateVerdict:
    """Ask one assertion of the final databases; never raises.

    A predicate that is unknown, names a side without a database, or raises is a failed verdict with an error.
    """
    passed, actual, error = False, None, None
    try:
        actual = _answer(assertion, predicates, databases)
        passed = bool(actual == assertion.assert_value)
        actual = _as_json(actual)
    except _CannotAsk as problem:
        error = str(problem)
    except Exception as problem:  # a predicate is domain code and may fail in any way
        passed, actual, error = False, None, _named(problem)
    return PredicateVerdict(
        func_name=assertion.func_name,
        side=assertion.side,
        passed=passed,
        expected=_as_json(assertion.assert_value),
        actual=actual,
        message=assertion.message,
        error=error,
    )


class _CannotAsk(Exception):
    """There is nothing to ask, or nothing to ask it of."""


def _answer(assertion: DbAssertion, predicates: Mapping[str, Predicate], databases: Mapping[Side, Overlay]) -> Any:
    name, side = assertion.func_name, assertion.side
    # What a file names may be anything, also something that no mapping can look up.
    function = predicates.get(name) if isinstance(name, str) else None
    if function is None:
        raise _CannotAsk(f"unknown predicate {name!r}; known are {', '.join(sorted(predicates)) or 'none'}")
    database = databases.get(side) if isinstance(side, str) else None
    if database is None:
        raise _CannotAsk(f"the {side} side has no database")
    # A snapshot, so that not even a careless predicate changes the state that is scored.
    return function(database.snapshot(), **assertion.arguments)


def _as_json(value: Any) -> Any:
    """Return a value as it can be stored and exported: what is no JSON as Python would write it."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return repr(value)
    return value


def _named(problem: Exception) -> str:
    name = type(problem).__name__
    try:
        return f"{name}: {problem}"
    except Exception:  # an error of domain code, which may not even be able to say what it is
        return name
