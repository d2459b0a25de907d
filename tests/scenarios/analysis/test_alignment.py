import random
from typing import Any

import pytest

from scenarios.analysis import alignment
from scenarios.analysis.alignment import Pair, ToolUse, align, likeness, stretches

TOOLS = ("look", "write", "end")


def use(tool: str, side: str = "agent", **arguments: Any) -> ToolUse:
    return ToolUse(side, tool, arguments)


def called(item: Any) -> ToolUse | None:
    return item if isinstance(item, ToolUse) else None


def test_calls_are_as_alike_as_their_arguments() -> None:
    one = use("write", order="1", item="2")
    assert likeness(one, one) == likeness(use("end"), use("end")) == 2
    assert likeness(one, use("write", order="1", item="3")) == 1.5
    assert likeness(one, use("write", order="1")) == 1.5
    assert likeness(one, use("write", order="7", item="8")) == 1
    assert likeness(one, use("look", order="1", item="2")) == 0
    assert likeness(use("look"), use("look", side="user")) == 0


@pytest.mark.parametrize(("left", "right"), [(1, True), (0, False), (1, 1.0), (None, "None"), ([1], "[1]")])
def test_values_of_other_types_do_not_agree(left: Any, right: Any) -> None:
    assert likeness(use("look", a=left), use("look", a=right)) == 1


def test_a_missing_argument_is_not_the_same_as_none() -> None:
    assert likeness(use("look", a=None, b=1), use("look", b=1)) == 1.5


def test_a_call_that_only_one_side_made_stands_alone() -> None:
    left = [use("look", id=1), use("write", id=1), use("end")]
    assert align(left, [left[0], left[2]]) == [
        Pair(0, 0, "alike"),
        Pair(1, None, "only_left"),
        Pair(2, 1, "alike"),
    ]
    assert align([], left[:1]) == [Pair(None, 0, "only_right")]
    assert align([], []) == []


def test_other_arguments_are_a_changed_call_and_not_two() -> None:
    assert align([use("write", id=1)], [use("write", id=2)]) == [Pair(0, 0, "changed")]


def test_the_nearest_of_several_calls_is_paired() -> None:
    left = [use("look", id=1), use("look", id=2), use("look", id=3)]
    assert align(left, [use("look", id=2)]) == [
        Pair(0, None, "only_left"),
        Pair(1, 0, "alike"),
        Pair(2, None, "only_left"),
    ]


def test_one_good_pair_is_not_worth_two_fair_ones() -> None:
    left = [use("look", a=1), use("look", a=2)]
    right = [use("look", a=2), use("look", a=3)]
    assert [pair.state for pair in align(left, right)] in (
        ["changed", "changed"],
        ["only_left", "alike", "only_right"],
    )  # as alike either way
    assert [pair.state for pair in align(left, [*right, use("look", a=2)])] == ["changed", "only_right", "alike"]


def random_calls(rng: random.Random, length: int) -> list[Any]:
    return [
        use(rng.choice(TOOLS), id=rng.randrange(3)) if rng.random() < 0.5 else f"word {rng.random()}"
        for _ in range(length)
    ]


@pytest.mark.parametrize("seed", range(40))
def test_every_item_is_in_one_stretch_and_in_order(seed: int) -> None:
    rng = random.Random(seed)
    left, right = random_calls(rng, rng.randrange(14)), random_calls(rng, rng.randrange(14))
    found = stretches(left, right, called)
    assert [item for stretch in found for item in stretch.left] == left
    assert [item for stretch in found for item in stretch.right] == right
    for stretch in found:
        items = [*stretch.left, *stretch.right]
        assert items
        assert {called(item) is not None for item in items} == {stretch.state is not None}
        assert stretch.state is None or max(len(stretch.left), len(stretch.right)) == 1


@pytest.mark.parametrize("seed", range(20))
def test_the_alignment_is_the_best_there_is(seed: int) -> None:
    rng = random.Random(seed)
    left, right = ([use(rng.choice(TOOLS), id=rng.randrange(2)) for _ in range(rng.randrange(6))] for _ in "ab")

    def best(i: int, j: int) -> float:
        if i == len(left) or j == len(right):
            return 0.0
        alike = likeness(left[i], right[j])
        return max(best(i + 1, j), best(i, j + 1), best(i + 1, j + 1) + alike if alike else 0.0)

    found = align(left, right)
    reached = sum(likeness(left[p.left], right[p.right]) for p in found if p.left is not None and p.right is not None)
    assert reached == pytest.approx(best(0, 0))


def test_what_was_said_stands_between_the_calls_it_was_said_between() -> None:
    left = ["hello", use("look"), "one moment", use("end"), "goodbye"]
    right = ["hi", "there", use("look"), use("end")]
    assert [(s.state, s.left, s.right) for s in stretches(left, right, called)] == [
        (None, ("hello",), ("hi", "there")),
        ("alike", (use("look"),), (use("look"),)),
        (None, ("one moment",), ()),
        ("alike", (use("end"),), (use("end"),)),
        (None, ("goodbye",), ()),
    ]


def test_beside_a_one_sided_call_stands_what_the_other_said_meanwhile() -> None:
    left = [use("look"), "done", use("end"), "goodbye"]
    right = [use("look"), "done", "anything else?", "no"]
    assert [(s.state, s.left, s.right) for s in stretches(left, right, called)][1:] == [
        (None, ("done",), ("done", "anything else?", "no")),
        ("only_left", (use("end"),), ()),
        (None, ("goodbye",), ()),
    ]


def test_calls_too_many_for_every_pair_are_aligned_to_the_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    left = [use("look", id=n) for n in range(5)]
    right = [*left[:2], use("look", id=9), *left[3:]]
    whole = align(left, right)
    monkeypatch.setattr(alignment, "MOST_PAIRS", 10)
    found = align(left, right)
    assert [pair.state for pair in whole] == ["alike", "alike", "changed", "alike", "alike"]
    assert [pair.state for pair in found] == ["alike", "alike", "only_left", "only_right", "alike", "alike"]
    assert [pair.left for pair in found if pair.left is not None] == list(range(5))


def test_a_thousand_calls_on_either_side_are_aligned() -> None:
    calls = [use("look", id=n) for n in range(1000)]
    assert {pair.state for pair in align(calls, calls)} == {"alike"}
