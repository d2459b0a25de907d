"""Whether a judge may be trusted: it has to find what people pass and what people fail, and be sure to.

The practice gate: true positive and true negative rate of at least 0.80 at the *lower* bound of the Wilson interval
(``spec/peers.md`` 3.3). A judge that passes everything has a perfect first and no second; few labels leave both open.
"""

from dataclasses import dataclass
from typing import Literal

from scenarios.analysis.agreement import Agreement
from scenarios.analysis.intervals import wilson
from scenarios.analysis.reliability import Figure

GATE = 0.8
# Beyond so many labels of one class nobody will go on: the figure is too near the gate.
MAX_LABELS = 5_000
# Assumed of a class without any label, to say how many are needed at least.
_HOPED = 1.0

State = Literal["trusted", "not_trusted", "open"]


@dataclass(frozen=True)
class Side:
    """One of the two rates against the gate. ``missing``: labels of its class still needed if it stays as it is.

    None: no number of labels would do, since the rate itself is at the gate or under it.
    """

    figure: Figure
    missing: int | None
    is_met: bool
    # The whole interval is under the gate: more labels of the same kind only make that surer.
    is_lost: bool


@dataclass(frozen=True)
class Trust:
    """``trusted``: both rates reach the gate; ``not_trusted``: one cannot; ``open``: labels are missing."""

    state: State
    passes: Side  # of claims that people pass
    fails: Side  # of claims that people fail


def trust(found: Agreement) -> Trust:
    """Return whether the judge reaches the gate by these labels."""
    passes, fails = _side(found.tpr), _side(found.tnr)
    sides = (passes, fails)
    state: State = "trusted" if all(side.is_met for side in sides) else "open"
    if any(side.is_lost for side in sides):
        state = "not_trusted"
    return Trust(state, passes, fails)


def labels_for(rate: float, at_least: int = 0) -> int | None:
    """Return how many labels of a class put the lower bound at the gate, if the rate comes out as ``rate``."""
    if rate <= GATE:
        return None
    for count in range(max(1, at_least), MAX_LABELS + 1):
        found = wilson(rate * count, count)
        if found is not None and found.low >= GATE:
            return count
    return None


def _side(figure: Figure) -> Side:
    low = figure.interval.low if figure.interval else 0.0
    high = figure.interval.high if figure.interval else 1.0
    if low >= GATE:
        return Side(figure, 0, is_met=True, is_lost=False)
    needed = labels_for(_HOPED if figure.value is None else figure.value, figure.of)
    return Side(figure, None if needed is None else needed - figure.of, is_met=False, is_lost=high < GATE)
