import random
from itertools import product

import pytest

from scenarios.analysis.flake import Counts, both_ways, drops
from tests.scenarios.analysis.simulated import flaky_agent


def drawn(rng: random.Random, chance: float, trials: int) -> int:
    return sum(rng.random() < chance for _ in range(trials))


def pair(rng: random.Random, before: float, after: float, trials: int = 4) -> Counts:
    return Counts(drawn(rng, before, trials), trials, drawn(rng, after, trials), trials)


def unchanged(kind: str, rng: random.Random, scenarios: int) -> list[float]:
    if kind == "beta":
        return flaky_agent(rng, scenarios)
    if kind == "coin":
        return [0.5] * scenarios
    if kind == "nearly stable":
        return [1.0 if rng.random() < 0.95 else 0.5 for _ in range(scenarios)]
    return [rng.choice([1.0, 1.0, 1.0, 0.0, 0.5]) for _ in range(scenarios)]


@pytest.mark.parametrize("kind", ["beta", "coin", "nearly stable", "mixed"])
@pytest.mark.parametrize(("scenarios", "trials"), [(114, 4), (20, 5), (40, 8)])
def test_an_unchanged_agent_seldom_leaves_the_band(kind: str, scenarios: int, trials: int) -> None:
    rng = random.Random(f"{kind} {scenarios}")
    alarms = 0
    for _ in range(200):
        alarms += bool(drops([pair(rng, p, p, trials) for p in unchanged(kind, rng, scenarios)]).outside)
    assert alarms <= 0.05 * 200 + 6  # two standard errors of 200 repeats


def test_the_chance_is_that_of_an_unchanged_agent() -> None:
    # With 400 coins the spread is known well: after 6 of 8, a coin passes none of 4 once in 16.
    rng = random.Random(2)
    counts = [pair(rng, 0.5, 0.5, 8) for _ in range(400)]
    found = drops([*counts, Counts(6, 8, 0, 4), Counts(6, 8, 1, 4)])
    assert found.chances[-2] == pytest.approx(1 / 16, abs=0.02)
    assert found.chances[-1] == pytest.approx(5 / 16, abs=0.05)


def test_a_scenarios_own_flakiness_widens_its_band() -> None:
    counts = [Counts(8, 8, 4, 4)] * 60 + [Counts(0, 8, 0, 4)] * 10 + [Counts(4, 8, 2, 4)] * 6
    found = drops([*counts, Counts(8, 8, 0, 4), Counts(5, 8, 0, 4)])
    assert found.outside == {len(counts)}
    assert found.chances[-2] < 0.001 < found.chances[-1]


def test_the_same_drop_is_listed_among_stable_scenarios_and_not_among_coins() -> None:
    drop = Counts(4, 4, 0, 4)
    assert drops([Counts(4, 4, 4, 4)] * 113 + [drop]).outside == {113}
    coins = [Counts(a, 4, b, 4) for a, b in product(range(5), repeat=2)] * 5
    assert drops([*coins, drop]).outside == frozenset()


def test_single_trials_list_nothing() -> None:
    assert drops([Counts(1, 1, 1, 1)] * 100 + [Counts(1, 1, 0, 1)] * 14).outside == frozenset()


def test_so_many_false_alarms_are_expected_as_is_said() -> None:
    found = drops([Counts(4, 4, 4, 4)] * 111 + [Counts(4, 4, 0, 4)] * 3)
    assert found.outside == {111, 112, 113}
    assert 0 < found.expected <= 0.05 * 3


def test_rises_are_drops_of_the_mirror_image() -> None:
    rise = Counts(0, 4, 4, 4)
    assert not rise.dropped
    assert rise.mirrored == Counts(4, 4, 0, 4)
    assert drops([rise]).chances == (1.0,)
    assert drops([Counts(1, 4, 2, 8)]).chances == (1.0,)  # the same rate is no drop


def test_both_ways_are_found_with_one_spread() -> None:
    rng = random.Random(5)
    counts = [Counts(8, 8, 0, 8), *(pair(rng, p, p, 8) for p in flaky_agent(rng, 60)), Counts(0, 8, 8, 8)]
    down, up = both_ways(counts)
    assert (set(down.outside), set(up.outside)) == ({0}, {61})
    mirrored = drops([one.mirrored for one in counts])
    assert up.chances == pytest.approx(mirrored.chances)
    assert up.outside == mirrored.outside


def test_the_order_of_scenarios_does_not_matter() -> None:
    rng = random.Random(6)
    counts = [Counts(4, 4, 0, 4)] * 3 + [pair(rng, p, p) for p in flaky_agent(rng, 111)]
    expected = drops(counts)
    order = list(range(114))
    for _ in range(5):
        rng.shuffle(order)
        found = drops([counts[place] for place in order])
        assert [found.chances[order.index(place)] for place in range(114)] == list(expected.chances)
        assert {order[place] for place in found.outside} == expected.outside


def test_many_repetitions_neither_overflow_nor_alarm() -> None:
    rng = random.Random(7)
    assert drops([pair(rng, p, p, 1500) for p in (0.0, 0.013, 0.5, 0.987, 1.0)]).outside == frozenset()
    assert drops([Counts(1500, 1500, 1300, 1500)] + [Counts(1500, 1500, 1500, 1500)] * 9).outside == {0}


def test_nothing_gives_nothing() -> None:
    assert drops([]).outside == frozenset()
