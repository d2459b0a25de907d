"""Chance-corrected agreement: Cohen's kappa of two raters, Krippendorff's alpha of any number.

A figure that the data cannot give is "not defined" with the reason in words; it is never 0, 1 or NaN. Intervals are
bootstraps by item: items with the same counts are one kind, so a resample is one multinomial draw over the kinds.
Claims of one call go together, which these intervals do not know.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from scenarios.analysis.intervals import Interval, wilson

if TYPE_CHECKING:
    from numpy.typing import NDArray  # loaded by the first figure that needs it

RESAMPLES = 2000
# A resample with one class only has no figure; beyond this share of them there is no interval.
_MAX_UNDEFINED = 0.05


@dataclass(frozen=True)
class Figure:
    """A figure over ``of`` items. ``value`` None: not defined, ``reason`` says why; it may also say why no interval.

    ``count`` is the numerator where the figure is a share of the items.
    """

    value: float | None
    of: int
    interval: Interval | None = None
    count: int | None = None
    reason: str = ""


class Confusion(NamedTuple):
    """Items by what the judge and the people say: ``false_pass`` is passed by the judge and failed by people."""

    both_pass: int
    false_pass: int
    false_fail: int
    both_fail: int

    @property
    def total(self) -> int:
        """Return how many items there are."""
        return sum(self)


def share(count: int, of: int, nothing: str) -> Figure:
    """Return a share with its Wilson interval; ``nothing`` is the reason when it is one of nothing."""
    if not of:
        return Figure(None, 0, reason=nothing)
    return Figure(count / of, of, wilson(count, of), count)


def kappa(table: Confusion, seed: int) -> Figure:
    """Return Cohen's kappa with a bootstrap interval.

    With one class only on a side, agreement beyond chance cannot show, and kappa is not defined.
    """
    judge, people = table.both_pass + table.false_pass, table.both_pass + table.false_fail
    one_sided = [
        f"{who} ruled {'pass' if passes else 'fail'} on all {table.total}"
        for who, passes in (("the judge", judge), ("people", people))
        if passes in (0, table.total)
    ]
    if not table.total:
        return Figure(None, 0, reason="no item has a ruling of both the judge and people")
    if one_sided:
        return Figure(None, table.total, reason=" and ".join(one_sided))
    import numpy as np

    cells = np.array(table, dtype=float)
    drawn = np.random.default_rng(seed).multinomial(table.total, cells / table.total, RESAMPLES).astype(float)
    interval, reason = _interval(_kappas(drawn), "bootstrap by item")
    return Figure(float(_kappas(cells[None, :])[0]), table.total, interval, reason=reason)


def alpha(units: Mapping[tuple[int, int], int], seed: int) -> Figure:
    """Return Krippendorff's alpha (nominal) with a bootstrap interval.

    ``units``: how many items have (pass rulings, fail rulings). Who ruled does not matter, so neither does the order of
    raters. Items with fewer than two rulings say nothing about agreement and do not count.
    """
    pairable = {counts: many for counts, many in sorted(units.items()) if sum(counts) >= 2 and many}
    total = sum(pairable.values())
    if not total:
        return Figure(None, 0, reason="no item has two rulings that could agree")
    for position, word in ((1, "pass"), (0, "fail")):
        if not any(counts[position] for counts in pairable):
            return Figure(None, total, reason=f"every ruling is {word}")
    if total == 1:
        return Figure(None, 1, reason="one item with two rulings is too few")
    import krippendorff
    import numpy as np

    kinds, many = np.array(list(pairable)), np.array(list(pairable.values()))
    value = krippendorff.alpha(value_counts=np.repeat(kinds, many, axis=0), level_of_measurement="nominal")
    drawn = np.random.default_rng(seed).multinomial(total, many / total, RESAMPLES).astype(float)
    interval, reason = _interval(_alphas(kinds.astype(float), drawn), "bootstrap by item")
    return Figure(float(value), total, interval, reason=reason)


def _kappas(cells: "NDArray[Any]") -> "NDArray[Any]":
    """Return kappa of each row of cells in the order of ``Confusion``; NaN where a side has one class only."""
    import numpy as np

    total = cells.sum(axis=1)
    judge, people = (cells[:, 0] + cells[:, 1]) / total, (cells[:, 0] + cells[:, 2]) / total
    agreed = (cells[:, 0] + cells[:, 3]) / total
    chance = judge * people + (1 - judge) * (1 - people)
    defined = (judge > 0) & (judge < 1) & (people > 0) & (people < 1)
    return np.where(defined, (agreed - chance) / np.where(defined, 1 - chance, 1), np.nan)


def _alphas(kinds: "NDArray[Any]", drawn: "NDArray[Any]") -> "NDArray[Any]":
    """Return alpha of each resample: rows of ``drawn`` hold how often each kind of item came. NaN: one class only."""
    import numpy as np

    raters = kinds.sum(axis=1)
    differing = drawn @ (kinds[:, 0] * kinds[:, 1] / (raters - 1))
    passes, fails = drawn @ kinds[:, 0], drawn @ kinds[:, 1]
    by_chance = passes * fails
    defined = by_chance > 0
    return np.where(defined, 1 - (passes + fails - 1) * differing / np.where(defined, by_chance, 1), np.nan)


def _interval(values: "NDArray[Any]", method: str) -> tuple[Interval | None, str]:
    import numpy as np

    kept = values[~np.isnan(values)]
    if len(kept) < (1 - _MAX_UNDEFINED) * len(values):
        lost = 1 - len(kept) / len(values)
        return None, f"no interval: {lost:.0%} of the resamples have rulings of one class only"
    low, high = np.quantile(kept, [0.025, 0.975])
    return Interval(float(low), float(high), method), ""
