"""Which call to label next, so that the corrected headline narrows most.

What a label is worth depends on its class alone: on the size of the class, on how undecided its labels are so far, and
on how many there are. Within a class every unlabelled call is worth the same beforehand, and the sample must stay
random, so the order there is drawn by lot from the seed and the call's name: it stays the same when other calls come or
are labelled. Labels got in this order therefore count as a random sample of their class; a call that has a label from
another queue comes in its turn like any other, and its label counts from then on.
"""

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scenarios.analysis.correction import RatedCall, label_spread, strata_of
from scenarios.analysis.intervals import wilson


class NextLabel(NamedTuple):
    """A call to label: ``half_width`` is that of the corrected interval to be expected once it and all before it are.

    ``needed``: its class has too few labels for any corrected figure.
    """

    call: str
    judge_passed: bool
    stratum: str
    half_width: float
    needed: bool


@dataclass(frozen=True)
class LabelsNeeded:
    """So many labels in this order reach a half width; ``reachable`` is the best that labels can do.

    ``labels`` None: not even all of them reach it, since the run itself is that small.
    """

    half_width: float
    labels: int | None
    reachable: float


_Key = tuple[bool, str]


def ranked(calls: Iterable[RatedCall], *, seed: int) -> list[NextLabel]:
    """Return the judged calls without a label of a random sample, the one that is worth most first."""
    rated = list(calls)
    return list(_in_order(rated, seed))


def labels_needed(calls: Iterable[RatedCall], half_width: float, *, seed: int = 0) -> LabelsNeeded:
    """Return how many more labels the corrected rate needs to be known to plus or minus ``half_width``."""
    if not 0 < half_width < 1:
        raise ValueError(f"a half width of {half_width} is none: give a share of the rate, such as 0.03 for 3 points")
    rated = list(calls)
    now = _Spread(rated)
    missing = sum(stratum.missing for stratum in now.strata.values())  # these come first
    expected = [now.half_width, *(item.half_width for item in _in_order(rated, seed))]
    labels = next((count for count in range(missing, len(expected)) if expected[count] <= half_width), None)
    return LabelsNeeded(half_width, labels, expected[-1])


class _Spread:
    """The expected spread of the corrected rate, by class, as labels come in."""

    def __init__(self, calls: Sequence[RatedCall]) -> None:
        self.calls = len(calls)
        self.strata = {(stratum.judge_passed, stratum.name): stratum for stratum in strata_of(calls)}
        self._chance = {key: (s.passes + 1) / (s.labelled + 2) for key, s in self.strata.items()}
        self.spread = {key: self._squared(key, stratum.labelled) for key, stratum in self.strata.items()}
        passes = sum(call.passed for call in calls if not call.judged)
        expected = passes + sum(s.calls * self._chance[key] for key, s in self.strata.items())
        run = wilson(min(expected, self.calls), self.calls)
        self._run = run.half_width**2 if run else 0.0

    @property
    def half_width(self) -> float:
        return math.sqrt(self._run + sum(self.spread.values()))

    def gain(self, key: _Key) -> float:
        """Return by how much one more label of a class lowers the squared half width."""
        return self.spread[key] - self._squared(key, self.strata[key].labelled + 1)

    def label(self, key: _Key) -> None:
        """Expect one more label of a class, ruled as the class has been so far."""
        stratum = self.strata[key]
        self.strata[key] = stratum._replace(labelled=stratum.labelled + 1)
        self.spread[key] = self._squared(key, stratum.labelled + 1)

    def _squared(self, key: _Key, labelled: int) -> float:
        stratum = self.strata[key]
        if not labelled:
            return (stratum.calls / self.calls) ** 2 / 4  # anything from none to all
        passes = self._chance[key] * labelled
        down, up = label_spread(stratum._replace(labelled=labelled, passes=passes), self.calls)
        return ((math.sqrt(down) + math.sqrt(up)) / 2) ** 2


def _in_order(calls: Sequence[RatedCall], seed: int) -> Iterator[NextLabel]:
    spread, queues = _Spread(calls), _queues(calls, seed)
    while queues:
        key = max(queues, key=lambda one: (bool(spread.strata[one].missing), spread.gain(one), one))
        needed = bool(spread.strata[key].missing)
        spread.label(key)
        yield NextLabel(queues[key].pop(), *key, half_width=spread.half_width, needed=needed)
        if not queues[key]:
            del queues[key]


def _queues(calls: Sequence[RatedCall], seed: int) -> dict[_Key, list[str]]:
    """Return the unlabelled calls of each class, in the order of the lot from the end."""
    queues: dict[_Key, list[str]] = defaultdict(list)
    for call in calls:
        if call.judged and not (call.sampled and call.people is not None):
            queues[call.passed, call.stratum].append(call.call)
    return {key: sorted(names, key=lambda name: _lot(seed, name), reverse=True) for key, names in queues.items()}


def _lot(seed: int, call: str) -> tuple[bytes, str]:
    return hashlib.sha256(f"{seed}:{call}".encode()).digest(), call
