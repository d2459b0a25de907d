"""What people ask for, also twice and at once."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from scenarios import lifecycle, models
from scenarios.launch import Limits
from scenarios.lifecycle import Claim, TrialFacts
from scenarios.models import Run, Trial
from scenarios.scoring.results import SignalResult
from tests.factories import make_run
from tests.scenarios.lifecycle.conftest import decision, event, kinds, sequence

pytestmark = pytest.mark.django_db


def outcomes(run: Run) -> list[str]:
    return list(run.trials.order_by("position").values_list("outcome", flat=True))


def test_cancel_withdraws_the_queued_and_asks_the_running(operator: User, take: Callable[[], Claim]) -> None:
    run = make_run(3)
    claim = take()
    assert lifecycle.request_cancel(run, operator) == 3
    assert outcomes(run) == ["", "cancelled", "cancelled"]
    assert run.cancelled_by == operator
    assert lifecycle.look([claim]).cancelled == {claim.trial_id}
    assert kinds(run.trials.get(position=1).pk) == ["trial.finished"]


def test_two_people_cancelling_is_one_cancel(operator: User, admin: User) -> None:
    run = make_run(2)
    assert lifecycle.request_cancel(run, operator) == 2
    asked = run.cancel_requested_at
    assert lifecycle.request_cancel(run, admin) == 0
    assert (run.cancelled_by, run.cancel_requested_at) == (operator, asked)
    assert kinds(run.trials.all()[0].pk) == ["trial.finished"]


def test_cancel_leaves_what_has_ended(operator: User) -> None:
    run = make_run(3, outcomes=["pass", "fail", "queued"])
    assert lifecycle.request_cancel(run, operator) == 1
    assert outcomes(run) == ["pass", "fail", "cancelled"]


def test_one_trial_can_be_cancelled(take: Callable[[], Claim]) -> None:
    run = make_run(2)
    claim = take()
    first, second = run.trials.order_by("position")
    assert lifecycle.request_trial_cancel(first)
    assert lifecycle.request_trial_cancel(second)
    assert lifecycle.look([claim]).cancelled == {first.pk}
    assert outcomes(run) == ["", "cancelled"]
    lifecycle.cancel_trial(claim)
    assert not lifecycle.request_trial_cancel(first)


def test_hang_up_needs_somebody_who_speaks(operator: User, admin: User, take: Callable[[], Claim]) -> None:
    run = make_run(2)
    claim = take()
    running, queued = run.trials.order_by("position")
    assert not lifecycle.request_hang_up(queued, operator)
    assert lifecycle.request_hang_up(running, operator)
    assert lifecycle.request_hang_up(running, admin)
    running.refresh_from_db()
    assert running.hang_up_by == operator
    lifecycle.begin_scoring(claim)
    assert not lifecycle.request_hang_up(running, operator)


def test_pause_and_resume() -> None:
    run = make_run(2)
    lifecycle.pause(run)
    since = run.paused_at
    lifecycle.pause(run)
    assert run.paused_at == since
    assert lifecycle.claim(2) == []
    lifecycle.resume(run)
    assert len(lifecycle.claim(2)) == 2


def test_a_running_call_outlives_a_pause(take: Callable[[], Claim]) -> None:
    run = make_run(1)
    claim = take()
    lifecycle.pause(run)
    report = lifecycle.flush({claim: [event(1)]})
    assert not report.lost
    assert not report.cancelled


def test_rerun_queues_what_was_not_scored_and_goes_on_in_the_record(take: Callable[[], Claim]) -> None:
    run = make_run(1)
    lifecycle.fail_attempt(take(), "no_key", "not set", retry=False, events=[event(1)])
    assert lifecycle.rerun(run, ["infra_error", "cancelled"]) == 1
    trial = run.trials.get()
    assert (trial.status, trial.outcome, trial.error_kind, trial.ended_at) == ("queued", "", "", None)
    assert trial.other_outcome == ""
    claim = take()
    assert (claim.attempt, claim.last_seq) == (1, 2)
    lifecycle.flush({claim: [event(3)]})
    assert sequence(trial.pk) == [1, 2, 3]


def test_rerun_opens_a_cancelled_run_again(operator: User) -> None:
    run = make_run(2)
    lifecycle.request_cancel(run, operator)
    assert lifecycle.rerun(run, ["cancelled"]) == 2
    assert run.cancel_requested_at is None
    assert len(lifecycle.claim(5)) == 2


def test_a_stalled_trial_can_be_held_again_and_keeps_its_record() -> None:
    run = make_run(3, outcomes=["pass", "fail", "stalled"])
    assert lifecycle.rerun(run, ["stalled"]) == 1
    assert sorted(outcomes(run)) == ["", "fail", "pass"]


@pytest.mark.parametrize("outcome", ["pass", "fail"])
def test_scored_trials_are_not_tried_until_they_pass(outcome: str) -> None:
    run = make_run(1, outcomes=[outcome])
    with pytest.raises(ValueError, match=f"{outcome}.*launch a new run"):
        lifecycle.rerun(run, ["infra_error", outcome])
    assert outcomes(run) == [outcome]


@pytest.mark.parametrize("verb", [lifecycle.rerun, lifecycle.rescore])
def test_unknown_outcomes_are_named(verb: Any) -> None:
    with pytest.raises(ValueError, match="unknown outcome 'failed'; known: pass, fail"):
        verb(make_run(1), ["failed"])


def test_rerun_of_a_run_that_spent_its_cap_is_refused() -> None:
    run = make_run(1, outcomes=["over_budget"], cost=2.0)
    run.config["limits"] = Limits(max_cost=1).model_dump()
    run.save()
    with pytest.raises(ValueError, match="spent its cap"):
        lifecycle.rerun(run, ["over_budget"])


def test_rescore_lets_a_lane_score_the_record_again(take: Callable[[], Claim]) -> None:
    run = make_run(1)
    claim = take()
    lifecycle.begin_scoring(claim, [event(1)])
    signal = SignalResult("clean_exit", True, True, True)
    lifecycle.finish(claim, decision("judge_error"), [signal], TrialFacts())
    assert lifecycle.rescore(run) == 1
    again = take()
    assert again.only_scoring
    assert lifecycle.finish(again, decision("pass"), [signal], TrialFacts(), events=[event(3)])
    assert run.trials.get().outcome == "pass"
    assert sorted(models.SignalResult.objects.values_list("scoring", flat=True)) == [1, 2]
    assert sequence(claim.trial_id) == [1, 2, 3, 4]


def test_rescore_works_in_a_cancelled_run(operator: User, take: Callable[[], Claim]) -> None:
    run = make_run(2, outcomes=["judge_error", "queued"])
    lifecycle.request_cancel(run, operator)
    assert lifecycle.rescore(run) == 1
    assert take().only_scoring
    assert run.trials.get(outcome="cancelled").status == Trial.Status.CANCELLED
