"""The paired difference of two pass rates over the same scenarios: test, interval, equivalence.

Trials of a scenario go together, so the scenario's mean is the unit: every scenario weighs alike however many of its
trials are rated. Importing this is cheap: scipy is loaded by the first interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import lcm, sqrt
from typing import Literal, TypeVar

from scenarios.analysis.flake import Counts
from scenarios.analysis.intervals import Interval, clustered
from scenarios.analysis.power import smallest_difference
from scenarios.analysis.signflip import holm, sign_flip

SIGNIFICANT = 0.05
Key = TypeVar("Key")
Verdict = Literal["better", "worse", "not distinguishable", "nothing to compare"]


@dataclass(frozen=True)
class PairedRate:
    """One side's rate over the shared scenarios: the mean of their means. ``value`` None is shown as "-"."""

    passes: int
    rated: int
    value: float | None
    interval: Interval | None


@dataclass(frozen=True)
class Equivalence:
    """Two one-sided t tests (Schuirmann 1987): is the difference within plus or minus ``margin``?

    ``interval`` is the 90 % one; ``p`` belongs to "within", ``p_no_worse`` to "above minus the margin".
    """

    margin: float
    interval: Interval
    p: float
    p_no_worse: float

    @property
    def equivalent(self) -> bool:
        """Tell whether the difference is within the margin either way."""
        return self.p <= SIGNIFICANT

    @property
    def no_worse(self) -> bool:
        """Tell whether the candidate is at most the margin below the baseline."""
        return self.p_no_worse <= SIGNIFICANT


@dataclass(frozen=True)
class Difference:
    """Candidate minus baseline over ``scenarios`` shared ones. All figures are None over nothing.

    ``adjusted_p`` is ``p`` with Holm's correction for the family it was asked in; ``detectable``: the smallest
    difference that would have been seen with 80 % power (None: none could have been).
    """

    scenarios: int
    baseline: PairedRate
    candidate: PairedRate
    value: float | None
    interval: Interval | None
    p: float | None
    adjusted_p: float | None
    method: str
    detectable: float | None
    equivalence: Equivalence | None = None

    @property
    def verdict(self) -> Verdict:
        """Return what may be said at 5 % after correction."""
        if self.value is None or self.adjusted_p is None:
            return "nothing to compare"
        if self.adjusted_p > SIGNIFICANT:
            return "not distinguishable"
        return "better" if self.value > 0 else "worse"


def difference(counts: Sequence[Counts], margin: float | None = None) -> Difference:
    """Return the difference over scenarios with rated trials on both sides. Their order does not matter."""
    if margin is not None and not 0 < margin < 1:
        raise ValueError(f"a margin of {margin} is none: give the share of the pass rate, such as 0.05 for 5 points")
    before = _rate([(c.passes, c.rated) for c in counts])
    after = _rate([(c.later_passes, c.later_rated) for c in counts])
    if not counts:
        return Difference(0, before, after, None, None, None, None, "", None)
    unit = lcm(*{c.rated for c in counts}, *{c.later_rated for c in counts})
    changes = [c.later_passes * (unit // c.later_rated) - c.passes * (unit // c.rated) for c in counts]
    p, method = sign_flip(changes, unit)
    trials = sum(min(c.rated, c.later_rated) for c in counts) / len(counts)
    spread = _Spread.of(changes, unit, trials)
    return Difference(
        len(counts),
        before,
        after,
        sum(changes) / unit / len(changes),
        spread.interval(0.975, "t, clustered by scenario"),
        p,
        p,
        method,
        smallest_difference(len(counts), spread.second_moment * trials, trials),
        None if margin is None else spread.equivalence(margin),
    )


def corrected(family: Mapping[Key, Difference]) -> dict[Key, Difference]:
    """Return the same differences with p adjusted for asking all of them: Holm over domains, tags or personas."""
    asked = {name: found.p for name, found in family.items() if found.p is not None}
    adjusted = dict(zip(asked, holm(list(asked.values())), strict=True))
    return {name: replace(found, adjusted_p=adjusted.get(name)) for name, found in family.items()}


def _rate(sides: Sequence[tuple[int, int]]) -> PairedRate:
    passes, rated = sum(side[0] for side in sides), sum(side[1] for side in sides)
    unit = lcm(*{side[1] for side in sides})  # every scenario as if it had so many trials
    scaled = sorted((side[0] * (unit // side[1]), unit) for side in sides)
    value = sum(side[0] for side in scaled) / (unit * len(sides)) if sides else None
    return PairedRate(passes, rated, value, clustered(scaled))


@dataclass(frozen=True)
class _Spread:
    """Mean, standard error and degrees of freedom of scenario differences, with two made-up scenarios added.

    They differ by plus and minus 1 / sqrt(trials): for one trial this is the interval of Bonett and Price (2012),
    which keeps its promise with few scenarios or when none differs.
    """

    mean: float
    error: float
    freedom: int
    second_moment: float

    @classmethod
    def of(cls, changes: Sequence[int], unit: int, trials: float) -> "_Spread":
        count = len(changes) + 2
        mean = sum(changes) / unit / count
        squares = sum(change * change for change in changes) / unit**2 + 2 / trials
        return cls(mean, sqrt((squares / count - mean * mean) / (count - 1)), count - 1, squares / count)

    def interval(self, level: float, method: str) -> Interval:
        from scipy.special import stdtrit  # lazy: see the module's docstring

        half = float(stdtrit(self.freedom, level)) * self.error
        return Interval(max(-1.0, self.mean - half), min(1.0, self.mean + half), method)

    def equivalence(self, margin: float) -> Equivalence:
        from scipy.special import stdtr

        below = float(stdtr(self.freedom, -(self.mean + margin) / self.error))
        above = float(stdtr(self.freedom, (self.mean - margin) / self.error))
        return Equivalence(margin, self.interval(0.95, "t, 90 %"), max(below, above), below)
