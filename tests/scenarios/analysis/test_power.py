import random

import pytest

from scenarios.analysis.flake import drops
from scenarios.analysis.power import discordance, sight, smallest_difference
from tests.scenarios.analysis.simulated import flaky_agent
from tests.scenarios.analysis.test_flake import pair


@pytest.mark.parametrize(
    ("scenarios", "trials", "discordant", "points"),
    [(50, 1, 0.2, 16.5), (114, 1, 0.2, 11.3), (114, 1, 0.3, 13.9), (114, 4, 0.2, 5.8)],
)
def test_the_figures_of_the_literature(scenarios: int, trials: int, discordant: float, points: float) -> None:
    found = smallest_difference(scenarios, discordant, trials)
    assert found is not None
    assert 100 * found == pytest.approx(points, abs=0.06)


def test_discordance_is_twice_the_fall_from_one_trial_to_two() -> None:
    assert discordance([(4, 4), (2, 4), (0, 4)]) == pytest.approx(2 * (0.5 - (1 + 1 / 6 + 0) / 3))
    assert discordance([(1, 2)]) == 1
    assert discordance([(1, 1), (0, 0)]) is None
    assert discordance([]) is None


def test_discordance_is_found_in_repetitions() -> None:
    rng = random.Random(30)
    counts = [(found.passes, found.rated) for found in (pair(rng, p, p) for p in flaky_agent(rng, 4000))]
    assert discordance(counts) == pytest.approx(0.244, abs=0.015)


def test_more_scenarios_and_more_trials_see_more() -> None:
    seen = [sight(n, k, 0.24, 0.8) for n, k in ((50, 1), (114, 1), (114, 4), (500, 4))]
    evenly = [one.evenly for one in seen if one.evenly is not None]
    outright = [one.outright for one in seen if one.outright is not None]
    assert len(evenly) == len(outright) == 4
    assert evenly == sorted(evenly, reverse=True)
    assert outright == sorted(outright, reverse=True)
    assert all(even < whole for even, whole in zip(evenly, outright, strict=True))


def test_too_few_scenarios_see_nothing() -> None:
    assert smallest_difference(5, 0.2) is None
    assert smallest_difference(0, 0.2) is None
    found = sight(0, 1, 0.2, 0.8)
    assert (found.evenly, found.outright, found.breaks) == (None, None, None)


def test_without_any_flakiness_six_scenarios_must_differ() -> None:
    assert smallest_difference(120, 0.0) == pytest.approx(0.05)


@pytest.mark.parametrize("trials", [1, 2])
def test_one_or_two_trials_list_no_single_scenario(trials: int) -> None:
    assert sight(114, trials, 0.24, 0.8).breaks is None


def test_so_many_breaks_are_listed_as_is_said() -> None:
    rate = 2.4 / 3.016
    needed = sight(114, 4, 0.244, rate).breaks
    assert needed is not None
    assert 2 <= needed <= 3
    rng = random.Random(31)
    shares = []
    for broken in (needed - 1, needed + 1):
        listed = 0
        for _ in range(100):
            counts = [pair(rng, 1.0, 0.0) for _ in range(broken)]
            counts += [pair(rng, p, p) for p in flaky_agent(rng, 114 - broken)]
            listed += set(range(broken)) <= drops(counts).outside
        shares.append(listed / 100)
    assert shares[0] < 0.5
    assert shares[1] > 0.8


def test_a_stable_agent_shows_each_break() -> None:
    assert sight(114, 4, 0.0, 1.0).breaks == 1
    assert sight(114, 4, 0.0, 0.0).breaks is None  # nothing passes: nothing can break
    assert sight(114, 4, 0.5, 0.5).breaks == pytest.approx(114 / 256 / (0.05 - 1 / 256), abs=1)


@pytest.mark.parametrize(
    ("scenarios", "trials", "discordant", "rate"),
    [(-1, 1, 0.1, 0.5), (10, 0, 0.1, 0.5), (10, 1, 0.1, 1.5), (10, 1, -0.1, 0.5), (10, 1, 0.3, 0.95)],
)
def test_numbers_that_no_history_gives_are_refused(scenarios: int, trials: int, discordant: float, rate: float) -> None:
    with pytest.raises(ValueError, match="nothing to foresee|can't be at a rate"):
        sight(scenarios, trials, discordant, rate)
