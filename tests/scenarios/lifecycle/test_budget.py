"""What calls cost, and the halt of a run that has spent its cap."""

from typing import Any

import pytest

from scenarios import lifecycle
from scenarios.launch import FrozenProfile, Limits
from scenarios.lifecycle import Claim, JudgeWork, TrialFacts
from scenarios.models import Run, Trial
from tests.factories import make_run
from tests.scenarios.lifecycle.conftest import decision, event, kinds, silence

pytestmark = pytest.mark.django_db


def profile(kind: Any, prompt: float | None, completion: float | None, **fields: Any) -> FrozenProfile:
    return FrozenProfile(slug=kind, kind=kind, model="m", prompt_price=prompt, completion_price=completion, **fields)


def priced_run(count: int, max_cost: float | None = None) -> Run:
    config: dict[str, Any] = {
        "agent": profile("agent", 10, 20),
        "caller": profile("caller", 1, 2),
        "judge": profile("judge", 100, 200),
        "limits": Limits(max_cost=max_cost),
    }
    return make_run(count, config=config, cost=0.0)


def spend(claim: Claim, side: str, prompt: int, completion: int) -> None:
    usage = {"side": side, "prompt_tokens": prompt, "completion_tokens": completion}
    lifecycle.flush({claim: [event(claim.last_seq + 1, "usage.reported", side, usage)]})


def end(claim: Claim, judged: JudgeWork | None = None) -> None:
    lifecycle.begin_scoring(claim)
    assert lifecycle.finish(claim, decision("pass"), [], TrialFacts(), judged=judged)


def test_cost_is_tokens_times_price_per_million() -> None:
    priced = {"is_standin": False, "prompt_price": 2.0, "completion_price": 8.0}
    assert lifecycle.cost_of(priced, [(1_000_000, 0), (0, 500_000)]) == pytest.approx(6.0)


def test_an_unknown_price_is_not_free_but_a_stand_in_is() -> None:
    assert lifecycle.cost_of({"is_standin": False, "prompt_price": 2.0, "completion_price": None}, [(1, 1)]) is None
    assert lifecycle.cost_of({"is_standin": True, "prompt_price": None, "completion_price": None}, [(1, 1)]) == 0


def test_a_trial_costs_what_all_three_parties_used() -> None:
    run = priced_run(2)
    one, two = lifecycle.claim(2)
    spend(one, "agent", 100_000, 50_000)  # 1 + 1
    judging = {"system_prompt": "", "user_content": "", "prompt_tokens": 10_000, "completion_tokens": 5_000}  # 1 + 1
    version = {"fingerprint": "j", "profile": "judge", "model": "m", "prompt_version": "1"}
    end(one, JudgeWork(version, judging))
    spend(two, "user", 1_000_000, 0)  # 1
    end(two)
    costs = list(run.trials.order_by("position").values_list("cost", flat=True))
    assert costs == [pytest.approx(4.0), pytest.approx(1.0)]
    run.refresh_from_db()
    assert run.cost == pytest.approx(5.0)


def test_attempts_that_failed_cost_money_too() -> None:
    run = priced_run(1)
    (claim,) = lifecycle.claim(1)
    spend(claim, "agent", 100_000, 0)
    lifecycle.fail_attempt(claim, "llm_http_500", "broken")
    (claim,) = lifecycle.claim(1)
    spend(claim, "agent", 200_000, 0)
    silence(claim.trial_id)
    (claim,) = lifecycle.claim(1)
    run.refresh_from_db()
    assert run.cost == pytest.approx(3.0)
    end(claim)
    assert run.trials.get().cost == pytest.approx(3.0)


def test_reaching_the_cap_withdraws_the_queued_and_keeps_the_results() -> None:
    run = priced_run(4, max_cost=1.5)
    one, two = lifecycle.claim(2)
    spend(one, "agent", 100_000, 0)
    end(one)
    assert run.trials.filter(status="queued").count() == 2
    spend(two, "agent", 100_000, 0)
    end(two)
    assert list(run.trials.order_by("position").values_list("outcome", flat=True)) == [
        "pass",
        "pass",
        "over_budget",
        "over_budget",
    ]
    withdrawn = run.trials.filter(outcome="over_budget")[0]
    assert (withdrawn.status, withdrawn.outcome_reason) == (
        "cancelled",
        "the run has spent $2.00 of its cap of $1.50",
    )
    assert kinds(withdrawn.pk) == ["trial.finished"]


def test_a_failed_attempt_over_the_cap_is_not_tried_again() -> None:
    run = priced_run(1, max_cost=1)
    (claim,) = lifecycle.claim(1)
    spend(claim, "agent", 100_000, 0)
    lifecycle.fail_attempt(claim, "llm_http_500", "broken")
    assert run.trials.get().outcome == "over_budget"


def test_without_prices_nothing_is_counted() -> None:
    run = make_run(1)
    (claim,) = lifecycle.claim(1)
    spend(claim, "agent", 100_000, 0)
    end(claim)
    run.refresh_from_db()
    assert (run.cost, Trial.objects.get().cost) == (None, None)
