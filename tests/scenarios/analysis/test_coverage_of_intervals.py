"""Do the intervals hold what they promise? Seeded simulations with known rates."""

import random

import pytest

from scenarios.analysis.intervals import clustered, wilson

RUNS = 600


def covered(rate: float, scenarios: int, trials: int, spread: float, seed: int) -> tuple[float, float]:
    """Return how often the clustered and the plain interval hold the true rate.

    Scenarios differ: with the share ``spread`` each always passes or always fails, otherwise trials are independent.
    """
    rng = random.Random(seed)
    with_clusters = plain = 0
    for _ in range(RUNS):
        groups = []
        for _ in range(scenarios):
            if rng.random() < spread:
                groups.append((trials * (rng.random() < rate), trials))
            else:
                groups.append((sum(rng.random() < rate for _ in range(trials)), trials))
        ours, naive = clustered(groups), wilson(sum(g[0] for g in groups), scenarios * trials)
        assert ours is not None
        assert naive is not None
        with_clusters += ours.low <= rate <= ours.high
        plain += naive.low <= rate <= naive.high
    return with_clusters / RUNS, plain / RUNS


@pytest.mark.parametrize(
    ("rate", "scenarios", "trials", "spread"),
    [(0.5, 40, 4, 0.0), (0.7, 40, 4, 0.5), (0.8, 30, 8, 0.9), (0.95, 114, 4, 0.7), (0.3, 12, 3, 0.8)],
)
def test_the_clustered_interval_holds_the_rate_nineteen_times_of_twenty(
    rate: float, scenarios: int, trials: int, spread: float
) -> None:
    assert covered(rate, scenarios, trials, spread, seed=1)[0] > 0.92


def test_the_plain_interval_promises_too_much_when_trials_go_together() -> None:
    ours, naive = covered(0.7, 40, 8, 0.9, seed=2)
    assert ours > 0.92
    assert naive < 0.75
