"""A record kept in memory, with the shape that scoring reads."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from scenarios.events import Event
from scenarios.lifecycle import NewEvent
from scenarios.scoring.evidence import StoredEvent
from scenarios.sides import Side


class ListRecord:
    """Numbers and keeps events as the lane's recorder does."""

    def __init__(self) -> None:
        self._zero = time.monotonic()
        self._clock: Callable[[], int] | None = None
        self._events: list[NewEvent] = []

    def __call__(self, event: Event, side: Side | None = None) -> int:
        seq = len(self._events) + 1
        own = side or getattr(event, "side", None) or ""
        self._events.append(NewEvent(seq, self.now_ms, event.kind, own, event.data(), datetime.now(UTC)))
        return seq

    def start_clock(self, clock: Callable[[], int] | None = None) -> None:
        self._zero = time.monotonic()
        self._clock = clock

    @property
    def now_ms(self) -> int:
        return int((time.monotonic() - self._zero) * 1000) if self._clock is None else self._clock()

    @property
    def events(self) -> Sequence[StoredEvent]:
        return self._events

    @property
    def stored(self) -> Sequence[NewEvent]:
        """Return the events with the moment at which each was recorded."""
        return self._events

    def kinds(self) -> list[str]:
        return [event.kind for event in self._events]

    def of(self, kind: str, side: str | None = None) -> list[dict[str, Any]]:
        """Return the data of the events of a kind, of one side where it is named."""
        return [dict(e.data) for e in self._events if e.kind == kind and (side is None or e.side == side)]

    def notes(self) -> str:
        return "\n".join(str(note["text"]) for note in self.of("note"))

    def said(self) -> list[tuple[str, str]]:
        return [(turn["side"], turn["said"]) for turn in self.of("turn.ended")]
