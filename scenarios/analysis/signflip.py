"""Is the mean of paired differences zero? The sign-flip permutation test; exact McNemar is its one-trial case.

Under "nothing changed" each scenario's difference is as likely to be negative as positive, so all 2^n choices of signs
are alike likely. With one trial a scenario every difference is -1, 0 or 1, which is McNemar's exact test.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import gcd

_EXACT_BYTES = 1e8  # of integers added up: about 50 ms
_SEED = 1947
_MOST_DRAWS, _FEWEST_DRAWS, _FLIPS = 10_000, 2_000, 200_000


def sign_flip(differences: Iterable[int], unit: int = 1) -> tuple[float, str]:
    """Return the two-sided p and the method's name, for differences in 1 / ``unit``. Their order does not matter.

    Exact where that is quick, otherwise from seeded draws, counted as (1 + hits) / (1 + draws).
    """
    whole = [value for value in differences if value]
    if not whole:
        return 1.0, "no scenario differs"
    divisor = gcd(*set(whole))
    distance = abs(sum(whole)) // divisor
    sizes = Counter(abs(value) // divisor for value in whole)
    if len(sizes) == 1:
        only = next(iter(sizes))
        name = "exact McNemar" if all(abs(value) == unit for value in whole) else "exact sign test"
        return _doubled(_binomial_tail(len(whole), (len(whole) - distance // only) // 2), len(whole)), name
    below = (sum(size * count for size, count in sizes.items()) - distance) // 2
    if len(whole) ** 2 * (below + 1) / 8 <= _EXACT_BYTES:
        return _doubled(_tail(sizes, below), len(whole)), "exact sign-flip permutation"
    return _drawn(sizes, distance), "sign-flip permutation, seeded draws"


def _doubled(tail: int, flips: int) -> float:
    return min(1.0, 2 * tail / (1 << flips))


def _binomial_tail(total: int, most: int) -> int:
    """Return in how many of the 2^total ways at most ``most`` signs are positive."""
    term = tail = 1
    for count in range(most):
        term = term * (total - count) // (count + 1)
        tail += term
    return tail


def _tail(sizes: Mapping[int, int], below: int) -> int:
    """Return in how many ways the differences made positive add up to ``below`` or less.

    The ways are the coefficients of the product of (1 + x^size), packed into one integer: a shift and a sum a factor.
    """
    width = sum(sizes.values()) + 1  # bits that hold the number of all ways
    mask = (1 << (below + 1) * width) - 1
    ways = 1
    for size, count in sorted(sizes.items()):
        for _ in range(count):
            ways = (ways + (ways << size * width)) & mask
    return ways % ((1 << width) - 1)  # the sum of its digits in base 2^width


def _drawn(sizes: Mapping[int, int], distance: int) -> float:
    draws = min(_MOST_DRAWS, max(_FEWEST_DRAWS, _FLIPS // len(sizes)))
    bits = random.Random(_SEED).getrandbits  # noqa: S311 (a simulation)
    groups = sorted(sizes.items())
    hits = 0
    for _ in range(draws):
        total = sum(size * (2 * bits(count).bit_count() - count) for size, count in groups)
        hits += abs(total) >= distance
    return (1 + hits) / (1 + draws)


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for their number, in the order given. Source: Holm 1979."""
    adjusted = [0.0] * len(values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        highest = max(highest, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = highest
    return adjusted
