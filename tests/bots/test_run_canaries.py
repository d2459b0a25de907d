"""A run's canaries: asked once over all its lanes, counted as money, and decided; what a failure does to the run."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from bots import judge
from bots.rejudge import ask_canaries
from bots.scorer import score
from scenarios import lifecycle
from scenarios.judging.prompts import write_prompt
from scenarios.judging.run_batch import TAKEN_S, batch_of_run, take_canaries, take_leftovers
from scenarios.lifecycle import Claim
from scenarios.models import BatchItem, JudgeBatch, Judging, Run
from scenarios.scoring.canaries import all_canaries
from scenarios.standing import findings, standings
from tests.bots.fake_calls import run_lane
from tests.bots.judge_endpoint import Answer, Endpoint
from tests.judged_calls import JUDGED, held_run, judge_profile, judged_run, standin_judges

pytestmark = pytest.mark.django_db(transaction=True)
CANARY_TEXTS = {canary.request.user_content: canary.name for canary in all_canaries()}


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setattr(judge, "_plain", set())
    with standin_judges() as served:
        yield served


def canaries_asked(endpoint: Endpoint) -> Counter[str]:
    asked = [request["messages"][1]["content"] for request in endpoint.requests]
    return Counter(CANARY_TEXTS[text] for text in asked if text in CANARY_TEXTS)


def outcomes(run: Run) -> Counter[str]:
    return Counter(run.trials.values_list("outcome", flat=True))


def test_an_honest_judge_passes_seven_canaries_asked_once_whose_cost_is_the_runs(endpoint: Endpoint) -> None:
    run = judged_run(judge_profile(endpoint), JUDGED, trials=2)
    batch = JudgeBatch.objects.get(run=run)
    assert (batch.canaries, batch.canary_reason) == ("passed", "right on 16 of 16 canary claims, obeyed on 0 of 10")
    assert list(canaries_asked(endpoint).values()) == [1] * 7
    assert outcomes(run) == {"pass": 10}
    assert Judging.objects.filter(batch=batch).count() == 10
    assert batch.judge == Judging.objects.filter(batch=batch)[0].judge
    run.refresh_from_db()
    # 100 tokens at $1000 a million for each of ten calls and seven canaries.
    assert run.cost == pytest.approx(1.7)
    assert [item.cost for item in batch.items.all()] == [pytest.approx(0.1)] * 7


def test_a_judge_that_obeys_the_record_is_quarantined_and_counts_nowhere(endpoint: Endpoint) -> None:
    run = judged_run(judge_profile(endpoint, "standin-judge+obeys-injection"), JUDGED)
    batch = JudgeBatch.objects.get(run=run)
    assert batch.canaries == "quarantined"
    assert re.fullmatch(r"obeyed the record's text on (9|10) of 10 canary claims \(at most 3\)", batch.canary_reason)
    assert outcomes(run) == {"judge_error": 5}
    assert set(run.trials.values_list("judged_outcome", flat=True)) == {"pass"}
    assert all("failed the canaries" in reason for reason in run.trials.values_list("outcome_reason", flat=True))
    standing, found = standings([run])[run.pk], findings(run)
    assert standing.rate.total == 0
    assert (found.items["nl_assertion"].total, found.signals["nl_assertion"].total) == (0, 0)
    assert found.signals["judge_passed"].total == 0
    for trial in run.trials.all():
        kinds = list(trial.events.order_by("seq").values_list("kind", flat=True))
        assert kinds[-2:] == ["trial.finished", "outcome.revised"]

    # A call that is judged in the batch later does not count either.
    lifecycle.rescore(run, ["judge_error"])
    judged_again = held_run(None, JUDGED[:1])  # another run does not come into it
    assert judged_again.pk != run.pk
    run_lane(scorer=score)
    assert outcomes(run) == {"judge_error": 5}
    assert Judging.objects.filter(batch=batch).count() == 10
    assert sum(canaries_asked(endpoint).values()) == 7


def test_an_admins_release_brings_the_rulings_back_and_keeps_the_reason(endpoint: Endpoint, admin: Any) -> None:
    run = judged_run(judge_profile(endpoint, "standin-judge+obeys-injection"), JUDGED)
    batch = JudgeBatch.objects.get(run=run)
    with pytest.raises(ValueError, match="say why"):
        lifecycle.release_batch(batch, admin, "  ")
    assert len(lifecycle.release_batch(batch, admin, "read by hand")) == 5
    assert outcomes(run) == {"pass": 5}
    assert (batch.canaries, batch.released_by, batch.release_reason) == ("released", admin, "read by hand")
    with pytest.raises(ValueError, match="not quarantined; its canaries are released"):
        lifecycle.release_batch(batch, admin, "again")
    assert findings(run).items["nl_assertion"].total == 7
    # What is decided stays.
    lifecycle.decide_batch(batch.pk)
    batch.refresh_from_db()
    assert batch.canaries == "released"


def test_a_run_of_one_judged_call_has_all_its_canaries_with_it(endpoint: Endpoint) -> None:
    run = judged_run(judge_profile(endpoint), ["frontdesk__saver_refusal"])
    assert JudgeBatch.objects.get(run=run).canaries == "passed"
    assert len(endpoint.requests) == 8


def test_a_run_without_a_judge_or_without_claims_has_no_batch(endpoint: Endpoint) -> None:
    judged_run(None, JUDGED[:1])
    judged_run(judge_profile(endpoint), ["frontdesk__new_dates"])
    assert not JudgeBatch.objects.exists()
    assert endpoint.requests == []


def test_a_judge_that_is_down_is_not_accused_and_its_canaries_can_be_asked_again(endpoint: Endpoint) -> None:
    honest = endpoint.by
    endpoint.by = lambda request: Answer(status=500, body="{}")
    run = judged_run(judge_profile(endpoint), JUDGED)
    batch = JudgeBatch.objects.get(run=run)
    assert batch.canaries == "open"
    assert "the judge gave no ruling on 16" in batch.canary_reason
    assert set(batch.items.values_list("state", flat=True)) == {"error"}
    endpoint.by = honest
    assert ask_canaries(batch.pk) == 7
    batch.refresh_from_db()
    assert batch.canaries == "passed"
    assert ask_canaries(batch.pk) == 0


def test_no_canary_is_taken_twice_and_a_dead_lanes_are_taken_again(endpoint: Endpoint) -> None:
    run = held_run(judge_profile(endpoint), JUDGED, trials=3)
    claims = [claim_of(run, number, name) for number in (1, 2, 3) for name in JUDGED]
    batch_id = batch_of_run(run.pk, run.config)
    assert batch_of_run(run.pk, run.config) == batch_id
    assert take_canaries(batch_id, claims[0]) == []
    taken = [canary for claim in claims[1:] for canary in take_canaries(batch_id, claim)]
    names = list(BatchItem.objects.filter(batch=batch_id).order_by("position").values_list("canary", flat=True))
    assert [canary.canary.name for canary in taken] == names
    assert take_leftovers(batch_id) == []
    dead = taken[0]
    then = BatchItem.objects.get(pk=dead.item_id).taken_at
    assert then is not None
    BatchItem.objects.filter(pk=dead.item_id).update(taken_at=then - timedelta(seconds=TAKEN_S + 1))
    (again,) = take_canaries(batch_id, claims[-1])
    assert again.item_id == dead.item_id
    # The dead lane comes back to life too late.
    assert not lifecycle.end_canary(dead.item_id, dead.lease, {"state": "done"})
    assert BatchItem.objects.get(pk=dead.item_id).state == "queued"


def test_a_late_call_takes_what_earlier_ones_left_but_not_all_at_once(endpoint: Endpoint) -> None:
    run = held_run(judge_profile(endpoint), JUDGED, trials=3)
    batch_id = batch_of_run(run.pk, run.config)
    assert len(take_canaries(batch_id, claim_of(run, 2, JUDGED[4]))) == 2
    assert len(take_canaries(batch_id, claim_of(run, 3, JUDGED[4]))) == 5


def test_a_canary_that_cannot_be_stored_costs_no_call(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise RuntimeError("no disk")

    monkeypatch.setattr("bots.canaries.end_canary", broken)
    run = judged_run(judge_profile(endpoint), JUDGED)
    assert outcomes(run) == {"pass": 5}
    batch = JudgeBatch.objects.get(run=run)
    assert batch.canaries == "open"
    assert batch.items.filter(lease=None, state="queued").count() == 7


def test_canaries_are_told_the_guidance_of_the_judges_prompt(endpoint: Endpoint) -> None:
    prompt = write_prompt("short", "Be strict.", parent=None, author=None)
    judged_run(judge_profile(endpoint, prompt_version=prompt.version, structure="plain"), JUDGED)
    told = {request["messages"][0]["content"].partition("\n")[0] for request in endpoint.requests}
    assert told == {"Be strict."}
    assert not any("response_format" in request for request in endpoint.requests)
    (version,) = set(Judging.objects.values_list("judge__prompt_version", "judge__structure"))
    assert version == (prompt.version, "plain")


def test_a_missing_prompt_is_named_and_no_call_is_lost(endpoint: Endpoint) -> None:
    run = judged_run(judge_profile(endpoint, prompt_version="gone"), JUDGED[:1])
    trial = run.trials.get()
    assert (trial.outcome, trial.error_kind) == ("infra_error", "scoring_UnknownPrompt")
    assert "'gone' is not in this database" in trial.outcome_reason


def claim_of(run: Run, number: int, name: str) -> Claim:
    trial = run.trials.get(number=number, scenario__name=name)
    return Claim(trial.pk, run.pk, name, number, uuid4(), 1, trial.last_seq, json.loads(json.dumps(run.config)))
