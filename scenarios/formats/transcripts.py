"""A call as timed segments of one speaker each: what every form of transcript is written from."""

from collections.abc import Iterator
from dataclasses import dataclass

from scenarios.formats.reference_records import RunExport, TrialExport
from scenarios.scoring.evidence import Turn
from scenarios.sides import Side

INTERRUPTED = "[INTERRUPTED]"
MESSAGE_TIMES = "Times are those of messages on the text channel: when a turn was begun and sent. Nothing was spoken."
NO_TIMES = "Times are unknown: the file that this call came from has none. Only the order is right."


@dataclass(frozen=True)
class Segment:
    """One turn; times in milliseconds from the start of the call, ``end_ms`` never before ``start_ms``."""

    turn: int
    side: Side
    text: str
    start_ms: int
    end_ms: int


def note_on_times(run: RunExport, trial: TrialExport) -> str:
    """Return what a reader must know of the times; '' for those of speech."""
    if not trial.row.is_timed:
        return NO_TIMES
    return MESSAGE_TIMES if run.channel == "text" else ""


def text_of(turn: Turn) -> str:
    """Return what was said, or the reference's mark for a turn without words."""
    return INTERRUPTED if turn.is_blank else turn.said


def segments(trial: TrialExport) -> Iterator[Segment]:
    """Yield the turns of the attempt that counts, by the time they began."""
    for turn in sorted(trial.call.turns.values(), key=lambda turn: (turn.started_ms, turn.seq)):
        end = max(turn.started_ms, turn.ended_ms)
        yield Segment(turn.turn, turn.side, text_of(turn), turn.started_ms, end)
