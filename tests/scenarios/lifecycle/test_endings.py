"""The ends of a held trial: all or nothing, once."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.db import IntegrityError

from scenarios import lifecycle, models
from scenarios.lifecycle import Claim, JudgeWork, TrialFacts
from scenarios.models import JudgeVersion, Judging, Trial, Verdict
from scenarios.scoring.results import Quote, SignalResult, VerdictResult
from tests.factories import make_run
from tests.scenarios.lifecycle.conftest import decision, event, kinds, sequence

pytestmark = pytest.mark.django_db
FACTS = TrialFacts(end_reason="end_tool", duration_ms=61_000, turn_count=9, response_p50_ms=12.5, prompt_tokens=100)


@pytest.fixture
def scoring(take: Callable[[], Claim]) -> Claim:
    """Return the claim of a trial that is being scored; event 1 is stored."""
    make_run(1)
    claim = take()
    assert lifecycle.begin_scoring(claim, [event(1)])
    return claim


def claims_result(**fields: Any) -> SignalResult:
    verdict = VerdictResult("nl_assertion", 1, "says the price", True, "it did", (Quote("ten", 3, 1, True),))
    return SignalResult("nl_assertion", True, True, 1.0, {"total": 1}, (replace(verdict, **fields),))


def judge_work() -> JudgeWork:
    version = {"fingerprint": "j" * 64, "profile": "strict", "model": "m", "prompt_version": "1"}
    columns = {"system_prompt": "s", "user_content": "u", "reply": "r", "prompt_tokens": 7, "completion_tokens": 3}
    return JudgeWork(version, columns, {1: "v" * 64})


def test_finish_stores_everything(scoring: Claim) -> None:
    buckets = {"passed": ["nl_assertion"], "failed": [], "not_applicable": [], "excluded": ["is_action_match"]}
    results = [
        claims_result(),
        SignalResult("is_action_match", True, False, False),
        SignalResult("judge_passed", False, None, None),
    ]
    verdict = decision("pass", success_breakdown=buckets, by_inaction=True)
    assert lifecycle.finish(scoring, verdict, results, FACTS, judged=judge_work(), events=[event(2)])
    trial = Trial.objects.get()
    assert (trial.status, trial.outcome, trial.outcome_reason) == ("done", "pass", "it is pass")
    assert (trial.end_reason, trial.duration_ms, trial.turn_count, trial.response_p50_ms) == (
        "end_tool",
        61_000,
        9,
        12.5,
    )
    assert trial.by_inaction
    assert trial.breakdown == buckets
    assert (trial.lease, trial.heartbeat_at) == (None, None)
    rows = {row.signal: (row.state, row.is_gating, row.scoring) for row in models.SignalResult.objects.all()}
    assert rows == {
        "nl_assertion": ("passed", True, 1),
        "is_action_match": ("excluded", False, 1),
        "judge_passed": ("not_applicable", False, 1),
    }
    ruling = Verdict.objects.get()
    assert (ruling.claim, ruling.passed, ruling.fingerprint) == ("says the price", True, "v" * 64)
    assert ruling.evidence == [{"text": "ten", "turn": 3, "seq": 1, "found": True}]
    assert ruling.judge == JudgeVersion.objects.get() == Judging.objects.get().judge
    assert kinds(trial.pk) == ["note", "note", "trial.finished"]
    assert sequence(trial.pk) == [1, 2, 3]


def test_the_outcome_by_the_other_strictness_and_what_it_rests_on_are_stored(scoring: Claim) -> None:
    checks = (
        VerdictResult("communicate", 1, "The agent says '4'.", False, "no turn of the agent contains it"),
        VerdictResult("action", 1, "transfer is called", True, "call 7", (Quote("transfer", seq=70, found=True),)),
    )
    verdict = decision("pass", other_outcome="fail", upstream_checks=checks)
    assert lifecycle.finish(scoring, verdict, [claims_result()], FACTS, judged=judge_work())
    trial = Trial.objects.get()
    assert (trial.outcome, trial.other_outcome) == ("pass", "fail")
    stored = {row.signal: (row.passed, row.judge, row.fingerprint) for row in trial.verdicts.exclude(judge=None)}
    assert set(stored) == {"nl_assertion"}
    assert {row.signal: len(row.evidence) for row in trial.verdicts.filter(judge=None)} == {
        "communicate": 0,
        "action": 1,
    }


@pytest.mark.parametrize("outcome", ["pass", "tainted"])
def test_without_a_second_figure_both_are_the_same(scoring: Claim, outcome: Any) -> None:
    lifecycle.finish(scoring, decision(outcome), [], FACTS)
    assert Trial.objects.get().other_outcome == outcome


def test_finishing_twice_is_finishing_once(scoring: Claim) -> None:
    assert lifecycle.finish(scoring, decision("pass"), [claims_result()], FACTS)
    assert not lifecycle.finish(scoring, decision("fail"), [claims_result()], FACTS)
    assert Trial.objects.get().outcome == "pass"
    assert Verdict.objects.count() == 1
    assert kinds(scoring.trial_id).count("trial.finished") == 1


def test_a_finish_that_breaks_halfway_leaves_nothing(scoring: Claim) -> None:
    twice = [claims_result(), claims_result()]  # the same signal twice breaks a constraint
    with pytest.raises(IntegrityError):
        lifecycle.finish(scoring, decision("pass"), twice, FACTS, events=[event(2)])
    trial = Trial.objects.get()
    assert (trial.status, trial.outcome, trial.lease) == ("scoring", "", scoring.lease)
    assert sequence(trial.pk) == [1]
    assert lifecycle.finish(scoring, decision("pass"), [claims_result()], FACTS, events=[event(2)])


def test_a_trial_that_is_not_being_scored_cannot_finish(take: Callable[[], Claim]) -> None:
    make_run(1)
    assert not lifecycle.finish(take(), decision(), [], FACTS)


@pytest.mark.parametrize(("outcome", "status"), [("fail", "done"), ("tainted", "done"), ("infra_error", "error")])
def test_the_status_follows_the_outcome(scoring: Claim, outcome: Any, status: str) -> None:
    lifecycle.finish(scoring, decision(outcome), [], FACTS)
    assert Trial.objects.get().status == status


def test_text_that_a_database_refuses_is_stored_readably(scoring: Claim) -> None:
    result = claims_result(reason="a\x00b", evidence=(Quote("\ud800x", 1),), detail={"actual": float("nan")})
    work = judge_work()
    work = JudgeWork(work.version, {**work.columns, "reply": "nul\x00"}, {})
    lifecycle.finish(scoring, decision("pass", reason="\x00"), [result], FACTS, judged=work)
    ruling = Verdict.objects.get()
    assert (ruling.reason, ruling.evidence[0]["text"], ruling.detail) == ("a\ufffdb", "\ufffdx", {"actual": "nan"})
    assert Judging.objects.get().reply == "nul\ufffd"


def test_a_failed_attempt_goes_back_to_the_queue(take: Callable[[], Claim]) -> None:
    make_run(1)
    claim = take()
    assert lifecycle.fail_attempt(claim, "llm_http_429", "slow down", events=[event(1)])
    trial = Trial.objects.get()
    assert (trial.status, trial.outcome, trial.error_kind, trial.ended_at) == ("queued", "", "llm_http_429", None)
    assert take().attempt == 2


def test_the_last_failed_attempt_ends_the_trial(take: Callable[[], Claim]) -> None:
    make_run(1)
    for _ in range(lifecycle.MAX_ATTEMPTS):
        lifecycle.fail_attempt(take(), "llm_http_500", "broken")
    trial = Trial.objects.get()
    assert (trial.status, trial.outcome) == ("error", "infra_error")
    assert trial.other_outcome == "infra_error"
    assert trial.outcome_reason == "llm_http_500: broken"
    assert lifecycle.claim(1) == []


def test_what_cannot_succeed_is_not_tried_again(take: Callable[[], Claim]) -> None:
    make_run(1)
    lifecycle.fail_attempt(take(), "no_key", "TOY_KEY is not set", retry=False)
    assert Trial.objects.get().outcome == "infra_error"


def test_an_empty_error_text_is_a_failure_all_the_same(take: Callable[[], Claim]) -> None:
    make_run(1)
    lifecycle.fail_attempt(take(), "crash", "")
    assert Trial.objects.get().status == "queued"


def test_a_failure_after_a_cancel_starts_nothing_again(take: Callable[[], Claim]) -> None:
    run = make_run(1)
    claim = take()
    lifecycle.request_cancel(run, None)
    lifecycle.fail_attempt(claim, "llm_http_500", "broken")
    assert Trial.objects.get().outcome == "cancelled"


def test_cancelling_ends_the_trial_once(take: Callable[[], Claim]) -> None:
    make_run(1)
    claim = take()
    assert lifecycle.cancel_trial(claim, events=[event(1)])
    assert not lifecycle.cancel_trial(claim)
    trial = Trial.objects.get()
    assert (trial.status, trial.outcome) == ("cancelled", "cancelled")
    assert kinds(trial.pk) == ["note", "trial.finished"]
