"""The lane: every trial one scored attempt and one unbroken record, whatever happens to its calls."""

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

import bots.lane
from bots.bridge.contract import PartyFailed, Record, Stop
from bots.lane import Lane, ScoredCall
from scenarios import lifecycle
from scenarios.events import Noted
from scenarios.launch import Limits
from scenarios.lifecycle import Claim
from scenarios.models import Lane as LaneRow
from scenarios.models import Run, SignalResult, Trial, TrialEvent
from scenarios.scoring.evidence import Evidence
from tests.bots import fake_calls
from tests.bots.fake_calls import Failing, from_outside, run_lane, unbroken
from tests.factories import make_run
from tests.scenarios.lifecycle.conftest import kinds, sequence

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bots.lane, "BACKOFF_S", 0.01)
    monkeypatch.setattr(bots.lane, "IDLE_S", 0.02)


def outcomes(run: Run) -> list[str]:
    return list(run.trials.order_by("position").values_list("outcome", flat=True))


def test_a_lane_holds_and_scores_every_trial_and_ends() -> None:
    run = make_run(10, 2)
    lane = run_lane()
    assert outcomes(run) == ["pass"] * 20
    for trial in run.trials.all():
        assert (trial.status, trial.attempts, trial.lease, trial.end_reason) == ("done", 1, None, "end_tool")
        assert unbroken(sequence(trial.pk))
        assert trial.last_seq == len(sequence(trial.pk))
    assert SignalResult.objects.count() == 20
    row = LaneRow.objects.get(key=lane.key)
    assert row.ended_at is not None
    assert row.width == 8


def test_a_record_tells_the_whole_story_in_order() -> None:
    run = make_run(1)
    run_lane()
    assert kinds(run.trials.get().pk) == [
        "attempt.started",
        "call.started",
        *["turn.ended"] * fake_calls.TURNS,
        "call.ended",
        "signal.scored",
        "trial.finished",
    ]
    turn = TrialEvent.objects.filter(kind="turn.ended").earliest("seq")
    assert (turn.side, turn.data["said"]) == ("agent", "turn 1")


def test_no_more_calls_at_once_than_the_width() -> None:
    most, now = 0, 0

    async def counting(claim: Claim, record: Record, stop: Stop) -> Evidence:
        nonlocal most, now
        now += 1
        most = max(most, now)
        try:
            return await fake_calls.hold(claim, record, stop, turn_s=0.005)
        finally:
            now -= 1

    run = make_run(12)
    run_lane(counting, width=3)
    assert most == 3
    assert outcomes(run) == ["pass"] * 12


def test_a_runs_own_limit_holds() -> None:
    together: list[int] = []
    running: set[int] = set()

    async def counting(claim: Claim, record: Record, stop: Stop) -> Evidence:
        running.add(claim.trial_id)
        together.append(len(running))
        try:
            return await fake_calls.hold(claim, record, stop)
        finally:
            running.discard(claim.trial_id)

    run = make_run(6, config={"limits": Limits(concurrency=2)})
    run_lane(counting, width=8)
    assert max(together) == 2
    assert outcomes(run) == ["pass"] * 6


def test_a_failed_attempt_is_tried_again_in_the_same_record() -> None:
    run = make_run(1)
    failing = Failing(2)
    run_lane(failing)
    trial = run.trials.get()
    assert (trial.outcome, trial.attempts) == ("pass", 3)
    assert [claim.attempt for claim in failing.calls] == [1, 2, 3]
    assert kinds(trial.pk).count("attempt.started") == 3
    failed = TrialEvent.objects.filter(kind="attempt.failed").order_by("seq")
    assert [event.data["will_retry"] for event in failed] == [True, True]
    assert failed[0].data["error"] == "llm_http_429"
    assert unbroken(sequence(trial.pk))


def test_attempts_are_used_up_once() -> None:
    run = make_run(2)
    failing = Failing(100)
    run_lane(failing)
    assert outcomes(run) == ["infra_error"] * 2
    assert len(failing.calls) == 2 * lifecycle.MAX_ATTEMPTS
    last = TrialEvent.objects.filter(kind="attempt.failed").latest("seq")
    assert last.data["will_retry"] is False


def test_what_cannot_succeed_is_tried_once() -> None:
    run = make_run(1)
    failing = Failing(9, lambda: PartyFailed("no_key", "TOY_KEY is not set", retry=False))
    run_lane(failing)
    assert len(failing.calls) == 1
    assert run.trials.get().outcome_reason == "no_key: TOY_KEY is not set"


def test_a_fault_of_ours_is_an_infra_error_with_its_name() -> None:
    run = make_run(2)
    failing = Failing(3, lambda: ZeroDivisionError("oops"))
    run_lane(failing, width=1)
    assert outcomes(run) == ["infra_error", "pass"]
    assert run.trials.get(position=0).error_kind == "harness_ZeroDivisionError"


def test_a_call_that_does_not_end_is_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bots.lane, "OVERTIME_S", -0.9)
    run = make_run(1, config={"limits": Limits(max_duration_s=1)})

    async def endless(claim: Claim, record: Record, stop: Stop) -> Evidence:
        await asyncio.sleep(60)
        raise AssertionError

    run_lane(endless)
    trial = run.trials.get()
    assert (trial.outcome, trial.error_kind) == ("infra_error", "call_overran")


def test_cancelling_a_run_ends_its_calls_and_nothing_starts_again(operator: User) -> None:
    run, other = make_run(6), make_run(2)
    held: list[int] = []

    async def cancelled(claim: Claim, record: Record, stop: Stop) -> Evidence:
        held.append(claim.trial_id)
        if claim.run_id == run.pk and len(held) == 1:
            await from_outside(lifecycle.request_cancel, run, operator)
        if claim.run_id == run.pk:
            await stop.wait()
        return await fake_calls.hold(claim, record, stop)

    run_lane(cancelled, width=2)
    assert outcomes(run) == ["cancelled"] * 6
    assert outcomes(other) == ["pass"] * 2
    assert len(held) == 4
    assert all(unbroken(sequence(trial.pk)) for trial in run.trials.all())


def test_a_call_that_ignores_a_cancel_is_broken_off(operator: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bots.recorder.STOP_GRACE_S", 0.05)
    run = make_run(1)

    async def deaf(claim: Claim, record: Record, stop: Stop) -> Evidence:
        await from_outside(lifecycle.request_cancel, run, operator)
        await asyncio.sleep(60)
        raise AssertionError

    run_lane(deaf)
    assert outcomes(run) == ["cancelled"]


def test_cancelling_while_scoring_ends_the_trial(operator: User) -> None:
    run = make_run(2)

    async def slow(claim: Claim, held: Evidence | None) -> ScoredCall:
        if claim.scenario == "toy__1":
            await from_outside(lambda: lifecycle.request_trial_cancel(Trial.objects.get(pk=claim.trial_id)))
            await asyncio.sleep(60)
        return await fake_calls.score(claim, held)

    run_lane(scorer=slow)
    assert outcomes(run) == ["cancelled", "pass"]
    assert all(unbroken(sequence(trial.pk)) for trial in run.trials.all())


def test_a_hang_up_that_comes_while_scoring_changes_nothing(operator: User) -> None:
    run = make_run(1)

    async def slow(claim: Claim, held: Evidence | None) -> ScoredCall:
        ask = Trial.objects.filter(pk=claim.trial_id).update
        await from_outside(lambda: ask(hang_up_requested=True, hang_up_by=operator))
        await asyncio.sleep(0.5)
        return await fake_calls.score(claim, held)

    run_lane(scorer=slow)
    assert outcomes(run) == ["pass"]


def test_hang_up_tells_the_call_who_asked(operator: User) -> None:
    run = make_run(1)
    people: list[str] = []

    async def waiting(claim: Claim, record: Record, stop: Stop) -> Evidence:
        trial = await from_outside(lambda: Trial.objects.get(pk=claim.trial_id))
        await from_outside(lifecycle.request_hang_up, trial, operator)
        await stop.wait()
        people.append(f"{stop.reason} {stop.person}")
        return await fake_calls.hold(claim, record, stop)

    run_lane(waiting)
    assert people == ["hang_up operator"]
    assert run.trials.get().status == "done"


def test_scoring_that_breaks_does_not_hold_the_call_again() -> None:
    run = make_run(1)
    calls = Failing(0)

    async def broken(claim: Claim, held: Evidence | None) -> ScoredCall:
        raise KeyError("no such signal")

    run_lane(calls, broken)
    trial = run.trials.get()
    assert (trial.outcome, trial.error_kind) == ("infra_error", "scoring_KeyError")
    assert len(calls.calls) == 1


def test_rescoring_needs_no_call() -> None:
    run = make_run(1)
    run_lane()
    calls = Failing(0)
    seen: list[Any] = []

    async def again(claim: Claim, held: Evidence | None) -> ScoredCall:
        seen.append(held)
        return await fake_calls.score(claim, held)

    lifecycle.rescore(run, ["pass"])
    run_lane(calls, again)
    assert (calls.calls, seen) == ([], [None])
    trial = run.trials.get()
    assert trial.outcome == "pass"
    assert kinds(trial.pk).count("attempt.started") == 1
    assert kinds(trial.pk).count("trial.finished") == 2
    assert unbroken(sequence(trial.pk))


def test_stopping_gives_trials_back_uncounted() -> None:
    run = make_run(4)
    lanes: list[Lane] = []

    async def stopping(claim: Claim, record: Record, stop: Stop) -> Evidence:
        record(Noted(level="info", text="speaking"))
        lanes[0].stop()
        await asyncio.sleep(60)
        raise AssertionError

    async def drive() -> None:
        lanes.append(Lane(stopping, fake_calls.score, width=2))
        await lanes[0].run()

    asyncio.run(drive())
    assert list(run.trials.values_list("status", "attempts", "lease")) == [("queued", 0, None)] * 4
    run_lane()
    assert outcomes(run) == ["pass"] * 4
    assert all(unbroken(sequence(trial.pk)) for trial in run.trials.all())


def test_stopping_while_scoring_keeps_the_call() -> None:
    run = make_run(1)
    lanes: list[Lane] = []

    async def slow(claim: Claim, held: Evidence | None) -> ScoredCall:
        lanes[0].stop()
        await asyncio.sleep(60)
        raise AssertionError

    async def drive() -> None:
        lanes.append(Lane(fake_calls.hold, slow, width=2))
        await lanes[0].run()

    asyncio.run(drive())
    calls = Failing(0)
    run_lane(calls)
    assert calls.calls == []
    assert outcomes(run) == ["pass"]


def test_a_lane_whose_lease_is_taken_drops_the_call() -> None:
    run = make_run(1)
    other = uuid4()

    async def robbed(claim: Claim, record: Record, stop: Stop) -> Evidence:
        await from_outside(lambda: Trial.objects.filter(pk=claim.trial_id).update(lease=other, attempts=2))
        await asyncio.sleep(60)
        raise AssertionError

    run_lane(robbed)
    trial = run.trials.get()
    assert (trial.status, trial.attempts, trial.lease) == ("running", 2, other)
    assert unbroken(sequence(trial.pk))


def test_a_record_that_cannot_be_stored_ends_its_trial_and_no_other() -> None:
    run = make_run(3)

    async def holed(claim: Claim, record: Any, stop: Stop) -> Evidence:
        if claim.scenario == "toy__2":
            record._seq += 1  # a hole in the sequence, which the database side refuses
            record(Noted(level="info", text="after the hole"))
            await asyncio.sleep(60)
        return await fake_calls.hold(claim, record, stop, turn_s=0.02)

    run_lane(holed)
    assert outcomes(run) == ["pass", "infra_error", "pass"]
    assert run.trials.get(position=1).error_kind == "record_broken"


def test_a_lane_whose_time_is_over_claims_no_more() -> None:
    run = make_run(3)
    run_lane(budget_s=-1)
    assert outcomes(run) == [""] * 3


def test_an_idle_lane_takes_what_is_launched_while_it_says_goodbye(monkeypatch: pytest.MonkeyPatch) -> None:
    make_run(1)
    late: list[Run] = []
    save: Callable[..., None] = Lane._save_row

    def saving(self: Lane, *, ended: bool = False) -> None:
        save(self, ended=ended)
        if ended and not late:
            late.append(make_run(1))

    monkeypatch.setattr(Lane, "_save_row", saving)
    run_lane()
    assert outcomes(late[0]) == ["pass"]
