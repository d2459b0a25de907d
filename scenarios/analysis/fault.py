"""Whose fault a failed call is, as far as the record decides it; a run's rate with and without the faults of others.

What points to a side are *clues*, read from the record (``scoring.fault_clues``). A clue *decides* when the record
leaves no other reading; otherwise it is offered to a person and changes no rate. An agent is only held to account by
rule while nothing points elsewhere. Everything else is undecided: it is for a person, and the bounds say how much hangs
on it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from scenarios.analysis.intervals import clustered
from scenarios.analysis.reliability import Figure

FaultSide = Literal["agent", "caller", "speech", "harness", "judge", "task"]
FAULT_SIDES: tuple[FaultSide, ...] = get_args(FaultSide)
SIDE_WORDS: Mapping[FaultSide, str] = {
    "agent": "agent",
    "caller": "simulated caller",
    "speech": "speech",
    "harness": "harness",
    "judge": "judge",
    "task": "task definition",
}


class Clue(NamedTuple):
    """Something in the record that points to a side; ``seq`` is the event that it stands in, None for none."""

    side: FaultSide
    kind: str
    text: str
    decides: bool = False
    seq: int | None = None


@dataclass(frozen=True)
class Attribution:
    """The side of a failed call. ``side`` None: undecided; ``suspected`` are the sides that clues point to.

    ``by``: "rule", "person", or "" while undecided.
    """

    side: FaultSide | None
    by: Literal["rule", "person", ""]
    reason: str
    suspected: tuple[FaultSide, ...]
    clues: tuple[Clue, ...]


class LedgerCall(NamedTuple):
    """One rated call. Of a fail, ``side`` is whose fault it is; of a pass, whose doing it was other than the agent's.

    None: undecided for a fail, the agent's own for a pass.
    """

    call: str
    passed: bool
    side: FaultSide | None = None
    scenario: str = ""


@dataclass(frozen=True)
class FaultRates:
    """A run's pass rate under the ledger.

    ``raw``: as scored. ``without``: calls that others decided leave the rate, passes and fails alike; undecided fails
    stay. ``worst``: no pass counts that others brought about; ``best``: every fail counts as a pass that is not the
    agent's for sure. Always worst <= raw <= best and worst <= without <= best.
    """

    raw: Figure
    without: Figure
    worst: Figure
    best: Figure
    fails: Mapping[FaultSide, int]  # by side, those with none left out
    undecided: int
    doubted_passes: int


def attribute(clues: Iterable[Clue], *, person: FaultSide | None = None, person_reason: str = "") -> Attribution:
    """Return the side of a failed call: a person's word, else what the clues decide, else undecided with the reason."""
    found = tuple(clues)
    suspected = tuple(side for side in FAULT_SIDES if any(clue.side == side for clue in found))
    if person is not None:
        return Attribution(person, "person", person_reason, suspected, found)
    side, reason = _decided(found, suspected)
    return Attribution(side, "rule" if side else "", reason, suspected, found)


def fault_rates(calls: Iterable[LedgerCall]) -> FaultRates:
    """Return the rates of the rated calls; their order does not matter."""
    rated = list(calls)
    others = [call for call in rated if call.side not in (None, "agent")]
    fails = [call for call in rated if not call.passed]
    doubted = sum(call.passed for call in others)
    return FaultRates(
        raw=_rate(rated, [call.passed for call in rated]),
        without=_rate(kept := [call for call in rated if call.side in (None, "agent")], [c.passed for c in kept]),
        worst=_rate(rated, [call.passed and call.side in (None, "agent") for call in rated]),
        best=_rate(rated, [call.passed or call.side != "agent" for call in rated]),
        fails={side: count for side in FAULT_SIDES if (count := sum(call.side == side for call in fails))},
        undecided=sum(call.side is None for call in fails),
        doubted_passes=doubted,
    )


def _decided(clues: Sequence[Clue], suspected: Sequence[FaultSide]) -> tuple[FaultSide | None, str]:
    deciding = Counter(clue.side for clue in clues if clue.decides)
    if not clues:
        return None, "nothing in the record points to a side"
    if len(deciding) > 1:
        return None, f"the record speaks against {_listed(deciding)}"
    if not deciding:
        return None, f"the record hints at {_listed(suspected)}, which a person has to confirm"
    (side,) = deciding
    elsewhere = [one for one in suspected if one != side]
    if side == "agent" and elsewhere:
        return None, f"the record speaks against agent, but hints at {_listed(elsewhere)} as well"
    return side, "; ".join(clue.text for clue in clues if clue.decides)


def _listed(sides: Iterable[FaultSide]) -> str:
    return " and ".join(SIDE_WORDS[side] for side in FAULT_SIDES if side in set(sides))


def _rate(calls: Sequence[LedgerCall], passed: Sequence[bool]) -> Figure:
    if not calls:
        return Figure(None, 0, reason="no call is rated")
    groups: dict[str, list[bool]] = {}
    for call, one in zip(calls, passed, strict=True):
        groups.setdefault(call.scenario or call.call, []).append(one)
    interval = clustered((sum(group), len(group)) for group in groups.values())
    return Figure(sum(passed) / len(calls), len(calls), interval, sum(passed))
