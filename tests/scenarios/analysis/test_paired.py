import random

import pytest

from scenarios.analysis.flake import Counts
from scenarios.analysis.paired import Difference, corrected, difference
from tests.scenarios.analysis.simulated import FLAKY, flaky_agent
from tests.scenarios.analysis.test_flake import pair

MEAN = FLAKY[0] / sum(FLAKY)


def repeats(kind: str, scenarios: int, trials: int, seed: int, count: int = 400) -> tuple[float, list[Difference]]:
    """Return the true difference and what repeats of the comparison say about it."""
    rng = random.Random(seed)
    truth = {"same": 0.0, "evenly": -0.15 * MEAN, "breaks": -0.1 * MEAN, "rare": -0.04, "rises": 0.04}[kind]
    found = []
    for _ in range(count):
        before = [0.95] * scenarios if kind in {"rare", "rises"} else flaky_agent(rng, scenarios)
        after = {
            "same": before,
            "evenly": [0.85 * p for p in before],
            "breaks": [0.0 if rng.random() < 0.1 else p for p in before],
            "rare": [0.91] * scenarios,
            "rises": [0.99] * scenarios,
        }[kind]
        found.append(difference([pair(rng, p, q, trials) for p, q in zip(before, after, strict=True)]))
    return truth, found


@pytest.mark.parametrize("kind", ["same", "evenly", "breaks", "rare", "rises"])
@pytest.mark.parametrize(("scenarios", "trials"), [(12, 1), (40, 1), (114, 1), (12, 4), (114, 4)])
def test_the_interval_holds_the_true_difference(kind: str, scenarios: int, trials: int) -> None:
    truth, found = repeats(kind, scenarios, trials, seed=8)
    held = [one.interval is not None and one.interval.low <= truth <= one.interval.high for one in found]
    assert sum(held) / len(held) >= 0.93


@pytest.mark.parametrize(("scenarios", "trials"), [(40, 1), (114, 4)])
def test_an_unchanged_agent_is_called_changed_once_in_twenty(scenarios: int, trials: int) -> None:
    _, found = repeats("same", scenarios, trials, seed=9, count=600)
    assert sum(one.verdict != "not distinguishable" for one in found) / len(found) <= 0.065


@pytest.mark.parametrize(("trials", "power"), [(1, 0.65), (4, 0.7)])
def test_the_detectable_difference_is_seen_four_times_of_five(trials: int, power: float) -> None:
    # Every scenario at 0.7 and 0.7 - d: about d = detectable, as the mean of the repeats says it.
    rng = random.Random(10)

    def sweep(drop: float) -> list[Difference]:
        return [difference([pair(rng, 0.7, 0.7 - drop, trials) for _ in range(114)]) for _ in range(300)]

    said = [one.detectable for one in sweep(0.0)]
    drop = sum(value for value in said if value is not None) / len(said)
    seen = [one.verdict == "worse" for one in sweep(drop)]
    assert power <= sum(seen) / len(seen) <= 0.9


def test_figures_by_hand() -> None:
    found = difference([Counts(1, 1, 0, 1)] * 8 + [Counts(0, 1, 1, 1)] + [Counts(1, 1, 1, 1)] * 11)
    assert (found.baseline.value, found.candidate.value, found.value) == (0.95, 0.6, -0.35)
    assert (found.baseline.passes, found.baseline.rated) == (19, 20)
    assert found.p == pytest.approx(0.0390625)
    assert (found.method, found.verdict) == ("exact McNemar", "worse")


def test_scenarios_weigh_alike_whatever_their_trials() -> None:
    found = difference([Counts(4, 4, 0, 1), Counts(0, 1, 0, 4)])
    assert (found.baseline.value, found.candidate.value, found.value) == (0.5, 0.0, -0.5)
    assert (found.baseline.passes, found.baseline.rated) == (4, 5)


def test_nothing_is_no_rate_and_no_verdict() -> None:
    found = difference([], margin=0.05)
    assert (found.baseline.value, found.value, found.p, found.interval) == (None, None, None, None)
    assert found.verdict == "nothing to compare"


def test_five_scenarios_can_show_nothing_and_say_so() -> None:
    found = difference([Counts(1, 1, 0, 1)] * 5)
    assert found.detectable is None
    assert found.verdict == "not distinguishable"


def test_runs_that_agree_have_an_interval_with_a_width() -> None:
    interval = difference([Counts(1, 1, 1, 1)] * 20).interval
    assert interval is not None
    assert interval.low < -0.05 < 0.05 < interval.high


def test_equivalence_needs_scenarios_and_agreement() -> None:
    same = [Counts(4, 4, 4, 4)] * 80 + [Counts(3, 4, 2, 4), Counts(2, 4, 3, 4)] * 10
    found = difference(same, margin=0.05).equivalence
    assert found is not None
    assert found.equivalent
    assert found.no_worse
    assert -0.05 < found.interval.low < found.interval.high < 0.05
    few = difference(same[:6], margin=0.05).equivalence
    assert few is not None
    assert not few.equivalent
    better = difference([*same, *[Counts(0, 4, 4, 4)] * 30], margin=0.05).equivalence
    assert better is not None
    assert better.no_worse
    assert not better.equivalent


def test_a_difference_at_the_margin_is_seldom_called_equivalent() -> None:
    rng = random.Random(11)
    wrong = 0
    for _ in range(400):
        found = difference([pair(rng, 0.8, 0.7) for _ in range(60)], margin=0.1).equivalence
        wrong += found is not None and found.no_worse
    assert wrong / 400 <= 0.07


@pytest.mark.parametrize("margin", [0, -0.1, 1, 5])
def test_a_margin_that_is_none_is_refused(margin: float) -> None:
    with pytest.raises(ValueError, match="such as 0.05"):
        difference([Counts(1, 1, 1, 1)], margin)


def test_asking_of_many_domains_is_paid_for() -> None:
    worse = difference([Counts(1, 1, 0, 1)] * 7 + [Counts(1, 1, 1, 1)] * 20)
    nothing = difference([])
    family = corrected({"a": worse, "b": difference([Counts(1, 1, 1, 1)] * 9), "c": nothing, "d": worse, "e": worse})
    assert (worse.verdict, family["a"].verdict) == ("worse", "not distinguishable")
    assert family["a"].adjusted_p == pytest.approx(4 * 0.015625)
    assert family["c"].adjusted_p is None
    assert corrected({"a": worse}) == {"a": worse}


def test_the_order_of_scenarios_does_not_matter() -> None:
    rng = random.Random(12)
    counts = [Counts(rng.randint(0, 3), 3, rng.randint(0, n), n) for n in (1, 2, 4, 5, 7) for _ in range(12)]
    expected = difference(counts, margin=0.05)
    for _ in range(10):
        rng.shuffle(counts)
        assert difference(counts, margin=0.05) == expected


def test_a_rates_interval_is_about_the_rate_shown() -> None:
    rate = difference([Counts(1, 1, 1, 1)] * 30 + [Counts(0, 40, 0, 40)] * 10).baseline
    assert (rate.value, rate.passes, rate.rated) == (0.75, 30, 430)
    assert rate.interval is not None
    assert rate.interval.low < 0.75 < rate.interval.high
