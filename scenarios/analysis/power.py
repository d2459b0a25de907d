"""What a launch could see: the smallest difference, and how many broken scenarios, from the discordance of history.

Discordance is the chance that two trials of one scenario under one configuration disagree, averaged over scenarios:
2 (pass^1 - pass^2). Differences are in the pass rate, 0 to 1, two-sided at 5 % with 80 % power.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, exp, lgamma, sqrt

from scenarios.analysis.flake import ALPHA
from scenarios.analysis.intervals import Z

_REACH = (Z + 0.8416212335729143) ** 2  # (quantile at 97.5 % + quantile at 80 %)^2
# Fewer differences than this never reach 5 %, even all one way: 2 / 2^5 = 0.0625.
FEWEST_DIFFERENT = 6


@dataclass(frozen=True)
class Sight:
    """What ``scenarios`` x ``trials`` on either side could see. None: nothing could be.

    ``evenly``: the smallest difference that is spread over all scenarios; ``outright``: that comes from scenarios
    which break for good; ``breaks``: so many that always passed must always fail to be listed as outside the band.
    """

    scenarios: int
    trials: int
    discordance: float
    evenly: float | None
    outright: float | None
    breaks: int | None


def discordance(counts: Iterable[tuple[int, int]]) -> float | None:
    """Return the discordance of scenarios with (passes, rated trials) each; None when none has two trials."""
    repeated = [(passes, total) for passes, total in counts if total > 1]
    if not repeated:
        return None
    return sum(2 * p * (n - p) / (n * (n - 1)) for p, n in repeated) / len(repeated)


def sight(scenarios: int, trials: int, discordance: float, rate: float) -> Sight:
    """Return what a launch could see; ``discordance`` and ``rate`` are those of the baseline's configuration.

    Raises ValueError for numbers that no history could give.
    """
    if scenarios < 0 or trials < 1 or not 0 <= rate <= 1:
        raise ValueError(f"nothing to foresee for {scenarios} scenarios x {trials} trials at a rate of {rate}")
    if not 0 <= discordance <= 2 * rate * (1 - rate) + 1e-9:
        raise ValueError(f"a discordance of {discordance} can't be at a rate of {rate}: at most 2 x rate x (1 - rate)")
    return Sight(
        scenarios,
        trials,
        discordance,
        smallest_difference(scenarios, discordance, trials),
        _outright(scenarios, discordance, trials),
        _breaks(scenarios, trials, discordance, rate),
    )


def smallest_difference(scenarios: int, discordance: float, trials: float = 1) -> float | None:
    """Return the smallest difference that is seen with 80 % power, when trials are as good as scenarios.

    Solves d^2 = reach (discordance - d^2) / pairs: the variance of a paired difference d at this discordance.
    """
    if scenarios < 1:
        return None
    reach = _REACH / (scenarios * trials)
    return _possible(sqrt(reach * discordance / (1 + reach)), scenarios * trials)


def _outright(scenarios: int, discordance: float, trials: int) -> float | None:
    """As above with the variance of whole scenarios breaking added: d^2 = reach (discordance / trials + d - d^2)."""
    if scenarios < 1:
        return None
    reach = _REACH / scenarios
    root = (reach + sqrt(reach * reach + 4 * (1 + reach) * reach * discordance / trials)) / (2 * (1 + reach))
    return _possible(root, scenarios)


def _possible(difference: float, pairs: float) -> float | None:
    least = max(difference, FEWEST_DIFFERENT / pairs)
    return least if least <= 1 else None


def _breaks(scenarios: int, trials: int, discordance: float, rate: float) -> int | None:
    """Return how many scenarios must go from all passes to all fails for the flake band to list them.

    An unchanged agent shows scenarios x E[p^k (1-p)^k] such drops; p is Beta-distributed with this rate and
    discordance. Each break itself counts as half a scenario with p = 1/2 where the band is estimated.
    """
    noise = 0.25**trials / 2
    if noise >= ALPHA:
        return None
    expected = scenarios * _full_swing(trials, discordance, rate)
    needed = max(1, ceil(expected / (ALPHA - noise)))
    return needed if needed <= scenarios * rate else None


def _full_swing(trials: int, discordance: float, rate: float) -> float:
    """Return E[p^k (1-p)^k] of the Beta with this mean and 2 E[p (1-p)] = discordance."""
    if not discordance:
        return 0.0
    share = discordance / (2 * rate * (1 - rate))
    if share > 1 - 1e-6:  # every scenario has the same chance
        return (rate * (1 - rate)) ** trials
    size = share / (1 - share)
    a, b = rate * size, (1 - rate) * size
    return exp(_log_beta(a + trials, b + trials) - _log_beta(a, b))


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
