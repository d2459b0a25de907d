"""Three-way diff of a database: what it was, what it should be, what it is, and which tool call made it so.

Only records that the gold or the call touched are looked at, and they are compared as the canonical hash sees them, so
a diff has faults exactly when the hashes differ.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from scenarios.sides import Side
from scenarios.state.canonical import NOT_COMPARED
from scenarios.state.causes import GoldStep, Use, Writes, refused_for, value_at
from scenarios.state.changes import ABSENT, Path, same_leaf
from scenarios.state.likeness import OTHER_ORDER, is_other_order, likeness, rows_of
from scenarios.state.overlay import Overlay

# missing: changed in the gold, as in the seed here; unexpected: as in the seed in the gold, changed here;
# wrong: changed in both, to different values.
FieldState = Literal["right", "wrong", "missing", "unexpected"]
Why = Literal["", "never_attempted", "refused", "overwritten"]


@dataclass(frozen=True)
class FieldDiff:
    """One differing place. Values are canonical; an absent one is None and named in ``absent``."""

    path: Path
    state: FieldState
    seed: Any
    expected: Any
    actual: Any
    absent: tuple[str, ...] = ()  # of "seed", "expected", "actual"
    # Of a missing or wrong field: why the expected value is not there. Overwritten: it was there for a while.
    why: Why = ""
    # The call that made the field what it is, or that was refused. None: no call did.
    call: int | None = None
    tool: str | None = None
    error: str | None = None  # failure kind of a refused call
    # Position (from 0) and name of the gold call that gives the expected value.
    gold_call: int | None = None
    gold_tool: str | None = None
    # How expected and actual are alike though they differ (order, type, normal form); makes no field right.
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the form that signal results store."""
        return {**vars(self), "path": list(self.path), "absent": list(self.absent)}


def three_way(
    expected: Overlay,
    actual: Overlay,
    uses: Sequence[Use],
    gold: Sequence[GoldStep],
    side: Side = "agent",
    start: Overlay | None = None,
) -> list[FieldDiff]:
    """Compare one side's final database with the expected one, both over the same seed.

    ``uses`` are the calls of the conversation in order, ``gold`` the gold calls in order; both of all sides.
    ``start`` is the database as the call began, where initialisation made it differ from the seed.
    """
    history, plan = Writes(uses, side), Writes(gold, side)
    before, wanted, found = (start.to_json() if start else expected.seed.data), expected.to_json(), actual.to_json()
    fields = []
    for path in _touched_paths(expected, actual):
        was, should, became = (value_at(database, path, path[-1]) for database in (before, wanted, found))
        for leaf, values in _walk(was, should, became, path):
            fields.append(_judge(leaf, values, history, plan, uses, actual))
    return _with_pairs(fields)


def _touched_paths(expected: Overlay, actual: Overlay) -> list[Path]:
    touched = [*expected.touched(), *actual.touched()]
    whole = {table for table, key in touched if key is None}
    paths: list[Path] = [(table,) if key is None or table in whole else (table, key) for table, key in touched]
    return sorted({path for path in paths if path[0] not in NOT_COMPARED}, key=str)


def _walk(seed: Any, expected: Any, actual: Any, path: Path) -> Iterator[tuple[Path, tuple[Any, Any, Any]]]:
    """Yield each differing place with its three values; whole records where one side lacks them.

    Lists are compared by position, but one that only has another order is one place, not as many as it is long.
    """
    if isinstance(expected, list) and isinstance(actual, list) and is_other_order(expected, actual):
        yield path, (seed, expected, actual)
        return
    for kind in (dict, list):
        if isinstance(expected, kind) and isinstance(actual, kind):
            was, wanted, found = (_children(value, kind) for value in (seed, expected, actual))
            for step in was | wanted | found:
                children = was.get(step, ABSENT), wanted.get(step, ABSENT), found.get(step, ABSENT)
                yield from _walk(*children, (*path, step))
            return
    if not (same_leaf(expected, actual) and same_leaf(seed, expected)):
        yield path, (seed, expected, actual)


def _children(value: Any, kind: Any) -> dict[Any, Any]:
    if type(value) is not kind:
        return {}
    return dict(enumerate(value)) if isinstance(value, list) else {**value}


def _state(seed: Any, expected: Any, actual: Any) -> FieldState:
    if same_leaf(expected, actual):
        return "right"
    if same_leaf(seed, actual):
        return "missing"
    return "unexpected" if same_leaf(seed, expected) else "wrong"


def _with_pairs(fields: Sequence[FieldDiff]) -> list[FieldDiff]:
    """Say of reordered lists of one record whether they were reordered in step, as lists of pairs must be."""
    reordered: dict[tuple[Path, int], list[FieldDiff]] = {}
    for field in fields:
        if field.note == OTHER_ORDER:
            reordered.setdefault((field.path[:-1], len(field.expected)), []).append(field)
    notes: dict[Path, str] = {}
    for lists in reordered.values():
        if len(lists) > 1:
            wanted, found = rows_of([field.expected for field in lists]), rows_of([field.actual for field in lists])
            names = " and ".join(str(field.path[-1]) for field in lists)
            note = f"{OTHER_ORDER}; {names} {'in step' if wanted == found else 'not in step: other pairs'}"
            notes |= {field.path: note for field in lists}
    return [replace(field, note=notes.get(field.path, field.note)) for field in fields]


def _judge(
    path: Path,
    values: tuple[Any, Any, Any],
    history: Writes,
    plan: Writes,
    uses: Sequence[Use],
    database: Overlay,
) -> FieldDiff:
    seed, expected, actual = values
    state = _state(*values)
    gold_position = plan.last(path)
    gold_step = plan.steps[gold_position] if gold_position is not None else None
    writer = history.last(path)
    cause: Use | None = uses[writer] if writer is not None else None
    why: Why = ""
    if state in ("missing", "wrong"):
        if history.ever(path, expected):
            why = "overwritten"
        elif state == "missing":
            cause = refused_for(gold_step, uses, database) if gold_step else None
            why = "refused" if cause else "never_attempted"
    present = {"seed": seed, "expected": expected, "actual": actual}
    return FieldDiff(
        path=path,
        state=state,
        **{name: None if value is ABSENT else value for name, value in present.items()},
        absent=tuple(name for name, value in present.items() if value is ABSENT),
        why=why,
        call=cause.call if cause else None,
        tool=cause.tool if cause else None,
        error=cause.error if cause else None,
        gold_call=gold_position if state != "unexpected" else None,
        gold_tool=gold_step.tool if gold_step and state != "unexpected" else None,
        note="" if state == "right" else likeness(expected, actual),
    )
