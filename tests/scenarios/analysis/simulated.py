"""Simulated agents whose chance to pass each scenario is known, as rows for the comparisons."""

import random
from collections.abc import Sequence

from scenarios.analysis.trials import TrialRow

# Mean 0.796 and 24 % discordance: pass^1 79.6 and pass^2 67.4 of a published text agent on 114 retail scenarios.
FLAKY = (2.4, 0.616)


def flaky_agent(rng: random.Random, scenarios: int) -> list[float]:
    """Return each scenario's chance to pass."""
    return [rng.betavariate(*FLAKY) for _ in range(scenarios)]


def names(scenarios: int) -> list[str]:
    return [f"retail__{number}" for number in range(scenarios)]


def sweep(rng: random.Random, run: str, chances: Sequence[float], trials: int) -> list[TrialRow]:
    """Return the rows of a run of this agent, every trial rated."""
    return [
        TrialRow(name, number, "pass" if rng.random() < chance else "fail", run)
        for name, chance in zip(names(len(chances)), chances, strict=True)
        for number in range(1, trials + 1)
    ]
