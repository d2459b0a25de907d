"""What a reader of a call should look at: marks on the record that decide nothing.

They are read from the record whenever a page wants them, so a better reading reaches old calls too.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from scenarios.scoring.consent import asked, early_stop
from scenarios.scoring.evidence import CallRecord, first_goodbye
from scenarios.scoring.invented import invented

MAX_OF_A_KIND = 50


@dataclass(frozen=True)
class Remark:
    """One mark on the event ``seq``: ``label`` is what stands there, ``text`` says it whole."""

    kind: str
    seq: int
    label: str
    text: str


def remarks(record: CallRecord) -> list[Remark]:
    """Return the remarks on a call, of each kind the first ``MAX_OF_A_KIND``."""
    kinds = (_invented(record), _unasked(record), _ends(record), _backwards(record))
    return [remark for kind in kinds for remark in _first(kind)]


def _first(kind: Iterator[Remark]) -> Iterator[Remark]:
    """Yield the first remarks of a kind; the last of them says that there may be more."""
    for number, remark in enumerate(kind, 1):
        if number == MAX_OF_A_KIND:
            yield replace(remark, text=f"{remark.text} There may be more of this kind; {number} are listed.")
            return
        yield remark


def _invented(record: CallRecord) -> Iterator[Remark]:
    for turn, found in invented(record):
        text = f"The caller says {', '.join(found)}: neither in its instructions, nor said or looked up before."
        yield Remark("invented", turn.seq, "made up?", text)


def _unasked(record: CallRecord) -> Iterator[Remark]:
    for item in asked(record):
        use = item.use
        if item.offer is None:
            why = "no turn of the agent before it speaks of it"
        elif item.consent is None:
            why = f"spoken of in turn {item.offer.turn}, but no plain yes of the caller between"
        else:
            continue
        text = f"{use.tool} (call {use.call}) was done in turn {_turn_of(use.seq, record)}: {why}."
        yield Remark("unasked", use.seq, "asked first?", text)


def _turn_of(seq: int, record: CallRecord) -> int:
    """Return the number of the turn in which something happened: the agent's next that ended."""
    later = [turn.turn for turn in record.turns.values() if turn.side == "agent" and turn.seq > seq]
    return min(later, default=max((turn.turn for turn in record.turns.values()), default=0) + 1)


def _ends(record: CallRecord) -> Iterator[Remark]:
    stopped = early_stop(record)
    if stopped is not None:
        text = f"The call ended ({record.end_reason}) after a yes in turn {stopped.turn}, before anything was written."
        yield Remark("early_stop", stopped.seq, "early stop", text)
    goodbye = first_goodbye(record)
    if goodbye is not None:
        text = f"From turn {goodbye.turn} on there are only goodbyes; what was done after it is not graded."
        yield Remark("goodbyes", goodbye.seq, "goodbye loop", text)


def _backwards(record: CallRecord) -> Iterator[Remark]:
    for seq, by_ms in record.backwards:
        text = f"Event {seq} is {by_ms} ms earlier than the one before it; the order is that of the numbers."
        yield Remark("backwards", seq, "time runs back", text)
