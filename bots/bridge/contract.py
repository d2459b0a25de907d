"""What lane and call agreed on: the record, the request to stop, the failure of a party."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from scenarios.events import EndReason, Event
from scenarios.scoring.evidence import StoredEvent
from scenarios.sides import Side


class Record(Protocol):
    """The record of one trial's attempt, kept by the lane's recorder."""

    def __call__(self, event: Event, side: Side | None = None) -> int:
        """Number an event, stamp its time and queue it for the next flush; return its seq.

        ``side`` defaults to the event's own ``side`` field.
        """

    def start_clock(self, clock: Callable[[], int] | None = None) -> None:
        """Make now the time zero of the call; with ``clock``, its milliseconds are the time from now on."""

    @property
    def now_ms(self) -> int:
        """Return milliseconds since time zero."""

    @property
    def events(self) -> Sequence[StoredEvent]:
        """Return the events of this attempt so far."""


class Stop:
    """A request from outside to end the call: set once, read by the call between and during turns."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.reason: EndReason = "cancelled"
        self.person = ""

    def request(self, reason: EndReason, person: str = "") -> None:
        """Ask the call to end; the first reason stays."""
        if not self._event.is_set():
            self.reason, self.person = reason, person
            self._event.set()

    @property
    def is_requested(self) -> bool:
        """Return whether the call was asked to end."""
        return self._event.is_set()

    async def wait(self) -> None:
        """Wait until the call is asked to end."""
        await self._event.wait()


class PartyFailed(Exception):
    """A bot, its socket or its model endpoint failed: ``kind`` is short (``llm_http_429``), the text says where.

    ``retry`` is False where another attempt must fail alike (no key, unknown model): a person has to act first.
    """

    def __init__(self, kind: str, message: str, *, retry: bool = True, side: Side | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry = retry
        self.side = side
