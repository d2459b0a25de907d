import random
from collections.abc import Sequence

import pytest

from scenarios.analysis.correction import MIN_LABELS, RatedCall, headline
from scenarios.analysis.label_value import labels_needed, ranked


def run(seed: int, count: int = 400, prevalence: float = 0.75) -> dict[str, bool]:
    """Return what people would say of each call; ``rated`` has what the judge says."""
    rng = random.Random(seed)
    return {f"c{number}": rng.random() < prevalence for number in range(count)}


def rated(truth: dict[str, bool], seed: int, tpr: float = 0.97, tnr: float = 0.97) -> list[RatedCall]:
    rng = random.Random(seed + 1)
    return [
        RatedCall(call, rng.random() < tpr if good else rng.random() >= tnr, judged=True)
        for call, good in truth.items()
    ]


def labelled(calls: Sequence[RatedCall], names: Sequence[str], truth: dict[str, bool]) -> list[RatedCall]:
    chosen = set(names)
    return [
        call._replace(people="pass" if truth[call.call] else "fail", sampled=True) if call.call in chosen else call
        for call in calls
    ]


def half_width(calls: Sequence[RatedCall]) -> float:
    interval = headline(calls).corrected.figure.interval
    return interval.half_width if interval else 0.5


def test_it_is_the_same_for_the_same_seed_and_not_for_another() -> None:
    calls = rated(run(1), 1)
    first = ranked(calls, seed=5)
    random.Random(2).shuffle(calls)
    assert ranked(calls, seed=5) == first
    assert [item.call for item in ranked(calls, seed=6)] != [item.call for item in first]


def test_every_unlabelled_judged_call_is_there_once() -> None:
    calls = [
        RatedCall("db", False, judged=False),
        RatedCall("sampled", True, True, "pass", sampled=True),
        RatedCall("unsure", True, True, "cannot_tell", sampled=True),
        RatedCall("by hand", True, True, "fail", sampled=False),
        RatedCall("open", False, True),
    ]
    assert sorted(item.call for item in ranked(calls, seed=1)) == ["by hand", "open"]
    assert ranked(calls[:3], seed=1) == []


def test_the_labels_that_lift_the_refusal_come_first() -> None:
    calls = rated(run(3), 3)
    order = ranked(calls, seed=1)
    first = order[: 2 * MIN_LABELS]
    assert all(item.needed for item in first)
    assert not any(item.needed for item in order[2 * MIN_LABELS :])
    assert sum(item.judge_passed for item in first) == MIN_LABELS


def test_each_label_is_expected_to_narrow_and_the_last_leaves_the_run() -> None:
    order = ranked(rated(run(3), 3), seed=1)
    widths = [item.half_width for item in order]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.05


def test_the_class_that_is_less_certain_comes_first() -> None:
    labels = [RatedCall(f"p{i}", True, True, "pass", sampled=True) for i in range(20)]
    labels += [RatedCall(f"f{i}", False, True, "pass" if i % 2 else "fail", sampled=True) for i in range(20)]
    open_ones = [RatedCall(f"x{i}", i % 2 == 0, True) for i in range(200)]
    order = ranked([*labels, *open_ones], seed=1)
    assert not any(item.judge_passed for item in order[:10])
    assert any(item.judge_passed for item in order[10:60])


def test_what_comes_next_within_a_class_is_drawn_by_lot_and_stays() -> None:
    truth = run(4)
    calls = rated(truth, 4)
    order = ranked(calls, seed=9)
    done = [item.call for item in order[:50]]
    rest = [item.call for item in ranked(labelled(calls, done, truth), seed=9)]
    for passed in (True, False):
        of_class = {call.call for call in calls if call.passed == passed}
        before = [item.call for item in order[50:] if item.call in of_class]
        assert [name for name in rest if name in of_class] == before


def test_the_ordered_queue_needs_fewer_labels_than_a_random_one() -> None:
    ordered, shuffled = [], []
    for seed in range(12):
        truth = run(seed, count=300, prevalence=0.7)
        calls = rated(truth, seed, tpr=0.65, tnr=0.98)  # who it passes is good; who it fails may be anything
        lot = sorted(truth)
        random.Random(seed).shuffle(lot)
        ordered.append(labels_until(calls, truth, 0.065, []))
        shuffled.append(labels_until(calls, truth, 0.065, lot))
    assert sum(ordered) < 0.95 * sum(shuffled)  # measured: 0.88


def labels_until(calls: Sequence[RatedCall], truth: dict[str, bool], target: float, lot: Sequence[str]) -> int:
    """Return how many labels reach the target; without a lot the queue is made anew after each ten."""
    now, done = list(calls), 0
    while half_width(now) > target and done < len(truth):
        batch = list(lot[done : done + 10]) or [item.call for item in ranked(now, seed=1)[:10]]
        now, done = labelled(now, batch, truth), done + 10
    return done


def test_labels_got_in_this_order_still_hold_the_truth() -> None:
    held = 0
    for seed in range(300):
        truth = run(seed, count=150, prevalence=0.7)
        calls = rated(truth, seed, tpr=0.9, tnr=0.75)
        for _ in range(3):  # the queue is made anew after each twenty labels
            batch = [item.call for item in ranked(calls, seed=seed)[:20]]
            calls = labelled(calls, batch, truth)
        interval = headline(calls).corrected.figure.interval
        held += interval is not None and interval.low <= 0.7 <= interval.high
    assert held / 300 > 0.93


def test_how_many_labels_a_half_width_takes() -> None:
    calls = rated(run(5), 5)
    some, more = labels_needed(calls, 0.06), labels_needed(calls, 0.05)
    assert some.labels is not None
    assert more.labels is not None
    assert 2 * MIN_LABELS <= some.labels < more.labels < 400
    assert labels_needed(calls, 0.99).labels == 2 * MIN_LABELS
    hopeless = labels_needed(calls, 0.01)
    assert hopeless.labels is None
    assert 0.03 < hopeless.reachable < 0.05
    with pytest.raises(ValueError, match="such as 0.03"):
        labels_needed(calls, 3)


def test_a_run_that_is_narrow_enough_needs_none() -> None:
    truth = run(6)
    calls = labelled(rated(truth, 6), list(truth), truth)
    assert labels_needed(calls, 0.06).labels == 0
    assert labels_needed([RatedCall("a", True, False)], 0.9).labels == 0
