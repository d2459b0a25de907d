"""Confidence intervals of pass rates. All are 95 %, two-sided, on the scale 0 to 1.

Importing this module is cheap: scipy is loaded by the first interval that needs a t quantile.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

Z = 1.959963984540054  # normal quantile at 97.5 %


@dataclass(frozen=True)
class Interval:
    """A confidence interval; ``method`` says in a word or two how it came about."""

    low: float
    high: float
    method: str

    @property
    def half_width(self) -> float:
        """Return half the width, for "plus or minus"."""
        return (self.high - self.low) / 2


def wilson(passes: float, total: float, method: str = "Wilson") -> Interval | None:
    """Return the Wilson score interval of ``passes`` in ``total``; None over nothing.

    Both may be fractions (effective counts). Source: Wilson 1927.
    """
    if total <= 0:
        return None
    if not 0 <= passes <= total:
        raise ValueError(f"{passes} passes of {total} is no rate")
    rate = passes / total
    centre = rate + Z * Z / (2 * total)
    spread = Z * math.sqrt(rate * (1 - rate) / total + Z * Z / (4 * total * total))
    scale = 1 + Z * Z / total
    low = 0.0 if passes == 0 else (centre - spread) / scale
    high = 1.0 if passes == total else (centre + spread) / scale
    return Interval(low, high, method)


def clustered(clusters: Iterable[tuple[int, int]]) -> Interval | None:
    """Return the interval of a pooled rate when trials of one scenario go together.

    ``clusters`` holds (passes, total) of each scenario. The variance between scenarios gives the effective number of
    trials, which goes into the Wilson interval, with a t correction for few scenarios (Korn and Graubard 1998). With
    one trial a scenario, or one scenario in all, that is the plain Wilson interval.
    """
    groups = [(passes, total) for passes, total in clusters if total > 0]
    passes, total = sum(group[0] for group in groups), sum(group[1] for group in groups)
    if len(groups) <= 1 or all(group[1] == 1 for group in groups):
        return wilson(passes, total)
    effective = effective_size(groups)
    return wilson(passes / total * effective, effective, "Wilson, clustered by scenario")


def effective_size(groups: list[tuple[int, int]]) -> float:
    """Return how many independent trials tell as much as these two or more clusters; at most their number.

    Where nothing varies, nothing can be learnt about how trials go together: then scenarios are counted, not trials.
    """
    passes, total = sum(group[0] for group in groups), sum(group[1] for group in groups)
    count, rate = len(groups), passes / total
    between = sum((group[0] - rate * group[1]) ** 2 for group in groups) / total**2 * count / (count - 1)
    size = min(float(total), rate * (1 - rate) / between) if between else float(count)
    return max(1.0, size * (Z / _t_quantile(count - 1)) ** 2)


def forecast(scenarios: int, trials: int = 1, rate: float = 0.5) -> Interval | None:
    """Return the interval that a sweep will give when its rate comes out as ``rate``.

    Counts scenarios only, since repetitions of one scenario may all agree: the real interval is this wide or narrower.
    """
    if scenarios < 0 or trials < 1 or not 0 <= rate <= 1:
        raise ValueError(f"no forecast for {scenarios} scenarios x {trials} trials at a rate of {rate}")
    return wilson(rate * scenarios, scenarios, "Wilson, expected")


def _t_quantile(freedom: int) -> float:
    from scipy.special import stdtrit  # lazy: pages without repetitions never load scipy

    return float(stdtrit(freedom, 0.975))
