"""What the call page reads of a trial's record: attempts, chunks of events, the timeline, search hits."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Max, QuerySet

from evalsite import transcript
from scenarios.models import Trial, TrialEvent
from scenarios.searchable import composed

# Events that one page or one further load renders: about 0.1 s of server time.
CHUNK = 300
# Hits that are listed; the number of all of them is always given.
MAX_HITS = 100
AROUND = 80
ANCHOR = re.compile(r"(turn|call|event)-(\d{1,9})\Z")


@dataclass(frozen=True)
class Chunk:
    """A stretch of a trial's sequence, both ends included."""

    first: int
    last: int

    def __contains__(self, seq: int) -> bool:
        return self.first <= seq <= self.last


@dataclass(frozen=True)
class Attempt:
    """One attempt of a trial: a stretch of its sequence, and how it broke off (earlier ones only)."""

    number: int
    first: int
    last: int
    failure: str = ""


class CallRecord:
    """The record of a trial up to the last event there was when the page was asked for."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.events: QuerySet[TrialEvent] = TrialEvent.objects.filter(trial=trial).order_by("seq")
        self.last = self.events.aggregate(last=Max("seq"))["last"] or 0
        self.events = self.events.filter(seq__lte=self.last)
        self.attempts = list(self._attempts())

    @property
    def current(self) -> Attempt:
        """Return the attempt that counts."""
        return self.attempts[-1]

    def _attempts(self) -> Iterator[Attempt]:
        starts = list(self.events.filter(kind="attempt.started").values_list("seq", "data__attempt"))
        if len(starts) < 2:
            yield Attempt(starts[0][1] if starts else 1, 1, self.last)
            return
        failures = dict(self.events.filter(kind="attempt.failed").values_list("seq", "data__error"))
        ends = [seq - 1 for seq, _ in starts[1:]] + [self.last]
        first = 1
        for (_, number), last in zip(starts, ends, strict=True):
            failure = next((why for seq, why in failures.items() if first <= seq <= last), "")
            yield Attempt(number, first, last, failure)
            first = last + 1

    def chunks(self) -> list[Chunk]:
        """Return the stretches of the current attempt in order."""
        first, last = self.current.first, self.last
        return [Chunk(start, min(start + CHUNK - 1, last)) for start in range(first, last + 1, CHUNK)]

    def find(self, anchor: str) -> int | None:
        """Return the seq that an address like ``turn-7`` means in the current attempt, None when there is none."""
        match = ANCHOR.match(anchor)
        if match is None:
            return None
        kind, number = match[1], int(match[2])
        current = self.events.filter(seq__gte=self.current.first)
        found = {
            "turn": current.filter(kind="turn.ended", data__turn=number),
            "call": current.filter(kind="tool.called", data__call=number),
            "event": self.events.filter(seq=number),
        }
        return found[kind].values_list("seq", flat=True).last()

    def rows(self, chunk: Chunk) -> list[dict[str, Any]]:
        """Return the rows of a stretch. What a party added to a turn stands in that turn, not twice."""
        is_current = chunk.first >= self.current.first
        rows: dict[str, dict[str, Any]] = {}
        for event in self.events.filter(seq__range=(chunk.first, chunk.last)):
            row = transcript.row(event, is_current)
            row["template"] = transcript.TEMPLATES.get(event.kind, transcript.UNKNOWN)
            if not self.trial.is_timed:
                row["at_ms"] = None
            rows[row["anchor"]] = row
        return list(rows.values())

    def timeline(self, heard_ms: int = 0) -> dict[str, Any]:
        """Return the marks of the current attempt and its length, in ms: of the recording too, if that is longer."""
        if not self.trial.is_timed:
            return {"marks": [], "end": max(1, heard_ms)}
        current = self.events.filter(seq__gte=self.current.first)
        found = [transcript.mark(event) for event in current.filter(kind__in=transcript.MARKED)]
        marks = {mark["target"]: mark for mark in found if mark is not None}
        end = current.aggregate(end=Max("at_ms"))["end"] or 0
        return {"marks": list(marks.values()), "end": max(1, end, heard_ms)}

    def search(self, query: str) -> dict[str, Any]:
        """Return the hits of a text in everything that was said, called and answered, folded values included."""
        wanted = re.compile(re.escape(composed(query)), re.IGNORECASE)
        hits: list[dict[str, Any]] = []
        total = 0
        for event in self.events.filter(seq__gte=self.current.first).iterator(chunk_size=200):
            snippet = _snippet(event, wanted)
            if snippet is None:
                continue
            total += 1
            if len(hits) < MAX_HITS:
                hits.append({"anchor": transcript.anchor(event), "event": event, "snippet": snippet})
        return {"query": query, "hits": hits, "total": total}


def _snippet(event: TrialEvent, wanted: re.Pattern[str]) -> tuple[str, str, str] | None:
    for value in map(composed, _texts(event.data)):
        if found := wanted.search(value):
            place, end = found.span()
            return value[max(0, place - AROUND) : place], found[0], value[end : end + AROUND]
    return None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif value is not None:
        yield str(value)
