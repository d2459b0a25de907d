"""What a task to be replayed is made of, and how the parts of a foreign one are read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from scenarios.domains.base import Domain, GoldAction, ScenarioSpec
from scenarios.sides import Side

# file: the file's own definition; verdict: today's task with the expected actions that the file's verdict lists.
TaskSource = Literal["file", "verdict", "today"]


class CannotReplay(Exception):
    """Why the tool calls of a trial cannot be run here: a missing domain or task, or damage; the text says which."""


@dataclass(frozen=True)
class ReplayTask:
    """A task ready to be replayed. ``notes`` say what was not as the file labels it."""

    domain: Domain
    spec: ScenarioSpec
    source: TaskSource
    notes: tuple[str, ...] = ()
    # Given records that the task puts into the databases, and messages that came before the call.
    initial_data: Mapping[str, Any] = field(default_factory=dict)
    history: tuple[GoldAction, ...] = ()
    # The label of the trial was wrong and the right task was found.
    is_relabelled: bool = False
    # Whole databases that the file brings along; empty: the domain's own.
    databases: Mapping[Side, Mapping[str, Any]] = field(default_factory=dict)
    # Our hash of the end that the file expects, where it has one.
    expected_hashes: Mapping[Side, str] = field(default_factory=dict)


def parsed(parse: Any, entries: Iterable[Any], where: str) -> list[Any]:
    """Return what ``parse`` makes of each entry; CannotReplay names the one that it cannot read."""
    parsed = []
    for index, entry in enumerate(entries):
        try:
            one = parse(entry)
        except (KeyError, TypeError, AttributeError) as error:
            raise CannotReplay(f"the file's task is damaged: {where}[{index}] ({error!r})") from error
        if not isinstance(one.arguments, Mapping):
            raise CannotReplay(f"the file's task is damaged: {where}[{index}].arguments is no object")
        if not isinstance(one.tool if isinstance(one, GoldAction) else one.func_name, str):
            raise CannotReplay(f"the file's task is damaged: the name of {where}[{index}] is no text")
        parsed.append(one)
    return parsed


def object_of(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object of a task; empty without one."""
    value = data.get(name)
    if value is not None and not isinstance(value, Mapping):
        raise CannotReplay(f"the file's task is damaged: {name} is no object")
    return value or {}


def list_of(data: Mapping[str, Any], name: str) -> list[Any]:
    """Return a list of a task; empty without one."""
    value = data.get(name)
    if value is not None and not isinstance(value, list):
        raise CannotReplay(f"the file's task is damaged: {name} is no list")
    return value or []
