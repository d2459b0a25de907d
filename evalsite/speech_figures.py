"""What speech did to a call or a run, in the figures that pages show: words, time lost, who talked over whom.

Nothing is stored: a call's figures take milliseconds. A run's are gathered a few hundred calls at a time and kept in
memory while the process lives; a page says over how many calls they are.
"""

import math
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from scenarios.analysis.intervals import Interval
from scenarios.analysis.speech.ledger import PARTS, Ledger, Percentiles, Summary, summarize
from scenarios.analysis.speech.talk import Talk, talk
from scenarios.analysis.speech.wer import WordErrors, interval, of_turn, pooled
from scenarios.models import Run, Trial, TrialEvent
from scenarios.scoring.evidence import CallRecord, StoredEvent, read_events
from scenarios.sides import SIDES, Side

KINDS = ("attempt.started", "turn.ended", "latency.measured", "call.ended")
# Calls of a run that one request reads at most: about a second.
STEP = 200
_BATCH = 50
_REMEMBERED = 20_000


@dataclass(frozen=True)
class Words:
    """Words of one side, as the other side heard them. ``of`` is what varies: turns of a call, calls of a run."""

    side: Side
    errors: WordErrors
    interval: Interval | None


@dataclass(frozen=True)
class PartRow:
    """One part of the response time over all responses."""

    name: str
    figures: Percentiles

    @property
    def is_partial(self) -> bool:
        """Return whether some responses have it and some have not."""
        return 0 < self.figures.measured < self.figures.responses


@dataclass(frozen=True)
class SideLedger:
    """The latency ledger of one side. ``barge_ins`` are turns that began while the other side spoke."""

    side: Side
    turns: int
    barge_ins: int
    summary: Summary

    @property
    def parts(self) -> list[PartRow]:
        """Return the parts that were measured at all, in the order in which they happen."""
        return [PartRow(name, row) for name, row in self.summary.parts.items() if row.measured]

    @property
    def unmeasured(self) -> list[str]:
        """Return the parts that no response has."""
        return [name for name, row in self.summary.parts.items() if not row.measured]


@dataclass(frozen=True)
class CallSpeech:
    """What of one call goes into a run's figures."""

    words: Mapping[Side, WordErrors]
    # Of each response its length and its parts in ms, NaN for one that was not measured: a run has many.
    responses: Mapping[Side, "array[float]"]
    turns: Mapping[Side, int]
    barge_ins: Mapping[Side, int]


@dataclass(frozen=True)
class RunSpeech:
    """Figures of the calls that were read so far: ``counted`` of ``total``."""

    counted: int
    total: int
    words: list[Words] = field(default_factory=list)
    ledgers: list[SideLedger] = field(default_factory=list)

    @property
    def left(self) -> int:
        """Return how many calls were not read."""
        return self.total - self.counted


def words_of_call(record: CallRecord) -> list[Words]:
    """Return word errors of each side that was heard or should have been; the interval is over turns."""
    rows = []
    for side in SIDES:
        parts = [of_turn(turn) for turn in record.turns.values() if turn.side == side]
        if parts:
            rows.append(Words(side, pooled(parts), interval(parts)))
    return rows


def talk_of_call(record: CallRecord) -> Talk | None:
    """Return who talked when; None where no turn has a length."""
    found = talk(record.turns.values(), record.duration_ms)
    return found if sum(found.speech_ms.values()) else None


def ledgers_of_call(record: CallRecord, events: Iterable[StoredEvent]) -> list[SideLedger]:
    """Return a ledger for each side that had a turn."""
    one = _of_call(record, events)
    return [_side(side, [one]) for side in SIDES if one.turns[side]]


def of_run(run: Run, step: int = STEP) -> RunSpeech:
    """Return the figures of a run's ended calls: of those known already and of up to ``step`` more."""
    ended = run.trials.filter(status__in=Trial.ENDED, turn_count__gt=0).order_by("position")
    places = list(ended.values_list("pk", "last_seq"))
    unknown = [place for place in places if place not in _known][:step]
    for start in range(0, len(unknown), _BATCH):
        _read(unknown[start : start + _BATCH])
    calls = [call for place in places if (call := _known.get(place)) is not None]
    words = []
    for side in SIDES:
        parts = [call.words[side] for call in calls]
        words.append(Words(side, pooled(parts), interval(parts)))
    return RunSpeech(len(calls), len(places), words, [_side(side, calls) for side in SIDES])


def forget() -> None:
    """Forget what was read of any run."""
    _known.clear()


_known: OrderedDict[tuple[int, int], CallSpeech] = OrderedDict()


def _read(places: Sequence[tuple[int, int]]) -> None:
    events: QuerySet[TrialEvent] = TrialEvent.objects.filter(trial__in=[pk for pk, _ in places], kind__in=KINDS)
    by_trial: dict[int, list[TrialEvent]] = {}
    for event in events.order_by("trial_id", "seq"):
        by_trial.setdefault(event.trial_id, []).append(event)
    for place in places:
        rows = by_trial.get(place[0], [])
        _known[place] = _of_call(read_events(rows), rows)
    while len(_known) > _REMEMBERED:
        _known.popitem(last=False)


def _of_call(record: CallRecord, events: Iterable[StoredEvent]) -> CallSpeech:
    turns = {side: [turn for turn in record.turns.values() if turn.side == side] for side in SIDES}
    found = talk(record.turns.values(), record.duration_ms)
    return CallSpeech(
        {side: pooled(of_turn(turn) for turn in turns[side]) for side in SIDES},
        _responses(events),
        {side: len(turns[side]) for side in SIDES},
        {side: found.interruptions(side) for side in SIDES},
    )


def _responses(events: Iterable[StoredEvent]) -> dict[Side, "array[float]"]:
    """Return the responses of the last attempt."""
    found = {side: array("d") for side in SIDES}
    for event in events:
        if event.kind == "attempt.started":
            found = {side: array("d") for side in SIDES}
        elif event.kind == "latency.measured":
            parts = event.data.get("parts") or {}
            found[event.data["side"]].extend(
                [event.data["response_ms"], *(parts.get(part, math.nan) for part in PARTS)]
            )
    return found


def _ledgers(responses: "array[float]") -> Iterator[Ledger]:
    width = 1 + len(PARTS)
    for start in range(0, len(responses), width):
        response_ms, *parts = responses[start : start + width]
        measured: dict[str, float] = {part: ms for part, ms in zip(PARTS, parts, strict=True) if not math.isnan(ms)}
        yield Ledger.of_event(response_ms, measured)


def _side(side: Side, calls: Sequence[CallSpeech]) -> SideLedger:
    summary = summarize(ledger for call in calls for ledger in _ledgers(call.responses[side]))
    barge_ins = max(summary.barge_ins, sum(call.barge_ins[side] for call in calls))
    return SideLedger(side, sum(call.turns[side] for call in calls), barge_ins, summary)
