"""A call as timed segments of one speaker each: what every form of transcript is written from."""

from collections.abc import Iterator
from dataclasses import dataclass

from scenarios.formats.reference_records import TrialExport
from scenarios.scoring.evidence import Turn
from scenarios.sides import Side

INTERRUPTED = "[INTERRUPTED]"
MESSAGE_TIMES = "Times are those of messages on the text channel: when a turn was begun and sent. Nothing was spoken."


@dataclass(frozen=True)
class Segment:
    """One turn; times in milliseconds from the start of the call, ``end_ms`` never before ``start_ms``."""

    turn: int
    side: Side
    text: str
    start_ms: int
    end_ms: int


def text_of(turn: Turn) -> str:
    """Return what was said, or the reference's mark for a turn without words."""
    return INTERRUPTED if turn.is_blank else turn.said


def segments(trial: TrialExport) -> Iterator[Segment]:
    """Yield the turns of the attempt that counts, by the time they began."""
    for turn in sorted(trial.call.turns.values(), key=lambda turn: (turn.started_ms, turn.seq)):
        end = max(turn.started_ms, turn.ended_ms)
        yield Segment(turn.turn, turn.side, text_of(turn), turn.started_ms, end)
