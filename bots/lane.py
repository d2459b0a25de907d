"""A lane: one worker's loop over trials. Claims up to its width, holds the calls in one asyncio loop, scores them.

It knows nothing of how a call is held (``hold_call``) or scored (``score``): both are handed in. Nothing here is lost
when the process dies: see ``scenarios.lifecycle``.
"""

import asyncio
import contextlib
import logging
import os
import random
import signal
import socket
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from django.utils import timezone

from bots.bridge.contract import PartyFailed, Record, Stop
from bots.recorder import LeaseLost, Recorder, TrialRecord
from scenarios import faults, lifecycle
from scenarios.events import AttemptFailed, AttemptStarted, Noted, SignalScored, VerdictGiven
from scenarios.lifecycle import Claim, JudgeWork, TrialFacts
from scenarios.models import Lane as LaneRow
from scenarios.scoring.evidence import Evidence
from scenarios.scoring.results import Decision, SignalResult
from scenarios.voice_capacity import VoiceRoom

IDLE_S = 0.5  # how often a lane with free places looks for work
LINGER_S = 5.0  # an idle lane stays this long, so that the next run starts at once
BUDGET_S = 30 * 60.0  # then it claims no more and its successor takes over
ROW_BEAT_S = 2.0
OVERTIME_S = 120.0  # beyond the call's own time limit; a call that does not end itself is broken off
DEFAULT_DURATION_S = 900
BACKOFF_S = 2.0

log = logging.getLogger(__name__)


class ScoredCall(NamedTuple):
    """What scoring gives the lane to store."""

    results: tuple[SignalResult, ...]
    decision: Decision
    facts: TrialFacts
    judged: JudgeWork | None = None


HoldCall = Callable[[Claim, Record, Stop], Awaitable[Evidence]]
# Evidence None: gather it from the stored record.
Score = Callable[[Claim, Evidence | None], Awaitable[ScoredCall]]


class Lane:
    """One lane's run, from its first claim until there is nothing left to do, its time is over or it is stopped."""

    def __init__(
        self,
        hold_call: HoldCall,
        score: Score,
        *,
        width: int,
        key: UUID | None = None,
        budget_s: float | None = None,
        linger_s: float | None = None,
    ) -> None:
        self.key = key or uuid4()
        self.width = width
        self.recorder = Recorder()
        self._hold_call = hold_call
        self._score = score
        self._ends_at = time.monotonic() + (BUDGET_S if budget_s is None else budget_s)
        self._linger_s = LINGER_S if linger_s is None else linger_s
        # With the configuration of the call; {} where it is scored only.
        self._tasks: dict[asyncio.Task[None], Mapping[str, Any]] = {}
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Give all trials back and end (the site is stopping)."""
        self._stopping.set()

    @property
    def is_stopped(self) -> bool:
        """Return whether the lane was told to stop."""
        return self._stopping.is_set()

    async def run(self) -> None:
        """Work until done."""
        loop = asyncio.get_running_loop()
        before = {name: signal.getsignal(name) for name in (signal.SIGTERM, signal.SIGINT)}
        for name in before:
            loop.add_signal_handler(name, self.stop)
        keepers = {asyncio.create_task(self.recorder.run()), asyncio.create_task(self._beat())}
        try:
            await self._work(keepers)
        finally:
            await self._break_off()
            for keeper in keepers:
                keeper.cancel()
            await asyncio.gather(*keepers, return_exceptions=True)
            await self.recorder.in_thread(self._save_row, ended=True)
            await self.recorder.shut()
            for name, handler in before.items():
                loop.remove_signal_handler(name)
                signal.signal(name, handler)

    async def _work(self, keepers: set[asyncio.Task[None]]) -> None:
        await self.recorder.in_thread(self._save_row)
        idle_since = time.monotonic()
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            while not self._stopping.is_set():
                await self._claim()
                if self._tasks:
                    idle_since = time.monotonic()
                elif await self._is_over(idle_since):
                    return
                done, _ = await asyncio.wait(
                    {*self._tasks, *keepers, stopping}, timeout=IDLE_S, return_when=asyncio.FIRST_COMPLETED
                )
                self._tasks = {task: config for task, config in self._tasks.items() if task not in done}
                for task in done - {stopping}:
                    task.result()  # an attempt handles its own errors: what is left is a fault of the lane
        finally:
            stopping.cancel()

    async def _claim(self) -> None:
        free = self.width - len(self._tasks)
        if free <= 0 or time.monotonic() > self._ends_at:
            return
        voice = VoiceRoom.of_lane(self.width, list(self._tasks.values()))
        for claim in await self.recorder.in_thread(lifecycle.claim, free, voice):
            record = self.recorder.open(claim)
            task = asyncio.create_task(self._attempt(record), name=f"trial {claim.trial_id}")
            record.task = task
            self._tasks[task] = {} if claim.only_scoring else claim.config

    async def _is_over(self, idle_since: float) -> bool:
        """Return whether the idle lane may end. Marks itself ended first, so that a launch meanwhile is not missed."""
        if time.monotonic() < min(self._ends_at, idle_since + self._linger_s):
            return False
        await self.recorder.in_thread(self._save_row, ended=True)
        if not await self.recorder.in_thread(lifecycle.pending) or time.monotonic() > self._ends_at:
            return True
        await self.recorder.in_thread(self._save_row)
        return False

    async def _attempt(self, record: TrialRecord) -> None:
        claim = record.claim
        try:
            evidence = None if claim.only_scoring else await self._hold(record)
            if record.is_cancelled:
                await self.recorder.settle(record, lifecycle.cancel_trial)
            else:
                await self._finish(record, evidence)
        except LeaseLost:
            log.warning("trial %s belongs to another lane now", claim.trial_id)
        except PartyFailed as error:
            await self._fail(record, error.kind, str(error), retry=error.retry)
        except asyncio.CancelledError:
            await self._interrupted(record)
        except TimeoutError:
            await self._fail(record, "call_overran", "the call did not end at its time limit and was broken off")
        except Exception as error:
            log.exception("trial %s", claim.trial_id)
            await self._fail(record, f"harness_{type(error).__name__}", str(error))
        finally:
            self.recorder.close(record)

    async def _hold(self, record: TrialRecord) -> Evidence:
        claim = record.claim
        record(AttemptStarted(attempt=claim.attempt, lane=str(self.key)))
        limit = (claim.config.get("limits") or {}).get("max_duration_s") or DEFAULT_DURATION_S
        try:
            async with asyncio.timeout(limit + OVERTIME_S) as record.deadline:
                return await self._hold_call(claim, record, record.stop)
        finally:
            record.deadline = None

    async def _finish(self, record: TrialRecord, evidence: Evidence | None) -> None:
        claim = record.claim
        if not claim.only_scoring:
            await self.recorder.settle(record, lifecycle.begin_scoring)
        try:
            scored = await self._score(claim, evidence)
        except Exception as error:
            log.exception("scoring of trial %s", claim.trial_id)
            await self._fail(record, f"scoring_{type(error).__name__}", str(error), in_call=False)
            return
        states = {signal: state for state, names in scored.decision.success_breakdown.items() for signal in names}
        for result in scored.results:
            state = states.get(result.signal, "not_applicable")
            gating = result.signal in states and state != "excluded"
            record(SignalScored(signal=result.signal, state=state, value=result.value, gating=gating))
        verdicts = [verdict for result in scored.results for verdict in result.verdicts]
        for verdict in (*verdicts, *scored.decision.upstream_checks):
            record(VerdictGiven(verdict.signal, verdict.index, verdict.passed, verdict.error is not None))
        await self.recorder.settle(
            record, lifecycle.finish, scored.decision, scored.results, scored.facts, judged=scored.judged
        )
        self.recorder.close(record)  # its lease is given up: the recorder would take it for a lost one
        if scored.decision.outcome in faults.FAILED:
            # The call is over and stored: a lane that is stopped now has nothing to give back.
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.to_thread(faults.attribute_after_call, claim.trial_id)

    async def _fail(
        self, record: TrialRecord, kind: str, message: str, *, retry: bool = True, in_call: bool = True
    ) -> None:
        """Give the trial back after a breath, or end it. The lease is kept meanwhile: a limited endpoint gets calm."""
        retry = in_call and lifecycle.will_retry(record.claim, retry=retry)
        if in_call:
            record(AttemptFailed(error=kind, message=message, will_retry=retry))
        else:
            record(Noted(level="error", text=f"Scoring failed ({kind}): {message}"))
        try:
            if retry:
                await self._breathe(record)
            await self.recorder.settle(record, lifecycle.fail_attempt, kind, message, retry=retry)
        except LeaseLost:
            log.warning("trial %s belongs to another lane now", record.claim.trial_id)
        except asyncio.CancelledError:
            await self._interrupted(record)

    async def _breathe(self, record: TrialRecord) -> None:
        pause = BACKOFF_S * 2 ** (record.claim.attempt - 1) * random.uniform(0.75, 1.25)  # noqa: S311  (no secret)
        try:
            async with asyncio.timeout(pause):
                await record.stop.wait()
        except TimeoutError:
            pass

    async def _interrupted(self, record: TrialRecord) -> None:
        """The attempt's task was cancelled: lease lost, record broken, or the site is stopping."""
        if record.is_lost:
            return
        try:
            if record.is_cancelled:
                await self.recorder.settle(record, lifecycle.cancel_trial)
            elif record.broken:
                await self.recorder.settle(record, lifecycle.fail_attempt, "record_broken", record.broken)
            else:
                await self.recorder.settle(record, lifecycle.release)
        except LeaseLost:
            log.warning("trial %s belongs to another lane now", record.claim.trial_id)

    async def _break_off(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(ROW_BEAT_S)
            row = LaneRow.objects.filter(key=self.key)
            await self.recorder.in_thread(row.update, heartbeat_at=timezone.now(), running=len(self._tasks))

    def _save_row(self, *, ended: bool = False) -> None:
        now = timezone.now()
        LaneRow.objects.update_or_create(
            key=self.key,
            defaults={"heartbeat_at": now, "ended_at": now if ended else None, "running": len(self._tasks)},
            create_defaults={
                "heartbeat_at": now,
                "host": socket.gethostname(),
                "pid": os.getpid(),
                "width": self.width,
            },
        )
