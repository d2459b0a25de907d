"""The overlay: copy on first touch, rollback, exact changes, replay of changes, and the cached hash."""

import json
import random
from typing import Any

import pytest

from scenarios.state.canonical import canonical_hash
from scenarios.state.changes import Change
from scenarios.state.overlay import Key, Overlay, Seed
from tests.scenarios.state.trees import database, scribble


def small() -> dict[str, Any]:
    return {
        "orders": {"#1": {"status": "pending", "items": [1, 2]}, "#2": {"status": "delivered", "items": []}},
        "lines": [{"id": "L1", "active": True}],
        "device": {"airplane": False, "sim": {"locked": False}},
        "_current_date": "2024-05-15",
    }


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(Seed(small()))


def test_an_untouched_overlay_is_its_seed(overlay: Overlay) -> None:
    assert overlay.to_json() == small()
    assert overlay.hash == overlay.seed.hash == canonical_hash(small())
    assert list(overlay.touched()) == []


def test_an_edit_names_exactly_what_it_changed(overlay: Overlay) -> None:
    with overlay.transaction() as changes:
        overlay.edit("orders", "#1")["status"] = "cancelled"
        overlay.edit("orders", "#1")["items"].append(3)
    assert changes == [
        Change(("orders", "#1", "status"), "pending", "cancelled"),
        Change(("orders", "#1", "items", 2), None, 3, "add"),
    ]
    assert list(overlay.touched()) == [("orders", "#1")]


def test_the_seed_is_never_written(overlay: Overlay) -> None:
    with overlay.transaction():
        overlay.edit("orders", "#1")["items"].clear()
        overlay.edit("device")["sim"]["locked"] = True
        overlay.insert("lines", 0, {"id": "L2"})
        overlay.delete("orders", "#2")
    assert overlay.seed.data == small()
    assert Overlay(overlay.seed).to_json() == small()


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failed_transaction_leaves_everything_as_it_was(overlay: Overlay, error: type[BaseException]) -> None:
    with overlay.transaction():
        overlay.edit("orders", "#1")["status"] = "processed"
    before, digest = json.dumps(overlay.to_json()), overlay.hash

    def write_and_fail() -> None:
        with overlay.transaction():
            overlay.edit("orders", "#1")["status"] = "cancelled"
            overlay.edit("device")["airplane"] = True
            overlay.insert("orders", "#3", {})
            overlay.insert("lines", 0, {})
            overlay.delete("orders", "#2")
            raise error

    with pytest.raises(error):
        write_and_fail()
    assert json.dumps(overlay.to_json()) == before
    assert overlay.hash == digest
    with overlay.transaction():
        pass  # the overlay is usable again


def test_what_was_handed_out_never_changes(overlay: Overlay) -> None:
    first, table, device = overlay.get("orders", "#1"), overlay.table("orders"), overlay.get("device")
    with overlay.transaction():
        overlay.edit("orders", "#1")["status"] = "cancelled"
        overlay.edit("device")["airplane"] = True
    second = overlay.get("orders", "#1")
    with overlay.transaction():
        overlay.edit("orders", "#1")["status"] = "again"
    assert (first["status"], table["#1"]["status"], device["airplane"]) == ("pending", "pending", False)
    assert second["status"] == "cancelled"


def test_records_of_all_shapes_are_read_by_key(overlay: Overlay) -> None:
    assert overlay.get("lines", 0)["id"] == "L1"
    assert overlay.get("_current_date") == "2024-05-15"
    assert dict(overlay.table("lines")) == {0: {"id": "L1", "active": True}}
    assert list(overlay.table("device")) == ["airplane", "sim"]
    places: list[tuple[str, Key]] = [("orders", "#9"), ("lines", 1), ("lines", -1), ("lines", "0"), ("nowhere", None)]
    for table, key in places:
        with pytest.raises(KeyError):
            overlay.get(table, key)


def test_a_table_view_cannot_be_written(overlay: Overlay) -> None:
    with pytest.raises(TypeError):
        overlay.table("orders")["#9"] = {}  # type: ignore[index]


@pytest.mark.parametrize("table", ["orders", "lines"])
def test_insert_and_delete_are_changes_of_whole_records(overlay: Overlay, table: str) -> None:
    key = "#3" if table == "orders" else 1
    with overlay.transaction() as added:
        overlay.insert(table, key, {"id": "new"})
    with overlay.transaction() as removed:
        overlay.delete(table, key)
    assert added == [Change((table, key), None, {"id": "new"}, "add")]
    assert removed == [Change((table, key), {"id": "new"}, None, "remove")]
    assert overlay.hash == overlay.seed.hash


def test_only_the_last_record_of_a_list_can_be_removed(overlay: Overlay) -> None:
    with overlay.transaction():
        overlay.insert("lines", 0, {"id": "L2"})
    with pytest.raises(ValueError, match="not its last"), overlay.transaction():
        overlay.delete("lines", 0)


def test_writing_needs_a_transaction_and_only_one(overlay: Overlay) -> None:
    for write in (lambda: overlay.edit("orders", "#1"), lambda: overlay.insert("orders", "#3", {})):
        with pytest.raises(RuntimeError, match="inside a transaction"):
            write()
    with overlay.transaction(), pytest.raises(RuntimeError, match="already open"), overlay.transaction():
        pass


def test_an_edit_that_changes_nothing_touches_nothing(overlay: Overlay) -> None:
    with overlay.transaction() as changes:
        overlay.edit("orders", "#1")["status"] = "pending"
    assert changes == []
    assert list(overlay.touched()) == []


def test_a_snapshot_stays_as_it_is(overlay: Overlay) -> None:
    with overlay.transaction():
        overlay.edit("orders", "#1")["status"] = "cancelled"
    snapshot = overlay.snapshot()
    with overlay.transaction():
        overlay.edit("orders", "#1")["status"] = "again"
        overlay.edit("orders", "#2")["status"] = "again"
    assert snapshot.get("orders", "#1")["status"] == "cancelled"
    assert list(snapshot.touched()) == [("orders", "#1")]
    assert snapshot.hash == canonical_hash(snapshot.to_json()) != overlay.hash


@pytest.mark.parametrize("seed", range(300))
def test_any_history_hashes_as_its_whole_and_replays_from_its_changes(seed: int) -> None:
    source = random.Random(seed)
    original = Seed(database(source))
    overlay, again = Overlay(original), Overlay(original)
    for _ in range(source.randrange(1, 5)):
        with overlay.transaction() as changes:
            for _ in range(source.randrange(1, 5)):
                scribble(overlay, source)
        again.apply(Change.from_json(json.loads(json.dumps(change.to_json()))) for change in changes)
        assert overlay.hash == canonical_hash(overlay.to_json())
        assert json.dumps(again.to_json(), sort_keys=True) == json.dumps(overlay.to_json(), sort_keys=True)
        assert again.hash == overlay.hash
    assert original.hash == canonical_hash(dict(original.data))


@pytest.mark.parametrize("seed", range(100))
def test_any_failed_transaction_rolls_back(seed: int) -> None:
    source = random.Random(seed)
    overlay = Overlay(Seed(database(source)))
    with overlay.transaction():
        scribble(overlay, source)
    before = json.dumps(overlay.to_json())

    def write_and_fail() -> None:
        with overlay.transaction():
            for _ in range(4):
                scribble(overlay, source)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_fail()
    assert json.dumps(overlay.to_json()) == before
