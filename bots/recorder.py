"""The record of a lane's calls: numbered in memory, stored 20 times a second in one transaction for all of them.

The same round trip renews the heartbeats, finds out which leases are gone and reads what people asked for. One thread
does all of a lane's database work, so a lane has one connection and its writes keep their order.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, connections
from django.utils import timezone

from bots.bridge.contract import Stop
from scenarios import lifecycle
from scenarios.events import EndReason, Event
from scenarios.lifecycle import LEASE_S, Claim, FlushReport, NewEvent
from scenarios.sides import Side
from scenarios.storable import storable

FLUSH_S = 0.05
LOOK_S = 0.2  # how often requests of people are read while nothing is being written
BEAT_S = 1.0
STOP_GRACE_S = 10.0  # a call that was asked to end and does not is broken off

log = logging.getLogger(__name__)
Result = TypeVar("Result")


class LeaseLost(Exception):
    """Another lane owns the trial now: whatever this one still knows about it is void."""


class TrialRecord:
    """One attempt's events (see ``bots.bridge.contract.Record``) and the ways to end it from outside."""

    def __init__(self, claim: Claim, started_ms: int = 0) -> None:
        self.claim = claim
        self.stop = Stop()
        self.deadline: asyncio.Timeout | None = None
        self.task: asyncio.Task[None] | None = None
        self.is_lost = False
        # Why the record could not be stored, once that is certain.
        self.broken = ""
        self._zero = time.monotonic() - started_ms / 1000
        self._clock: Callable[[], int] | None = None
        self._seq = claim.last_seq
        self._events: list[NewEvent] = []
        self._pending: list[NewEvent] = []

    def __call__(self, event: Event, side: Side | None = None) -> int:
        """Number an event, stamp its time and queue it for the next flush; return its seq."""
        stored = NewEvent(
            seq=self._seq + 1,
            at_ms=self.now_ms,
            kind=event.kind,
            side=side or getattr(event, "side", None) or "",
            data=storable(event.data()),
            created_at=timezone.now(),
        )
        self._seq = stored.seq
        self._events.append(stored)
        self._pending.append(stored)
        return stored.seq

    def start_clock(self, clock: Callable[[], int] | None = None) -> None:
        """Make now the time zero of the call; with ``clock``, its milliseconds are the time from now on."""
        self._zero = time.monotonic()
        self._clock = clock

    @property
    def now_ms(self) -> int:
        """Return milliseconds since time zero."""
        return int((time.monotonic() - self._zero) * 1000) if self._clock is None else self._clock()

    @property
    def events(self) -> Sequence[NewEvent]:
        """Return the events of this attempt so far."""
        return self._events

    def drain(self) -> list[NewEvent]:
        """Take the events that are not stored yet; none of a broken record, whose sequence has a hole."""
        pending, self._pending = self._pending, []
        return [] if self.broken else pending

    def restore(self, events: list[NewEvent]) -> None:
        """Put drained events back: they could not be stored."""
        self._pending[:0] = events

    def ask_to_stop(self, reason: EndReason, person: str = "") -> None:
        """Ask the call to end and leave it a little time to do so. Without a call, a cancel ends what goes on."""
        if self.stop.is_requested:
            return
        self.stop.request(reason, person)
        if self.deadline is not None:
            self.deadline.reschedule(asyncio.get_running_loop().time() + STOP_GRACE_S)
        elif self.is_cancelled:
            self.break_off()

    @property
    def is_cancelled(self) -> bool:
        """Return whether a person cancelled the trial."""
        return self.stop.is_requested and self.stop.reason == "cancelled"

    def break_off(self, *, lost: bool = False, broken: str = "") -> None:
        """End the attempt's task at once."""
        self.is_lost, self.broken = self.is_lost or lost, self.broken or broken
        if self.task is not None:
            self.task.cancel()


class Recorder:
    """Stores the records of one lane."""

    def __init__(self) -> None:
        self._records: dict[int, TrialRecord] = {}
        self._lock = asyncio.Lock()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="recorder")
        self._wrote_at = self._read_at = time.monotonic()

    def open(self, claim: Claim, started_ms: int = 0) -> TrialRecord:
        """Begin the record of a claimed trial."""
        record = self._records[claim.trial_id] = TrialRecord(claim, started_ms)
        return record

    def close(self, record: TrialRecord) -> None:
        """Forget a record; what is not stored by now never will be."""
        if self._records.get(record.claim.trial_id) is record:
            del self._records[record.claim.trial_id]

    async def run(self) -> None:
        """Flush until cancelled. A database that is away is waited for, as long as the leases last."""
        while True:
            await asyncio.sleep(FLUSH_S)
            try:
                await self.tick()
            except (OperationalError, InterfaceError) as error:
                log.warning("events could not be stored, trying again: %s", error)
                if time.monotonic() - self._wrote_at > LEASE_S:
                    self._lose_all()
                await asyncio.sleep(LOOK_S)

    async def tick(self) -> None:
        """Store what is pending, beat when it is time, and act on what people asked for."""
        async with self._lock:
            now = time.monotonic()
            batches = {record.claim: record.drain() for record in self._records.values()}
            if any(batches.values()) or (batches and now - self._wrote_at >= BEAT_S):
                report = await self._store(batches)
                self._wrote_at = self._read_at = now
            elif batches and now - self._read_at >= LOOK_S:
                report = await self.in_thread(lifecycle.look, list(batches))
                self._read_at = now
            else:
                if not batches:
                    self._wrote_at = now
                return
        self._act_on(report)

    async def settle(self, record: TrialRecord, transition: Callable[..., bool], *args: Any, **facts: Any) -> None:
        """Change the trial's state together with its last events; LeaseLost when it is not ours any more."""
        async with self._lock:
            events = record.drain()
            try:
                done = await self.in_thread(transition, record.claim, *args, events=events, **facts)
            except BaseException:
                record.restore(events)
                raise
        if not done:
            record.is_lost = True
            raise LeaseLost(f"trial {record.claim.trial_id}")

    async def in_thread(self, work: Callable[..., Result], *args: Any, **keywords: Any) -> Result:
        """Do database work in the lane's own thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, partial(_reconnecting, work, *args, **keywords))

    async def shut(self) -> None:
        """Close the thread's connection and end the thread."""
        await self.in_thread(connections.close_all)
        self._thread.shutdown(wait=False)

    async def _store(self, batches: dict[Claim, list[NewEvent]]) -> FlushReport:
        try:
            return await self.in_thread(lifecycle.flush, batches)
        except (OperationalError, InterfaceError, asyncio.CancelledError):
            self._restore(batches)
            raise
        except Exception as error:
            if len(batches) > 1:  # one trial's trouble must not take the others down
                return _merged([await self._store({claim: events}) for claim, events in batches.items()])
            log.exception("a record cannot be stored")
            (claim,) = batches
            self._records[claim.trial_id].break_off(broken=f"{type(error).__name__}: {error}")
            return FlushReport()

    def _restore(self, batches: dict[Claim, list[NewEvent]]) -> None:
        for claim, events in batches.items():
            if record := self._records.get(claim.trial_id):
                record.restore(events)

    def _act_on(self, report: FlushReport) -> None:
        for trial_id, record in list(self._records.items()):
            if trial_id in report.lost:
                log.warning("lease of trial %s is lost", trial_id)
                record.break_off(lost=True)
                self.close(record)
            elif trial_id in report.cancelled:
                record.ask_to_stop("cancelled")
            elif trial_id in report.hung_up:
                record.ask_to_stop("hang_up", report.hung_up[trial_id])

    def _lose_all(self) -> None:
        for record in list(self._records.values()):
            record.break_off(lost=True)
            self.close(record)


def _reconnecting(work: Callable[..., Result], *args: Any, **keywords: Any) -> Result:
    try:
        return work(*args, **keywords)
    except (OperationalError, InterfaceError):
        connections.close_all()
        raise


def _merged(reports: Sequence[FlushReport]) -> FlushReport:
    merged = FlushReport()
    for report in reports:
        merged.lost |= report.lost
        merged.cancelled |= report.cancelled
        merged.hung_up |= report.hung_up
    return merged
