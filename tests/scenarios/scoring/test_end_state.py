"""The end of a side that keeps its own database: what it gave, or our copy where its hash proves it, never a seed."""

from typing import Any

import pytest

from scenarios.scoring.end_state import end_states
from scenarios.scoring.evidence import CallRecord
from scenarios.state.overlay import Overlay, Seed

SEED = Seed({"tickets": {"A1": {"sold": False}}})
SOLD = {"side": "agent", "path": ["tickets", "A1", "sold"], "before": False, "after": True, "op": "set"}


def record(pulled: dict[str, Any] | None, tools_run: str = "theirs") -> CallRecord:
    call = CallRecord()
    call.prepared["agent"] = {"side": "agent", "tools_run": tools_run}
    if pulled is not None:
        call.pulled["agent"] = {"changes": None, "no_database": "", "actions": [], **pulled}
    return call


def sold() -> Overlay:
    overlay = Overlay(SEED)
    with overlay.transaction():
        overlay.edit("tickets", "A1")["sold"] = True
    return overlay


def test_a_side_whose_tools_ran_here_is_as_it_was() -> None:
    copy = sold()
    ends = end_states(record(None, "ours"), {"agent": copy})
    assert ends.databases["agent"] is copy
    assert (ends.hashes, ends.unread, ends.infra_error) == ({}, {}, None)


def test_without_a_pulled_state_there_is_no_database_at_all() -> None:
    ends = end_states(record(None), {"agent": Overlay(SEED)})
    assert ends.databases == {}
    assert ends.infra_error is not None
    assert ends.infra_error[0] == "state_not_pulled"


def test_a_null_hash_is_no_database() -> None:
    ends = end_states(record({"db_hash": None}), {"agent": Overlay(SEED)})
    assert ends.databases == {}
    assert ends.infra_error is not None
    assert "hash null" in ends.infra_error[1]


def test_the_database_that_was_given_goes_before_our_copy() -> None:
    given = sold()
    ends = end_states(record({"db_hash": given.hash, "changes": [SOLD]}), {"agent": Overlay(SEED)})
    assert ends.databases["agent"].to_json() == given.to_json()
    assert ends.hashes == {"agent": given.hash}


@pytest.mark.parametrize("proved", [True, False])
def test_our_copy_counts_where_the_hash_proves_it(proved: bool) -> None:
    copy = sold()
    pulled = {"db_hash": copy.hash if proved else SEED.hash, "no_database": "it is too large"}
    ends = end_states(record(pulled), {"agent": copy})
    assert ends.hashes == {"agent": pulled["db_hash"]}
    assert ("agent" in ends.databases) == proved
    assert ends.infra_error is None
    if not proved:
        assert "too large" in ends.unread["agent"]


def test_a_side_without_a_database_needs_only_to_be_asked() -> None:
    ends = end_states(record({"db_hash": None}), {})
    assert (ends.unread, ends.infra_error) == ({}, None)
