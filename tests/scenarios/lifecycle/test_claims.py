"""Taking trials, losing them and giving them back."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, connections
from django.utils import timezone

from scenarios import lifecycle
from scenarios.launch import Limits
from scenarios.lifecycle import Claim
from scenarios.models import Run, Trial
from tests.factories import make_run
from tests.scenarios.lifecycle.conftest import decision, event, kinds, sequence, silence

pytestmark = pytest.mark.django_db


def test_a_claim_takes_the_first_trials_of_the_oldest_run() -> None:
    first, second = make_run(3), make_run(2)
    claims = lifecycle.claim(4)
    assert [claim.run_id for claim in claims] == [first.pk] * 3 + [second.pk]
    assert [claim.scenario for claim in claims[:3]] == ["toy__1", "toy__2", "toy__3"]
    assert all(claim.attempt == 1 and not claim.only_scoring for claim in claims)
    taken = Trial.objects.get(pk=claims[0].trial_id)
    assert (taken.status, taken.attempts, taken.lease) == ("running", 1, claims[0].lease)
    assert taken.started_at is not None


def test_a_claim_carries_the_frozen_configuration() -> None:
    run = make_run(1)
    (claim,) = lifecycle.claim(1)
    assert claim.config == run.config
    assert hash(claim) is not None


def test_nobody_gets_a_trial_that_is_taken() -> None:
    make_run(2)
    assert len(lifecycle.claim(5)) == 2
    assert lifecycle.claim(5) == []


@pytest.mark.parametrize("field", ["paused_at", "cancel_requested_at"])
def test_stopped_runs_are_passed_over(field: str) -> None:
    stopped, going = make_run(2), make_run(1)
    Run.objects.filter(pk=stopped.pk).update(**{field: timezone.now()})
    assert [claim.run_id for claim in lifecycle.claim(5)] == [going.pk]


def test_a_run_holds_no_more_calls_at_once_than_its_limit() -> None:
    run, other = make_run(5, config={"limits": Limits(concurrency=2)}), make_run(5)
    claims = lifecycle.claim(6)
    assert [claim.run_id for claim in claims] == [run.pk] * 2 + [other.pk] * 4
    assert [claim.run_id for claim in lifecycle.claim(6)] == [other.pk]
    lifecycle.cancel_trial(claims[0])
    assert [claim.run_id for claim in lifecycle.claim(6)] == [run.pk]


def test_a_silent_lanes_trial_is_given_to_another_and_its_record_goes_on(take: Callable[[], Claim]) -> None:
    make_run(1)
    dead = take()
    lifecycle.flush({dead: [event(1), event(2)]})
    assert lifecycle.claim(1) == []
    silence(dead.trial_id)
    again = take()
    assert (again.trial_id, again.attempt, again.last_seq) == (dead.trial_id, 2, 3)
    assert again.lease != dead.lease
    assert kinds(dead.trial_id) == ["note", "note", "attempt.failed"]


def test_the_third_lost_lease_ends_the_trial(take: Callable[[], Claim]) -> None:
    make_run(1)
    for attempt in (1, 2, 3):
        claim = take()
        assert claim.attempt == attempt
        silence(claim.trial_id)
    assert lifecycle.claim(1) == []
    trial = Trial.objects.get()
    assert (trial.status, trial.outcome, trial.error_kind) == ("error", "infra_error", "lease_lost")
    assert trial.ended_at is not None
    assert trial.lease is None
    assert kinds(trial.pk) == ["attempt.failed"] * 3 + ["trial.finished"]
    assert sequence(trial.pk) == [1, 2, 3, 4]


def test_a_trial_whose_lane_died_while_scoring_is_scored_again_without_a_call(take: Callable[[], Claim]) -> None:
    make_run(1)
    claim = take()
    assert lifecycle.begin_scoring(claim, [event(1)])
    silence(claim.trial_id)
    again = take()
    assert again.only_scoring
    assert "attempt.failed" not in kinds(claim.trial_id)
    assert lifecycle.finish(again, decision(), [], lifecycle.TrialFacts())


def test_a_cancelled_trial_whose_lane_died_is_cancelled_not_tried_again(take: Callable[[], Claim]) -> None:
    run = make_run(1)
    claim = take()
    lifecycle.request_cancel(run, None)
    silence(claim.trial_id)
    assert lifecycle.claim(1) == []
    assert Trial.objects.get().outcome == "cancelled"


def test_release_does_not_count_the_attempt(take: Callable[[], Claim]) -> None:
    make_run(1)
    for _ in range(lifecycle.MAX_ATTEMPTS + 2):
        claim = take()
        assert claim.attempt == 1
        assert lifecycle.release(claim)
    assert Trial.objects.get().status == "queued"


def test_release_while_scoring_keeps_the_call(take: Callable[[], Claim]) -> None:
    make_run(1)
    claim = take()
    lifecycle.begin_scoring(claim)
    assert lifecycle.release(claim)
    assert take().only_scoring


def test_a_lost_lease_can_do_nothing(take: Callable[[], Claim]) -> None:
    make_run(1)
    dead = take()
    silence(dead.trial_id)
    owner = take()
    assert not lifecycle.is_held(dead)
    assert not lifecycle.begin_scoring(dead, [event(1)])
    assert not lifecycle.finish(dead, decision(), [], lifecycle.TrialFacts())
    assert not lifecycle.fail_attempt(dead, "x", "y")
    assert not lifecycle.cancel_trial(dead)
    assert not lifecycle.release(dead)
    assert lifecycle.is_held(owner)
    assert kinds(owner.trial_id) == ["attempt.failed"]


def test_pending_counts_what_a_lane_could_do() -> None:
    run = make_run(3)
    assert lifecycle.pending() == 3
    claims = lifecycle.claim(2)
    assert lifecycle.pending() == 1
    silence(claims[0].trial_id, seconds=10)
    assert lifecycle.pending() == 2
    lifecycle.pause(run)
    assert lifecycle.pending() == 1
    lifecycle.begin_scoring(claims[1])
    lifecycle.release(claims[1])
    assert lifecycle.pending() == 2


@pytest.mark.django_db(transaction=True)
def test_lanes_that_claim_at_once_share_the_trials() -> None:
    make_run(40, config={"limits": Limits(concurrency=30)})
    found: list[Any] = []
    start = threading.Barrier(4)

    def claim() -> None:
        start.wait()
        try:
            for _ in range(4):
                found.extend(lifecycle.claim(5))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=claim) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({claim.trial_id for claim in found}) == len(found) == 30
    connection.ensure_connection()
