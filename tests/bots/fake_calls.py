"""Calls without parties, for tests of the lane: they record turns, heed the stop, and can go wrong on demand."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from django.db import connections

from bots.bridge.contract import PartyFailed, Record, Stop
from bots.lane import Lane, ScoredCall
from scenarios.events import CallEnded, CallStarted, TurnEnded
from scenarios.lifecycle import Claim, TrialFacts
from scenarios.scoring.evidence import Evidence
from scenarios.scoring.results import Decision, SignalResult

TURNS = 4


def evidence(end_reason: Any = "end_tool") -> Evidence:
    return Evidence(
        turns=(),
        tools=(),
        actions=(),
        databases={},
        end_reason=end_reason,
        duration_ms=1000,
        agent_turns=TURNS,
        intervened_by=None,
        usage={},
        response_ms={},
    )


async def hold(claim: Claim, record: Record, stop: Stop, *, turn_s: float = 0.001) -> Evidence:
    """Hold a call of a few turns."""
    record.start_clock()
    record(CallStarted("text"))
    for turn in range(1, TURNS + 1):
        if stop.is_requested:
            break
        await asyncio.sleep(turn_s)
        record(TurnEnded("agent", turn, f"turn {turn}", None, record.now_ms))
    reason = stop.reason if stop.is_requested else "end_tool"
    record(CallEnded(reason, None, record.now_ms))
    return evidence(reason)


async def score(claim: Claim, held: Evidence | None) -> ScoredCall:
    """Pass every call."""
    buckets = {"passed": ["clean_exit"], "failed": [], "not_applicable": [], "excluded": [], "undecided": []}
    decision = Decision("pass", "it ended well", buckets, True, True, False, False)
    return ScoredCall((SignalResult("clean_exit", True, True, True),), decision, TrialFacts(end_reason="end_tool"))


class Failing:
    """Fails the first ``times`` calls."""

    def __init__(self, times: int, make: Callable[[], BaseException] = lambda: PartyFailed("llm_http_429", "busy")):
        self.times = times
        self.calls: list[Claim] = []
        self._make = make

    async def __call__(self, claim: Claim, record: Record, stop: Stop) -> Evidence:
        self.calls.append(claim)
        if len(self.calls) <= self.times:
            record(CallStarted("text"))
            raise self._make()
        return await hold(claim, record, stop)


def run_lane(hold_call: Any = hold, scorer: Any = score, *, width: int = 8, **options: Any) -> Lane:
    """Run a lane until nothing is left to do."""
    lane = Lane(hold_call, scorer, width=width, **{"linger_s": 0, **options})
    asyncio.run(lane.run())
    return lane


async def from_outside(work: Callable[..., Any], *args: Any) -> Any:
    """Do database work as another process would: on a connection of its own that is closed again."""

    def run() -> Any:
        try:
            return work(*args)
        finally:
            connections.close_all()

    return await asyncio.to_thread(run)


def unbroken(numbers: Sequence[int]) -> bool:
    return list(numbers) == list(range(1, len(numbers) + 1))
