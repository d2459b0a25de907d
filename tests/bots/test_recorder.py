"""The recorder: numbers in memory, stores in batches, keeps everything through a bad moment of the database."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError

import bots.recorder
from bots.recorder import LeaseLost, Recorder, TrialRecord
from scenarios import lifecycle
from scenarios.events import CallStarted, Noted, TurnEnded, VerdictGiven
from scenarios.lifecycle import Claim
from scenarios.models import Trial, TrialEvent
from tests.bots.fake_calls import from_outside
from tests.factories import make_run
from tests.scenarios.lifecycle.conftest import sequence

pytestmark = pytest.mark.django_db(transaction=True)
HELLO = Noted(level="info", text="hello")


def claims(count: int = 1) -> list[Claim]:
    make_run(count)
    return lifecycle.claim(count)


def recording(work: Callable[[Recorder], Awaitable[None]]) -> None:
    """Run ``work`` with a recorder that flushes only when told."""

    async def run() -> None:
        recorder = Recorder()
        try:
            await work(recorder)
        finally:
            await recorder.shut()

    asyncio.run(run())


def test_events_are_numbered_stamped_and_attributed() -> None:
    (claim,) = claims()
    record = TrialRecord(claim)
    assert record(CallStarted("text")) == 1
    assert record(TurnEnded("user", 1, "hi", None, 0)) == 2
    assert record(HELLO, "agent") == 3
    assert [(event.seq, event.kind, event.side) for event in record.events] == [
        (1, "call.started", ""),
        (2, "turn.ended", "user"),
        (3, "note", "agent"),
    ]
    assert record.events[1].data["said"] == "hi"


def test_numbers_go_on_from_the_last_attempt() -> None:
    (claim,) = claims()
    lifecycle.flush({claim: [event for event in _noted(claim, 3)]})
    lifecycle.fail_attempt(claim, "x", "y")
    (again,) = lifecycle.claim(1)
    assert TrialRecord(again)(HELLO) == 4


def _noted(claim: Claim, count: int) -> list[Any]:
    record = TrialRecord(claim)
    for _ in range(count):
        record(HELLO)
    return record.drain()


def test_the_clock_starts_when_told() -> None:
    (claim,) = claims()
    record = TrialRecord(claim, started_ms=60_000)
    assert record.now_ms >= 60_000
    record.start_clock()
    assert record.now_ms < 60_000


def test_control_characters_of_a_model_do_not_break_the_record() -> None:
    (claim,) = claims()

    async def work(recorder: Recorder) -> None:
        recorder.open(claim)(TurnEnded("agent", 1, "a\x00b \ud800", None, 0))
        await recorder.tick()

    recording(work)
    assert TrialEvent.objects.get().data["said"] == "a\ufffdb \ufffd"


def test_one_flush_stores_the_events_of_all_trials() -> None:
    held = claims(3)

    async def work(recorder: Recorder) -> None:
        for claim in held:
            record = recorder.open(claim)
            record(HELLO)
            record(HELLO)
        await recorder.tick()

    recording(work)
    assert [sequence(claim.trial_id) for claim in held] == [[1, 2]] * 3


def test_nothing_is_written_while_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    (claim,) = claims()
    flushed: list[Any] = []
    monkeypatch.setattr(lifecycle, "flush", flushed.append)
    before = Trial.objects.get().heartbeat_at

    async def work(recorder: Recorder) -> None:
        recorder.open(claim)
        for _ in range(5):
            await recorder.tick()

    recording(work)
    assert flushed == []
    assert Trial.objects.get().heartbeat_at == before


def test_a_silent_call_still_beats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bots.recorder, "BEAT_S", 0.0)
    (claim,) = claims()
    before = Trial.objects.get().heartbeat_at

    async def work(recorder: Recorder) -> None:
        recorder.open(claim)
        await recorder.tick()

    recording(work)
    after = Trial.objects.get().heartbeat_at
    assert before is not None
    assert after is not None
    assert after > before


def test_a_database_that_is_away_costs_no_event(monkeypatch: pytest.MonkeyPatch) -> None:
    (claim,) = claims()
    flush = lifecycle.flush
    trouble = [OperationalError("database is locked")] * 3

    def flaky(batches: Any) -> Any:
        if trouble:
            raise trouble.pop()
        return flush(batches)

    monkeypatch.setattr(lifecycle, "flush", flaky)
    monkeypatch.setattr(bots.recorder, "LOOK_S", 0.01)

    async def work(recorder: Recorder) -> None:
        record = recorder.open(claim)
        keeper = asyncio.create_task(recorder.run())
        for _ in range(20):
            record(HELLO)
            await asyncio.sleep(0.03)
        while trouble:
            await asyncio.sleep(0.03)
        keeper.cancel()
        await asyncio.gather(keeper, return_exceptions=True)
        await recorder.tick()

    recording(work)
    assert sequence(claim.trial_id) == list(range(1, 21))


def test_a_database_that_stays_away_costs_the_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    (claim,) = claims()

    def away(batches: Any) -> None:
        raise OperationalError("no route to host")

    monkeypatch.setattr(lifecycle, "flush", away)
    monkeypatch.setattr(bots.recorder, "LEASE_S", 0.1)
    monkeypatch.setattr(bots.recorder, "LOOK_S", 0.02)

    async def work(recorder: Recorder) -> None:
        record = recorder.open(claim)
        record.task = asyncio.create_task(asyncio.sleep(60))
        keeper = asyncio.create_task(recorder.run())
        record(HELLO)
        with pytest.raises(asyncio.CancelledError):
            await record.task
        assert record.is_lost
        keeper.cancel()

    recording(work)


def test_requests_of_people_reach_the_call(operator: User) -> None:
    first, second = claims(2)

    async def work(recorder: Recorder) -> None:
        records = [recorder.open(first), recorder.open(second)]
        await from_outside(lambda: lifecycle.request_trial_cancel(Trial.objects.get(pk=first.trial_id)))
        await from_outside(lambda: lifecycle.request_hang_up(Trial.objects.get(pk=second.trial_id), operator))
        records[0](HELLO)
        await recorder.tick()
        assert [(record.stop.is_requested, record.stop.reason) for record in records] == [
            (True, "cancelled"),
            (True, "hang_up"),
        ]
        assert records[1].stop.person == "operator"

    recording(work)


def test_the_first_request_stays() -> None:
    (claim,) = claims()

    async def work(recorder: Recorder) -> None:
        record = recorder.open(claim)
        record.ask_to_stop("hang_up", "ann")
        record.ask_to_stop("cancelled")
        assert (record.stop.reason, record.stop.person) == ("hang_up", "ann")
        assert not record.is_cancelled

    recording(work)


def test_settling_stores_the_last_events_with_the_change() -> None:
    (claim,) = claims()

    async def work(recorder: Recorder) -> None:
        record = recorder.open(claim)
        record(HELLO)
        await recorder.settle(record, lifecycle.begin_scoring)
        record(VerdictGiven("nl_assertion", 1, True, False))
        await recorder.settle(record, lifecycle.cancel_trial)
        with pytest.raises(LeaseLost):
            await recorder.settle(record, lifecycle.cancel_trial)
        assert record.is_lost

    recording(work)
    assert sequence(claim.trial_id) == [1, 2, 3]


def test_a_change_that_broke_keeps_its_events() -> None:
    (claim,) = claims()

    def broken(claim: Claim, events: Any) -> bool:
        raise OperationalError("database is locked")

    async def work(recorder: Recorder) -> None:
        record = recorder.open(claim)
        record(HELLO)
        with pytest.raises(OperationalError):
            await recorder.settle(record, broken)
        await recorder.settle(record, lifecycle.begin_scoring)

    recording(work)
    assert sequence(claim.trial_id) == [1]
