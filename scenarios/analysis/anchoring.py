"""How far people move toward the judge once its ruling is revealed: each blind label beside what it became."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scenarios.analysis.agreement import Label, Ruling, checked
from scenarios.analysis.reliability import Figure, share


@dataclass(frozen=True)
class Movement:
    """``pairs`` blind labels whose owner also ruled after the reveal, where the judge has a ruling.

    ``toward``: of those who disagreed with the judge blind, so many came over to it; ``away``: of those who agreed, so
    many left it, "cannot tell" included. ``unsure_toward``: of those who could not tell, so many took the judge's
    ruling.
    """

    pairs: int
    toward: Figure
    away: Figure
    unsure_toward: Figure

    @property
    def net(self) -> int:
        """Return how many more people agree with the judge after the reveal than before."""
        return (self.toward.count or 0) + (self.unsure_toward.count or 0) - (self.away.count or 0)


@dataclass(frozen=True)
class Movements:
    """The movement of all, of each rater and in each kind of claim."""

    overall: Movement
    by_rater: Mapping[str, Movement]
    by_kind: Mapping[str, Movement]


_Pair = tuple[Ruling, Ruling, Ruling]  # blind, final, the judge's


def movements(labels: Iterable[Label], judge: Mapping[str, bool | None]) -> Movements:
    """Return how labels moved; blind labels without a final one, or without a ruling of the judge, do not count.

    A person who kept the blind ruling has a final label that equals it. Raises ValueError as ``agreement_table``.
    """
    everything = checked(labels)
    final = {(label.item, label.rater): label.ruling for label in everything if not label.blind}
    pairs: list[_Pair] = []
    raters: dict[str, list[_Pair]] = defaultdict(list)
    kinds: dict[str, list[_Pair]] = defaultdict(list)
    for label in everything:
        became, passed = final.get((label.item, label.rater)), judge.get(label.item)
        if label.blind and became is not None and passed is not None:
            pair: _Pair = (label.ruling, became, "pass" if passed else "fail")
            for group in (pairs, raters[label.rater], kinds[label.kind]):
                group.append(pair)
    return Movements(
        _movement(pairs),
        {name: _movement(raters[name]) for name in sorted(raters)},
        {name: _movement(kinds[name]) for name in sorted(kinds)},
    )


def _movement(pairs: list[_Pair]) -> Movement:
    agreed = [pair for pair in pairs if pair[0] == pair[2]]
    unsure = [pair for pair in pairs if pair[0] == "cannot_tell"]
    disagreed = [pair for pair in pairs if pair[0] not in (pair[2], "cannot_tell")]
    return Movement(
        len(pairs),
        share(_with_judge(disagreed), len(disagreed), "nobody disagreed with the judge blind"),
        share(len(agreed) - _with_judge(agreed), len(agreed), "nobody agreed with the judge blind"),
        share(_with_judge(unsure), len(unsure), "nobody ruled blind that it cannot be told"),
    )


def _with_judge(pairs: list[_Pair]) -> int:
    return sum(final == judge for _, final, judge in pairs)
