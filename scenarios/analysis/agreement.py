"""How far a judge can be trusted: its rulings beside people's.

Only blind labels decide agreement, since a person who has seen the judge's ruling leans toward it (``anchoring``).
"Cannot tell" is no ruling and counted apart. An item is one row of the table however many people ruled on it: what most
of them say counts, and an item on which they are split is left out and counted. 10,000 verdicts with three raters take
well under a second.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from scenarios.analysis.reliability import Confusion, Figure, alpha, kappa, share

Ruling = Literal["pass", "fail", "cannot_tell"]
RULINGS: tuple[Ruling, ...] = get_args(Ruling)
SEED = 20_250_101
_NO_OVERLAP = "no item has a ruling of both the judge and people"


class Label(NamedTuple):
    """One person's ruling on one item (a claim of a call). A second one, not blind, is what it became once revealed.

    ``domain`` and ``kind`` are the item's, so the same in all labels on it.
    """

    item: str
    rater: str
    ruling: Ruling
    blind: bool = True
    domain: str = ""
    kind: str = ""  # of the claim


class Disagreement(NamedTuple):
    """An item on which people contradict the judge, with how many rule which way."""

    item: str
    judge_passed: bool
    against: int
    with_judge: int
    cannot_tell: int


@dataclass(frozen=True)
class Agreement:
    """Judge against people on blind labels; ``confusion`` counts items with a ruling of both.

    ``tpr``: of what people pass, so much does the judge pass; ``tnr``: of what people fail, so much does it fail.
    ``people_alpha`` is between people alone, the ceiling of what a judge can reach; ``all_alpha`` has the judge as one
    more rater. ``unruled``: labelled items without a ruling of the judge.
    """

    labels: int
    cannot_tell: int
    split: int
    unruled: int
    confusion: Confusion
    accuracy: Figure
    tpr: Figure
    tnr: Figure
    kappa: Figure
    people_alpha: Figure
    all_alpha: Figure


@dataclass(frozen=True)
class AgreementTable:
    """The whole agreement and that of each domain, kind of claim and rater; disagreements come worst first."""

    overall: Agreement
    by_domain: Mapping[str, Agreement]
    by_kind: Mapping[str, Agreement]
    by_rater: Mapping[str, Agreement]
    worst: tuple[Disagreement, ...]
    not_blind: int  # labels left out because the judge's ruling had been seen


class _Tally(NamedTuple):
    """Rulings of people on one item, in the order of ``RULINGS``."""

    passes: int
    fails: int
    cannot_tell: int


_PLACE = {ruling: position for position, ruling in enumerate(RULINGS)}
_Tallies = Mapping[str, _Tally]


def agreement_table(labels: Iterable[Label], judge: Mapping[str, bool | None], *, seed: int = SEED) -> AgreementTable:
    """Return all of it. ``judge``: passed by item, None where the judge gave no ruling.

    The order of labels and raters does not matter. Raises ValueError for a ruling that there is not, and when a rater
    has two labels of one sort on an item: give the last of them.
    """
    everything = checked(labels)
    blind = [label for label in everything if label.blind]
    tallies = _tallied(blind)

    def agreements(groups: Mapping[str, _Tallies]) -> dict[str, Agreement]:
        return {name: _agreement(groups[name], judge, seed) for name in sorted(groups)}

    return AgreementTable(
        overall=_agreement(tallies, judge, seed),
        by_domain=agreements(_grouped(tallies, {label.item: label.domain for label in blind})),
        by_kind=agreements(_grouped(tallies, {label.item: label.kind for label in blind})),
        by_rater=agreements(_by_rater(blind)),
        worst=_worst(tallies, judge),
        not_blind=len(everything) - len(blind),
    )


def agreement(labels: Iterable[Label], judge: Mapping[str, bool | None], *, seed: int = SEED) -> Agreement:
    """Return the agreement over all labels without groups; rules as ``agreement_table``."""
    return _agreement(_tallied(label for label in checked(labels) if label.blind), judge, seed)


def checked(labels: Iterable[Label]) -> list[Label]:
    """Return the labels; raises ValueError as ``agreement_table`` says."""
    found = list(labels)
    for label in found:
        if label.ruling not in RULINGS:
            raise ValueError(f"{label.rater} on {label.item}: {label.ruling!r} is none of {', '.join(RULINGS)}")
    counts = Counter((label.item, label.rater, label.blind) for label in found)
    if len(counts) != len(found):
        item, rater, blind = next(key for key, count in counts.items() if count > 1)
        sort = "blind" if blind else "final"
        raise ValueError(f"{rater} has two {sort} labels on {item}: give the last one only")
    return found


def _tallied(labels: Iterable[Label]) -> dict[str, _Tally]:
    counts: dict[str, list[int]] = {}
    for label in labels:
        if label.item not in counts:
            counts[label.item] = [0, 0, 0]
        counts[label.item][_PLACE[label.ruling]] += 1
    return {item: _Tally._make(found) for item, found in counts.items()}


def _grouped(tallies: _Tallies, names: Mapping[str, str]) -> dict[str, dict[str, _Tally]]:
    """Return the items by the name of their group."""
    groups: dict[str, dict[str, _Tally]] = defaultdict(dict)
    for item, tally in tallies.items():
        groups[names[item]][item] = tally
    return groups


def _by_rater(labels: Iterable[Label]) -> dict[str, dict[str, _Tally]]:
    """Return what each rater alone says: one ruling an item."""
    alone = {ruling: _tallied([Label("", "", ruling)])[""] for ruling in RULINGS}
    groups: dict[str, dict[str, _Tally]] = defaultdict(dict)
    for label in labels:
        groups[label.rater][label.item] = alone[label.ruling]
    return groups


def _agreement(tallies: _Tallies, judge: Mapping[str, bool | None], seed: int) -> Agreement:
    cells: Counter[tuple[bool, bool]] = Counter()
    people: Counter[tuple[int, int]] = Counter()
    everybody: Counter[tuple[int, int]] = Counter()
    split = unruled = 0
    for item, tally in tallies.items():
        ruling = judge.get(item)
        people[tally.passes, tally.fails] += 1
        everybody[tally.passes + (ruling is True), tally.fails + (ruling is False)] += 1
        if ruling is None:
            unruled += 1
        elif tally.passes != tally.fails:
            cells[ruling, tally.passes > tally.fails] += 1
        elif tally.passes:
            split += 1
    table = Confusion(cells[True, True], cells[True, False], cells[False, True], cells[False, False])
    passed, failed = table.both_pass + table.false_fail, table.both_fail + table.false_pass
    return Agreement(
        labels=sum(tally.passes + tally.fails + tally.cannot_tell for tally in tallies.values()),
        cannot_tell=sum(tally.cannot_tell for tally in tallies.values()),
        split=split,
        unruled=unruled,
        confusion=table,
        accuracy=share(table.both_pass + table.both_fail, table.total, _NO_OVERLAP),
        tpr=share(table.both_pass, passed, "people passed none of the items that the judge ruled on"),
        tnr=share(table.both_fail, failed, "people failed none of the items that the judge ruled on"),
        kappa=kappa(table, seed),
        people_alpha=alpha(people, seed),
        all_alpha=alpha(everybody, seed),
    )


def _worst(tallies: _Tallies, judge: Mapping[str, bool | None]) -> tuple[Disagreement, ...]:
    """Return the items with more people against the judge than with it: first those with the greatest majority."""
    found = []
    for item, tally in tallies.items():
        ruling = judge.get(item)
        if ruling is None:
            continue
        against, agreeing = (tally.fails, tally.passes) if ruling else (tally.passes, tally.fails)
        if against > agreeing:
            found.append(Disagreement(item, ruling, against, agreeing, tally.cannot_tell))
    return tuple(sorted(found, key=lambda one: (one.with_judge - one.against, one.cannot_tell, one.item)))
