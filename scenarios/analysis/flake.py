"""The flake band: which drops are more than the flakiness of the scenarios explains.

Were the agent unchanged, all trials of a scenario would share one chance to pass. How those chances are spread over
the scenarios is estimated from all trials (nonparametric maximum likelihood on a grid, by some rounds of EM);
a scenario's own baseline trials then say how likely an unchanged agent is to do as badly as the candidate did.
Drops are outside the band while an unchanged agent would be expected to show at most ``alpha`` such drops for each that
was seen: Benjamini and Hochberg 1995, with the attainable chances of discrete counts (Heyse 2011). Two runs of one
agent therefore show any with a chance of about ``alpha`` or less. Real breaks make the spread look wider than it is,
which errs toward silence. (Estimating from each side alone lists more breaks, but passed ``alpha`` in simulations: 6 %
with 50 scenarios of 8 trials; from both together alone it listed three breaks of 114 in 79 %, as it is in 86 %.)
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import exp, isqrt, lgamma, log
from operator import mul
from typing import NamedTuple

ALPHA = 0.05
_ROUNDS = 60
_TIE = 1 + 1e-9
_Logs = tuple[float, float]  # of a chance to pass, and to fail


class Counts(NamedTuple):
    """Passes and rated trials of one scenario, before and after; rated trials are 1 or more."""

    passes: int
    rated: int
    later_passes: int
    later_rated: int

    @property
    def dropped(self) -> bool:
        """Tell whether the later rate is the lower one."""
        return self.later_passes * self.rated < self.passes * self.later_rated

    @property
    def mirrored(self) -> "Counts":
        """Return the same with fails counted as passes: rises become drops."""
        return Counts(self.rated - self.passes, self.rated, self.later_rated - self.later_passes, self.later_rated)


@dataclass(frozen=True)
class Drops:
    """For each scenario the chance that an unchanged agent does as badly (1 where nothing dropped).

    ``outside`` are the positions of drops outside the band; ``expected``: so many an unchanged agent would show.
    """

    chances: tuple[float, ...]
    outside: frozenset[int]
    expected: float


def drops(counts: Sequence[Counts], alpha: float = ALPHA) -> Drops:
    """Return which scenarios dropped by more than flakiness explains. The order of scenarios does not matter."""
    return both_ways(counts, alpha)[0]


def both_ways(counts: Sequence[Counts], alpha: float = ALPHA) -> tuple[Drops, Drops]:
    """Return the drops, and the rises as drops of the mirrored counts; ``alpha`` is for either by itself."""
    grid, weights = _spread(_cells(counts))
    later = {trials: _binomial(grid, trials) for trials in {c.later_rated for c in counts}}
    rises = [one.mirrored for one in counts]
    return _drops(counts, grid, weights, later, alpha), _drops(rises, grid, weights[::-1], later, alpha)


def _drops(
    counts: Sequence[Counts],
    grid: list[_Logs],
    weights: list[float],
    later: Mapping[int, list[list[float]]],
    alpha: float,
) -> Drops:
    kinds = dict(sorted(Counter((c.passes, c.rated, c.later_rated) for c in counts).items()))
    tails = {kind: _tail(grid, weights, later[kind[2]], *kind[:2]) for kind in kinds}
    chances = tuple(tails[c.passes, c.rated, c.later_rated][c.later_passes] if c.dropped else 1.0 for c in counts)
    limit, expected = _limit(chances, kinds, tails, alpha)
    return Drops(chances, frozenset(i for i, chance in enumerate(chances) if chance <= limit), expected)


def _cells(counts: Iterable[Counts]) -> Counter[tuple[int, int]]:
    """Return how often there are so many (passes, trials): both sides together, and as often each by itself.

    Together they tell most of an unchanged agent; by themselves a break does not look like a coin.
    """
    cells: Counter[tuple[int, int]] = Counter()
    for (passes, rated, later_passes, later_rated), many in Counter(counts).items():
        cells[passes + later_passes, rated + later_rated] += 2 * many
        cells[passes, rated] += many
        cells[later_passes, later_rated] += many
    return cells


def _spread(cells: Mapping[tuple[int, int], int]) -> tuple[list[_Logs], list[float]]:
    """Return chances to pass, as logarithms, and their weights, from how often there are (passes, trials).

    Each round adds one such observation that is flat, so that no chance is ruled out.
    """
    most = max((trials for _, trials in cells), default=1)
    steps = max(40, 8 * (isqrt(most) + 1))  # finer than the noise of the most repeated scenario
    grid = [(_log(step / steps), _log(1 - step / steps)) for step in range(steps + 1)]
    ordered = sorted(cells.items())
    rows = [_likelihood(grid, *cell) for cell, _ in ordered]
    columns = list(zip(*rows, strict=True)) or [()] * len(grid)
    flat = 1 / len(grid)
    weights = [flat] * len(grid)
    everything = sum(cells.values()) + 1
    for _ in range(_ROUNDS):
        # Two products of the matrix with a vector; this is most of what a comparison costs.
        shares = [count / sum(map(mul, weights, row)) for (_, count), row in zip(ordered, rows, strict=True)]
        gained = [sum(map(mul, shares, column)) for column in columns]
        weights = [(flat + have * more) / everything for have, more in zip(weights, gained, strict=True)]
    return grid, weights


def _likelihood(grid: Iterable[_Logs], passes: int, trials: int) -> list[float]:
    """Return how likely each chance makes the counts, up to a factor that keeps the greatest near 1."""
    fails = trials - passes
    top = passes * _log(passes / trials) + fails * _log(fails / trials)
    return [exp(passes * p + fails * q - top) for p, q in grid]


def _log(chance: float) -> float:
    return log(max(chance, 1e-300))  # finite: no trials times the logarithm of 0 must be 0


def _tail(grid: list[_Logs], weights: list[float], later: list[list[float]], passes: int, rated: int) -> list[float]:
    """Return the chance of 0, 1, ... passes or fewer later, as far as they are drops, given the baseline's trials."""
    own = list(map(mul, weights, _likelihood(grid, passes, rated)))
    total = sum(own)
    fewer = (-(-passes * (len(later) - 1) // rated)) if passes else 0  # counts below the baseline's rate
    return list(accumulate(sum(map(mul, own, row)) / total for row in later[:fewer]))


def _binomial(grid: list[_Logs], trials: int) -> list[list[float]]:
    """Return for 0 to ``trials`` passes their probability at each chance of the grid."""
    rows = []
    for count in range(trials + 1):
        ways = lgamma(trials + 1) - lgamma(count + 1) - lgamma(trials - count + 1)
        rows.append([exp(ways + count * p + (trials - count) * q) for p, q in grid])
    return rows


def _limit(
    chances: Iterable[float],
    kinds: Mapping[tuple[int, int, int], int],
    tails: Mapping[tuple[int, int, int], Sequence[float]],
    alpha: float,
) -> tuple[float, float]:
    """Return the greatest chance that is still outside the band (-1: none is) and the drops expected up to it."""
    best, expected = -1.0, 0.0
    seen = 0
    for chance, count in sorted(Counter(chance for chance in chances if chance < 1).items()):
        seen += count
        limit = chance * _TIE
        by_luck = 0.0
        for kind, many in kinds.items():
            reached = bisect_right(tails[kind], limit)
            by_luck += many * tails[kind][reached - 1] if reached else 0.0
        if by_luck <= alpha * seen:
            best, expected = limit, by_luck
    return best, expected
