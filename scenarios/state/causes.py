"""Which tool call made a place of a database what it is, or was refused when it tried."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from scenarios.sides import Side
from scenarios.state.canonical import UNORDERED, normalize
from scenarios.state.changes import ABSENT, Path, same_leaf
from scenarios.state.overlay import Overlay


class GoldStep(Protocol):
    """A gold call with what it changed: ``changes`` as events store them, of any side."""

    @property
    def tool(self) -> str: ...
    @property
    def arguments(self) -> Mapping[str, Any]: ...
    @property
    def changes(self) -> Sequence[Mapping[str, Any]]: ...


class Use(GoldStep, Protocol):
    """A tool call of the conversation; ``call`` is its number and ``ok`` None when it was never answered."""

    @property
    def call(self) -> int: ...
    @property
    def ok(self) -> bool | None: ...
    @property
    def error(self) -> str | None: ...


class Writes:
    """What a sequence of calls wrote, by path."""

    def __init__(self, steps: Sequence[GoldStep], side: Side) -> None:
        self.steps = steps
        self._by_table: dict[str | int, list[tuple[int, Path, Any]]] = {}
        for position, step in enumerate(steps):
            for change in step.changes:
                if change.get("side", side) == side:
                    path = tuple(change["path"])
                    value = ABSENT if change["op"] == "remove" else change["after"]
                    self._by_table.setdefault(path[0], []).append((position, path, value))

    def last(self, path: Path) -> int | None:
        """Return the position of the last call that wrote at, above or below a path."""
        return max((position for position, _, _ in self._near(path)), default=None)

    def ever(self, path: Path, value: Any) -> bool:
        """Return whether a call wrote exactly this canonical value at a path."""
        return any(
            where == path[: len(where)] and same_leaf(value_at(written, path[len(where) :], path[-1]), value)
            for _, where, written in self._near(path)
        )

    def _near(self, path: Path) -> Iterator[tuple[int, Path, Any]]:
        wanted = _ordered_part(path)
        for position, where, value in self._by_table.get(path[0], ()):
            written = _ordered_part(where)
            shorter = min(len(written), len(wanted))
            if written[:shorter] == wanted[:shorter]:
                yield position, where, value


def _ordered_part(path: Path) -> Path:
    """Return a path up to its first unordered list: positions inside one mean nothing."""
    for position, step in enumerate(path):
        if step in UNORDERED:
            return path[: position + 1]
    return path


def refused_for(gold: GoldStep, uses: Sequence[Use], database: Overlay) -> Use | None:
    """Return the refused call that was meant as a gold call: same tool, most arguments in common, the latest of those.

    One that names another record which exists was meant for that; one whose id exists nowhere was misheard.
    """
    about = _records_named(gold.arguments, [change["path"] for change in gold.changes])
    candidates = [
        use
        for use in uses
        if use.ok is False and use.tool == gold.tool and not _names_others(use.arguments, about, database)
    ]
    return max(
        reversed(candidates),
        key=lambda use: sum(1 for name, value in gold.arguments.items() if use.arguments.get(name) == value),
        default=None,
    )


def _records_named(arguments: Mapping[str, Any], paths: Sequence[Sequence[Any]]) -> dict[str, tuple[str, str]]:
    """Return table and id, by argument, of the records at ``paths`` that arguments name."""
    keys = {_as_spoken(path[1]): str(path[0]) for path in paths if len(path) > 1}
    spoken = {name: _as_spoken(value) for name, value in arguments.items()}
    return {name: (keys[value], value) for name, value in spoken.items() if value in keys}


def _names_others(arguments: Mapping[str, Any], about: Mapping[str, tuple[str, str]], database: Overlay) -> bool:
    for name, (table, key) in about.items():
        given, records = _as_spoken(arguments.get(name)), database.to_json().get(table)
        if given != key and isinstance(records, dict) and given in map(_as_spoken, records):
            return True
    return False


def _as_spoken(identifier: Any) -> str:
    """Return an identifier without what is lost when it is spoken."""
    return str(identifier).casefold().lstrip("#")


def value_at(value: Any, steps: Path, key: str | int) -> Any:
    """Return the canonical form of what lies ``steps`` below a value, stored under ``key``; ABSENT if nothing does."""
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step, ABSENT)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return ABSENT
    return value if value is ABSENT else normalize(value, key)
