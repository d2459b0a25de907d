"""The end state of sides that keep tools and database themselves: what they gave decides, never a seed.

Source: ``spec/reference-system.md`` 1.3 and 6.1: the summary that is pulled at the end gives the hash that is compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scenarios.sides import SIDES, Side
from scenarios.state.changes import Change
from scenarios.state.overlay import Overlay

if TYPE_CHECKING:
    from scenarios.scoring.evidence import CallRecord

NOT_PULLED = "state_not_pulled"


@dataclass
class EndStates:
    """Final databases by side, and of sides that keep their own: the hash they gave, and why no database is known."""

    databases: dict[Side, Overlay]
    hashes: dict[Side, str] = field(default_factory=dict)
    unread: dict[Side, str] = field(default_factory=dict)
    infra_error: tuple[str, str] | None = None


def end_states(record: CallRecord, databases: Mapping[Side, Overlay]) -> EndStates:
    """Return the end of both sides; ``databases`` are ours, which for a side with its own is a copy that followed it.

    The copy counts only where the hash that the side gave proves it: then it is that side's database, byte for byte.
    """
    ends = EndStates(dict(databases))
    for side in SIDES:
        if record.prepared.get(side, {}).get("tools_run") == "theirs":
            _take(ends, side, record.pulled.get(side))
    return ends


def _take(ends: EndStates, side: Side, pulled: Mapping[str, Any] | None) -> None:
    copy = ends.databases.pop(side, None)
    if pulled is None:
        ends.unread[side] = f"the {side} side keeps its own state, and none was pulled at the end"
        ends.infra_error = ends.infra_error or (NOT_PULLED, ends.unread[side])
        return
    if copy is None:  # a side without a database in this scenario
        return
    db_hash = pulled["db_hash"]
    if db_hash is None:
        ends.unread[side] = f"the {side} side said at the end that it has no database (hash null)"
        ends.infra_error = ends.infra_error or (NOT_PULLED, ends.unread[side])
        return
    ends.hashes[side] = db_hash
    if pulled["changes"] is not None:
        ends.databases[side] = given_database(copy, pulled["changes"])
    elif copy.hash == db_hash:
        ends.databases[side] = copy
    else:
        why = pulled["no_database"] or "it gave none"
        ends.unread[side] = (
            f"only a hash is known of the {side} side's database ({why}), and what it reported of its actions does "
            "not lead to a database with that hash"
        )


def given_database(copy: Overlay, changes: list[Mapping[str, Any]]) -> Overlay:
    """Return the database that a side gave, as changes of the seed that ``copy`` stands on too."""
    database = Overlay(copy.seed)
    database.apply(Change.from_json(change) for change in changes)
    return database
