"""Exact changes: what they say, and that making them again gives the same value."""

import json
import random

import pytest

from scenarios.state.changes import Change, changes_between, copy_json, make_change
from tests.scenarios.state.trees import json_tree


def test_one_change_per_differing_leaf() -> None:
    before = {"status": "pending", "address": {"zip": "1", "city": "A"}, "items": [{"id": 1, "price": 2.0}]}
    after = {"status": "pending", "address": {"zip": "2", "city": "A"}, "items": [{"id": 1, "price": 3.0}], "new": {}}
    assert list(changes_between(before, after)) == [
        Change(("address", "zip"), "1", "2"),
        Change(("items", 0, "price"), 2.0, 3.0),
        Change(("new",), None, {}, "add"),
    ]


def test_null_is_a_value_and_absence_is_not() -> None:
    assert list(changes_between({"a": None}, {})) == [Change(("a",), None, None, "remove")]
    assert list(changes_between({}, {"a": None})) == [Change(("a",), None, None, "add")]


@pytest.mark.parametrize(("before", "after"), [(1, 1.0), (1, True), (0, False), ("1", 1), ([], {}), (None, 0)])
def test_kinds_are_told_apart(before: object, after: object) -> None:
    assert list(changes_between({"a": before}, {"a": after})) == [Change(("a",), before, after)]


def test_a_shorter_list_removes_from_its_end_first() -> None:
    assert [change.path for change in changes_between([1, 2, 3], [1])] == [(2,), (1,)]


def test_changes_survive_their_stored_form() -> None:
    change = Change(("orders", "#W1", "items", 0), None, {"a": 1}, "add")
    assert Change.from_json({**json.loads(json.dumps(change.to_json())), "side": "agent"}) == change


@pytest.mark.parametrize("seed", range(200))
def test_making_the_changes_again_gives_the_value_whatever_it_is(seed: int) -> None:
    source = random.Random(seed)
    before, after = {"x": json_tree(source)}, {"x": json_tree(source)}
    again = copy_json(before)
    for change in changes_between(before, after):
        make_change(again, Change.from_json(json.loads(json.dumps(change.to_json()))), 0)
    assert json.dumps(again, sort_keys=True) == json.dumps(after, sort_keys=True)
    assert before == copy_json(before)
