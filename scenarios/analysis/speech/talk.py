"""Who spoke when: talk ratio, gaps and overlaps of a call that was held here, from the times of its turns.

An interruption needs speech of both sides at once: a reminder said into silence is none, however long the silence.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from scenarios.scoring.evidence import Turn
from scenarios.sides import SIDES, Side


@dataclass(frozen=True)
class Overlap:
    """Two turns at once; ``by`` began the second one, at ``start_ms``."""

    by: Side
    turn: int  # the number of the second
    over_turn: int
    start_ms: int
    duration_ms: int
    # Whether the first speaker stopped before the second did.
    yielded: bool


@dataclass(frozen=True)
class Talk:
    """Times in ms. ``speech_ms`` counts each side's own speech, so overlaps count on both."""

    duration_ms: int
    speech_ms: Mapping[Side, int]
    silence_ms: int
    gaps_ms: tuple[int, ...]  # between one side's end and the other's start
    longest_gap_ms: int | None
    overlaps: tuple[Overlap, ...]

    @property
    def agent_share(self) -> float | None:
        """Return the agent's share of all speech; None when nobody spoke."""
        total = sum(self.speech_ms.values())
        return self.speech_ms["agent"] / total if total else None

    def interruptions(self, by: Side) -> int:
        """Return how often a side began while the other was speaking."""
        return sum(overlap.by == by for overlap in self.overlaps)


def talk(turns: Iterable[Turn], duration_ms: int | None) -> Talk:
    """Return the talk of a call; turns without any length (text) say nothing of time and are left out.

    A call whose duration nobody knows (files of others may not say) lasts as long as its last turn.
    """
    spoken = sorted((turn for turn in turns if turn.ended_ms > turn.started_ms), key=lambda turn: turn.started_ms)
    speech = {side: _covered([turn for turn in spoken if turn.side == side]) for side in SIDES}
    gaps = _gaps(spoken)
    if duration_ms is None:
        duration_ms = max((turn.ended_ms for turn in spoken), default=0)
    return Talk(
        duration_ms,
        speech,
        max(0, duration_ms - _covered(spoken)),
        gaps,
        max(gaps, default=None),
        tuple(_overlaps(spoken)),
    )


def _covered(turns: Sequence[Turn]) -> int:
    """Return how many milliseconds at least one of the turns covers."""
    total = end = 0
    for turn in turns:
        total += max(0, turn.ended_ms - max(turn.started_ms, end))
        end = max(end, turn.ended_ms)
    return total


def _gaps(spoken: Sequence[Turn]) -> tuple[int, ...]:
    """Return the silences at which the word went from one side to the other."""
    gaps = []
    last: Turn | None = None
    for turn in spoken:
        if last is not None and turn.side != last.side and turn.started_ms >= last.ended_ms:
            gaps.append(turn.started_ms - last.ended_ms)
        if last is None or turn.ended_ms >= last.ended_ms:
            last = turn
    return tuple(gaps)


def _overlaps(spoken: Sequence[Turn]) -> Iterable[Overlap]:
    for position, turn in enumerate(spoken):
        for first in spoken[:position]:
            if first.side != turn.side and first.ended_ms > turn.started_ms:
                shared = min(first.ended_ms, turn.ended_ms) - turn.started_ms
                yield Overlap(turn.side, turn.turn, first.turn, turn.started_ms, shared, first.ended_ms < turn.ended_ms)
