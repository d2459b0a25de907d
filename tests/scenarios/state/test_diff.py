"""The three-way diff: what each field is, and which call made it so."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from scenarios.state.changes import Change
from scenarios.state.diff import FieldDiff, three_way
from scenarios.state.overlay import Overlay, Seed
from tests.scenarios.state.trees import database, scribble


@dataclass(frozen=True)
class Call:
    """A tool use or gold step, as plain as the diff wants it."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    changes: Sequence[Mapping[str, Any]] = ()
    call: int = 0
    ok: bool | None = True
    error: str | None = None


class World:
    """One database written twice: by the gold and by the call."""

    def __init__(self, data: dict[str, Any]) -> None:
        seed = Seed(data)
        self.expected, self.actual = Overlay(seed), Overlay(seed)
        self.gold: list[Call] = []
        self.uses: list[Call] = []

    def plan(self, tool: str, write: Callable[[Overlay], Any], **arguments: Any) -> None:
        self.gold.append(Call(tool, arguments, _written(self.expected, write)))

    def use(self, tool: str, write: Callable[[Overlay], Any], **arguments: Any) -> None:
        changes = _written(self.actual, write)
        self.uses.append(Call(tool, arguments, changes, call=len(self.uses) + 1))

    def refuse(self, tool: str, error: str, **arguments: Any) -> None:
        self.uses.append(Call(tool, arguments, call=len(self.uses) + 1, ok=False, error=error))

    def diff(self) -> dict[tuple[str | int, ...], FieldDiff]:
        return {row.path: row for row in three_way(self.expected, self.actual, self.uses, self.gold)}


def _written(overlay: Overlay, write: Callable[[Overlay], Any]) -> list[dict[str, Any]]:
    with overlay.transaction() as changes:
        write(overlay)
    return [{"side": "agent", **json.loads(json.dumps(change.to_json()))} for change in changes]


def status(value: Any, key: str = "#1") -> Callable[[Overlay], Any]:
    return lambda db: db.edit("orders", key).update(status=value)


@pytest.fixture
def world() -> World:
    return World({"orders": {"#1": {"status": "pending", "items": [{"id": 1}]}, "#2": {"status": "pending"}}})


STATUS = ("orders", "#1", "status")


def test_nothing_written_on_either_side_is_an_empty_diff(world: World) -> None:
    assert world.diff() == {}


def test_a_field_that_is_as_expected_names_the_call_that_wrote_it(world: World) -> None:
    world.plan("read", lambda db: None)
    world.plan("cancel", status("cancelled"))
    world.use("cancel", status("cancelled"))
    row = world.diff()[STATUS]
    assert (row.state, row.seed, row.expected, row.actual) == ("right", "pending", "cancelled", "cancelled")
    assert (row.call, row.tool, row.gold_call, row.gold_tool) == (1, "cancel", 1, "cancel")


def test_a_wrong_field_names_its_last_writer_and_the_gold_call(world: World) -> None:
    world.plan("cancel", status("cancelled"))
    world.use("modify", status("modified"))
    world.use("return", status("returned"))
    row = world.diff()[STATUS]
    assert (row.state, row.why, row.call, row.tool, row.gold_tool) == ("wrong", "", 2, "return", "cancel")


def test_a_right_value_that_was_written_over_is_told(world: World) -> None:
    world.plan("cancel", status("cancelled"))
    world.use("cancel", status("cancelled"))
    world.use("modify", status("modified"))
    row = world.diff()[STATUS]
    assert (row.state, row.why, row.call) == ("wrong", "overwritten", 2)


def test_a_change_that_was_undone_is_missing_because_overwritten(world: World) -> None:
    world.plan("cancel", status("cancelled"))
    world.use("cancel", status("cancelled"))
    world.use("undo", status("pending"))
    row = world.diff()[STATUS]
    assert (row.state, row.why, row.call, row.tool) == ("missing", "overwritten", 2, "undo")


def test_a_missing_change_that_nobody_tried(world: World) -> None:
    world.plan("cancel", status("cancelled"))
    world.use("cancel", status("cancelled", "#2"))
    row = world.diff()[STATUS]
    assert (row.state, row.why, row.call, row.gold_call) == ("missing", "never_attempted", None, 0)


def test_a_missing_change_that_was_refused_names_the_refused_call(world: World) -> None:
    world.plan("cancel", status("cancelled"), order_id="#1", reason="late")
    world.refuse("cancel", "bad_reason", order_id="#1", reason="dunno")
    world.refuse("cancel", "order_not_found", order_id="#9", reason="dunno")
    row = world.diff()[STATUS]
    assert (row.state, row.why, row.call, row.error) == ("missing", "refused", 1, "bad_reason")


@pytest.mark.parametrize(
    ("asked", "why"),
    [("#1", "refused"), ("1", "refused"), ("#17", "refused"), ("#2", "never_attempted"), (None, "refused")],
)
def test_a_refused_call_counts_for_the_record_it_was_meant_for(world: World, asked: str | None, why: str) -> None:
    world.plan("cancel", status("cancelled"), order_id="#1", reason="late")
    world.refuse("cancel", "some_kind", order_id=asked, reason="late")
    assert world.diff()[STATUS].why == why


def test_a_change_that_the_gold_does_not_make_is_unexpected(world: World) -> None:
    world.use("cancel", status("cancelled"))
    row = world.diff()[STATUS]
    assert (row.state, row.call, row.tool, row.gold_call, row.gold_tool) == ("unexpected", 1, "cancel", None, None)


def test_absent_values_are_told_from_null(world: World) -> None:
    world.plan("note", lambda db: db.edit("orders", "#1").update(note=None))
    row = world.diff()["orders", "#1", "note"]
    assert (row.expected, row.absent) == (None, ("seed", "actual"))


def test_a_record_of_ones_own_is_one_row_and_one_of_both_is_compared_by_field(world: World) -> None:
    world.plan("book", lambda db: db.insert("orders", "#3", {"status": "new", "price": 5}))
    assert list(world.diff()) == [("orders", "#3")]
    world.use("book", lambda db: db.insert("orders", "#3", {"status": "new", "price": 6.0}))
    rows = world.diff()
    assert rows["orders", "#3", "price"].state == "wrong"
    assert rows["orders", "#3", "status"].state == "right"
    assert rows["orders", "#3", "price"].call == 1


def test_a_removed_record(world: World) -> None:
    world.plan("drop", lambda db: db.delete("orders", "#2"))
    assert world.diff()["orders", "#2"].state == "missing"
    world.use("drop", lambda db: db.delete("orders", "#2"))
    assert world.diff()["orders", "#2"].state == "right"


def test_a_longer_list_differs_at_its_end(world: World) -> None:
    world.plan("add", lambda db: db.edit("orders", "#1")["items"].append({"id": 2}))
    world.use("add", lambda db: db.edit("orders", "#1")["items"].extend([{"id": 2}, {"id": 3}]))
    rows = world.diff()
    assert rows["orders", "#1", "items", 1, "id"].state == "right"
    assert rows["orders", "#1", "items", 2].state == "unexpected"
    assert rows["orders", "#1", "items", 2].call == 1


def test_the_order_of_an_unordered_list_is_no_difference() -> None:
    world = World({"reservations": {"A": {"bookings": [{"id": "x"}]}}})
    for side in (world.plan, world.use):
        order = [{"id": "b"}, {"id": "a"}] if side == world.plan else [{"id": "a"}, {"id": "b"}]
        side("rebook", lambda db, order=order: db.edit("reservations", "A")["bookings"].extend(order))  # type: ignore[misc]
    rows = world.diff()
    assert {row.state for row in rows.values()} == {"right"}
    assert {row.call for row in rows.values()} == {1}


def test_values_that_hash_alike_are_alike(world: World) -> None:
    world.plan("price", lambda db: db.edit("orders", "#1").update(price=2, note=None))
    world.use("price", lambda db: db.edit("orders", "#1").update(price=2.0, note="None"))
    assert {row.state for row in world.diff().values()} == {"right"}


def test_changes_of_the_other_side_are_no_cause(world: World) -> None:
    world.plan("cancel", status("cancelled"))
    changes = [{**Change(STATUS, "pending", "cancelled").to_json(), "side": "user"}]
    world.uses.append(Call("cancel", changes=changes, call=1))
    assert world.diff()[STATUS].why == "never_attempted"


def test_what_initialisation_wrote_is_where_a_call_starts(world: World) -> None:
    for overlay in (world.expected, world.actual):
        _written(overlay, status("locked"))
    start = world.expected.snapshot()
    world.plan("unlock", status("open"))
    (row,) = three_way(world.expected, world.actual, world.uses, world.gold, start=start)
    assert (row.path, row.state, row.seed) == (STATUS, "missing", "locked")


def test_the_top_level_session_counts_as_little_as_in_the_hash() -> None:
    world = World({"session": {"user": None}, "orders": {}})
    world.use("login", lambda db: db.edit("session").update(user="x"))
    assert world.diff() == {}


def test_a_row_is_stored_as_plain_json(world: World) -> None:
    world.plan("cancel", status("cancelled"))
    (row,) = three_way(world.expected, world.actual, world.uses, world.gold)
    stored = json.loads(json.dumps(row.to_json()))
    assert stored["path"] == list(STATUS)
    assert stored["why"] == "never_attempted"


@pytest.mark.parametrize("number", range(400))
def test_a_diff_has_faults_exactly_when_the_hashes_differ(number: int) -> None:
    source = random.Random(number)
    seed = Seed(database(source))
    expected, actual = Overlay(seed), Overlay(seed)
    shared = source.randrange(1000)
    for overlay in (expected, actual):
        if source.random() < 0.7:  # often the same history, so that equal ends occur
            same = random.Random(shared)
            with overlay.transaction():
                scribble(overlay, same)
        for _ in range(source.randrange(3)):
            with overlay.transaction():
                scribble(overlay, source)
    rows = three_way(expected, actual, [], [])
    assert any(row.state != "right" for row in rows) == (expected.hash != actual.hash)


def note_of(expected: Any, actual: Any) -> list[tuple[tuple[str | int, ...], str, str]]:
    world = World({"t": {"a": {"v": None}}})
    world.plan("write", lambda db: db.edit("t", "a").update(v=expected))
    world.use("write", lambda db: db.edit("t", "a").update(v=actual))
    assert (world.expected.hash == world.actual.hash) is all(row.state == "right" for row in world.diff().values())
    return [(path[2:], row.state, row.note) for path, row in world.diff().items() if row.state != "right"]


def test_lists_with_the_same_items_are_one_row_that_says_so() -> None:
    """B02: the strict verdict stays, and the diff says what kind of difference it is."""
    cards = [{"id": "card_1", "amount": 50}, {"id": "card_2", "amount": 30}]
    assert note_of(cards, cards[::-1]) == [(("v",), "wrong", "same items, other order")]
    assert [row[2] for row in note_of(cards, [cards[0], {"id": "card_2", "amount": 31}])] == [""]
    assert note_of(["a", "a", "b"], ["a", "b", "b"]) == [(("v", 1), "wrong", "")]
    assert note_of([1, True], [True, 1]) != []


@pytest.mark.parametrize(
    ("expected", "actual", "note"),
    [
        (2, "2", "same value, other type: text, not number"),
        (True, 1, "same value, other type: number, not truth value"),
        (1, True, "same value, other type: truth value, not number"),
        ("120.00", 120, "same value, other type: number, not text"),
        ("two", 2, "other type: number, not text"),
        ({"a": 1}, "a", "other type: text, not object"),
        (2.5, 3, ""),
        (2, None, ""),
    ],
)
def test_a_difference_of_type_is_named(expected: Any, actual: Any, note: str) -> None:
    """B04: text is no number and 1 is not true; the reader is told which it was."""
    assert [row[2] for row in note_of(expected, actual)] == [note]


def test_whole_numbers_are_equal_however_they_are_written() -> None:
    """B04: numbers are compared by value."""
    assert note_of(2, 2.0) == note_of(120, 120.00) == []


def test_a_name_in_another_normal_form_is_told_apart_from_another_name() -> None:
    """B57: the strict hash differs, and the diff says that the text is the same."""
    assert note_of("Zo\u00eb", "Zoe\u0308") == [(("v",), "wrong", "same text, other normal form")]
    assert note_of("Zo\u00eb", "Zoe") == [(("v",), "wrong", "")]


@pytest.mark.parametrize(("new", "told"), [(["y", "x"], "in step"), (["x", "y"], None), (["y", "x", "z"], None)])
def test_lists_that_belong_together_are_read_in_pairs(new: list[str], told: str | None) -> None:
    """B03: pairs in another order keep step; the same lists out of step are other pairs."""
    world = World({"t": {"a": {"old": [], "new": []}}})
    world.plan("exchange", lambda db: db.edit("t", "a").update(old=["a", "b"], new=["x", "y"]))
    world.use("exchange", lambda db: db.edit("t", "a").update(old=["b", "a"], new=new))
    note = world.diff()["t", "a", "old"].note
    assert note == f"same items, other order{f'; old and new {told}' if told else ''}"


def test_lists_reordered_out_of_step_are_other_pairs() -> None:
    """B03: each list alone is only reordered, together they mean something else."""
    world = World({"t": {"a": {"old": [], "new": []}}})
    world.plan("exchange", lambda db: db.edit("t", "a").update(old=["a", "b", "c"], new=["x", "y", "z"]))
    world.use("exchange", lambda db: db.edit("t", "a").update(old=["b", "a", "c"], new=["x", "z", "y"]))
    assert world.diff()["t", "a", "new"].note == "same items, other order; old and new not in step: other pairs"
