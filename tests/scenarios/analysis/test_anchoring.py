import random

import pytest

from scenarios.analysis.agreement import Label, Ruling
from scenarios.analysis.anchoring import movements


def pair(item: str, blind: Ruling, final: Ruling | None, rater: str = "A", kind: str = "said") -> list[Label]:
    """Return a blind label and what it became."""
    before = Label(item, rater, blind, True, kind=kind)
    return [before] if final is None else [before, before._replace(ruling=final, blind=False)]


def test_each_way_of_moving_has_its_own_denominator() -> None:
    given = [
        *pair("p1", "fail", "pass"),
        *pair("p2", "fail", "fail"),
        *pair("p3", "fail", "cannot_tell"),
        *pair("p4", "pass", "pass"),
        *pair("p5", "pass", "fail"),
        *pair("p6", "pass", "cannot_tell"),
        *pair("p7", "cannot_tell", "pass"),
        *pair("p8", "cannot_tell", "fail"),
        *pair("p9", "fail", None),
        *pair("nobody", "fail", "pass"),
    ]
    judge = {f"p{number}": True for number in range(1, 10)} | {"nobody": None}
    found = movements(given, judge).overall
    assert found.pairs == 8
    assert (found.toward.count, found.toward.of) == (1, 3)
    assert (found.away.count, found.away.of) == (2, 3)
    assert (found.unsure_toward.count, found.unsure_toward.of) == (1, 2)
    assert found.net == 0


def test_a_failing_judge_draws_as_well() -> None:
    found = movements(pair("f", "pass", "fail"), {"f": False}).overall
    assert (found.toward.count, found.toward.of, found.net) == (1, 1, 1)


def test_without_a_reveal_nothing_moved_and_nothing_is_claimed() -> None:
    found = movements(pair("a", "pass", None), {"a": True}).overall
    assert found.pairs == 0
    for figure in (found.toward, found.away, found.unsure_toward):
        assert figure.value is None
        assert figure.reason.startswith("nobody")


def test_a_final_label_without_a_blind_one_does_not_count() -> None:
    assert movements([Label("a", "A", "pass", False)], {"a": True}).overall.pairs == 0


def test_two_final_labels_of_one_rater_are_refused() -> None:
    with pytest.raises(ValueError, match="A has two final labels on a"):
        movements([*pair("a", "pass", "fail"), Label("a", "A", "pass", False)], {"a": True})


def test_a_known_shift_is_recovered_for_each_rater_and_kind() -> None:
    rng = random.Random(4)
    shift = {"easy": 0.6, "stubborn": 0.05}
    given = []
    judge: dict[str, bool | None] = {}
    for number in range(1500):
        item, kind = f"i{number}", rng.choice(["said", "done"])
        judge[item] = rng.random() < 0.5
        for rater, chance in shift.items():
            agrees = rng.random() < 0.7
            blind: Ruling = "pass" if judge[item] == agrees else "fail"
            final: Ruling = "pass" if judge[item] else "fail"
            moved = not agrees and rng.random() < chance
            given += pair(item, blind, final if moved else blind, rater, kind)
    found = movements(given, judge)
    for rater, chance in shift.items():
        toward = found.by_rater[rater].toward
        assert toward.interval is not None
        assert toward.interval.low < chance < toward.interval.high
        assert found.by_rater[rater].away.count == 0
    assert sum(one.pairs for one in found.by_kind.values()) == found.overall.pairs == 3000
    rng.shuffle(given)
    assert movements(given, judge) == found
