"""Judging again: a dry run, what would flip, saving, stopping, and a worker that dies in the middle."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from bots import judge, rejudge
from bots.rejudge import run_batch
from scenarios import lifecycle
from scenarios.judging import work
from scenarios.judging.choice import Choice, make_batch, request_save, request_stop
from scenarios.judging.results import progress, result
from scenarios.judging.staleness import stale_share
from scenarios.models import BatchItem, JudgeBatch, Judging, Review, Run, Trial, Verdict
from tests.bots.judge_endpoint import Answer, Endpoint
from tests.judged_calls import JUDGED, judge_profile, judged_run, standin_judges

pytestmark = pytest.mark.django_db(transaction=True)
REJUDGE, SELF = JudgeBatch.Kind.REJUDGE, JudgeBatch.Kind.SELF
CONTRARY = "standin-judge+contrary"


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setattr(judge, "_plain", set())
    with standin_judges() as served:
        yield served


@pytest.fixture
def run(endpoint: Endpoint) -> Run:
    """Five calls that passed, all judged honestly."""
    made = judged_run(judge_profile(endpoint), JUDGED)
    endpoint.requests.clear()
    return made


def batch_of(
    run: Run, endpoint: Endpoint, model: str = CONTRARY, kind: JudgeBatch.Kind = REJUDGE, **choice: Any
) -> Any:
    profile = judge_profile(endpoint, model, slug="other")
    return make_batch(kind, Choice.read({"runs": [run.pk], **choice}), profile, None)


def judged(batch: JudgeBatch) -> JudgeBatch:
    run_batch(batch.pk)
    batch.refresh_from_db()
    return batch


def outcomes(run: Run) -> Counter[str]:
    return Counter(run.trials.values_list("outcome", flat=True))


def stored(run: Run) -> tuple[int, int, int]:
    of_run = {"trial__run": run}
    return (
        Judging.objects.filter(**of_run).count(),
        Verdict.objects.filter(**of_run).count(),
        Review.objects.filter(verdict__trial__run=run).count(),
    )


def test_a_dry_run_lists_what_would_flip_and_saves_nothing(run: Run, endpoint: Endpoint) -> None:
    before = stored(run), outcomes(run)
    batch = judged(batch_of(run, endpoint))
    assert (batch.state, batch.canaries, batch.lease) == ("done", "passed", None)
    assert (stored(run), outcomes(run)) == before
    so_far, found = progress(batch), result(batch)
    assert (so_far.total, so_far.done, so_far.flips, so_far.canaries_asked) == (12, 12, 5, 7)
    assert so_far.cost == pytest.approx(1.2)
    assert len(found.changed) == 5
    assert {(row.was, row.passed, row.number) for row in found.changed} == {(True, False, 1)}
    assert all("other way round" in row.reason and row.was_reason for row in found.changed)
    assert (found.agreement.count, found.agreement.of, found.is_same_judge) == (2, 7, False)
    assert (found.claims_before.count, found.claims_after.count) == (7, 2)
    # The fifth call is gated by the judge's score, which the contrary judge leaves as it is.
    assert (found.calls_before.count, found.calls_after.count, found.calls_after.of) == (5, 1, 5)
    assert found.outcomes == [("pass", "fail", 4)]
    assert len(endpoint.requests) == 12


def test_canaries_stand_between_the_calls(run: Run, endpoint: Endpoint) -> None:
    batch = batch_of(run, endpoint)
    kinds = [bool(item.canary) for item in batch.items.order_by("position")]
    assert sum(kinds) == 7
    assert not all(kinds[:7])
    assert not all(kinds[-7:])
    assert [item.position for item in batch.items.all()] == list(range(1, 13))


def test_saving_adds_a_scoring_and_keeps_the_old_one(run: Run, endpoint: Endpoint) -> None:
    batch = judged(batch_of(run, endpoint))
    request_save(batch, None)
    with pytest.raises(ValueError, match="saved already"):
        request_save(batch, None)
    judged(batch)
    assert batch.saved_at is not None
    assert outcomes(run) == {"fail": 4, "pass": 1}
    for trial in run.trials.filter(outcome="fail"):
        first = trial.verdicts.filter(signal="nl_assertion", index=1)
        assert sorted(first.values_list("scoring", "passed")) == [(1, True), (2, False)]
        assert trial.judgings.first().batch == batch  # type: ignore[union-attr]
        assert {signal.scoring for signal in trial.signals.all()} == {1, 2}
        notes = trial.events.filter(kind="note").order_by("-seq")
        assert notes[0].data["text"] == f"Judged again by other (batch {batch.pk}), saved by the command line."
        assert trial.events.get(kind="outcome.revised").data["before"] == "pass"
        numbers = list(trial.events.order_by("seq").values_list("seq", flat=True))
        assert numbers == list(range(1, trial.last_seq + 1))
    # What judging again cost is the batch's, not the run's.
    run.refresh_from_db()
    assert run.cost == pytest.approx(1.2)
    # Saving again, or half of it, adds nothing.
    item = batch.items.filter(canary="").first()
    assert item is not None
    assert "stored already" in work.save_item(item, "again")


def test_peoples_rulings_hold_for_the_new_scoring_too(run: Run, endpoint: Endpoint) -> None:
    trial = run.trials.get(scenario__name=JUDGED[0])
    Review.objects.create(verdict=trial.verdicts.get(), rater="ann", stage="blind", ruling="pass")
    batch = judged(batch_of(run, endpoint))
    request_save(batch, None)
    judged(batch)
    trial.refresh_from_db()
    assert (trial.outcome, trial.judged_outcome, trial.overruled_count) == ("pass", "fail", 1)


def test_a_quarantined_batch_cannot_be_saved(run: Run, endpoint: Endpoint) -> None:
    batch = judged(batch_of(run, endpoint, "standin-judge+obeys-injection"))
    assert batch.canaries == "quarantined"
    with pytest.raises(ValueError, match="its canaries are quarantined: obeyed the record's text"):
        request_save(batch, None)
    lifecycle.release_batch(batch, None, "known, and wanted for a comparison")
    request_save(batch, None)
    judged(batch)
    assert outcomes(run) == {"pass": 5}
    assert Judging.objects.filter(batch=batch).count() == 5


def test_stop_leaves_the_rest_unasked(run: Run, endpoint: Endpoint) -> None:
    batch = batch_of(run, endpoint)
    assert request_stop(batch)
    judged(batch)
    assert (batch.state, batch.message) == ("stopped", "stopped by a person")
    assert endpoint.requests == []
    assert not request_stop(batch)


def test_a_killed_workers_items_are_taken_up_again_and_none_is_asked_twice(run: Run, endpoint: Endpoint) -> None:
    batch = batch_of(run, endpoint)
    lease = work.take_batch(batch.pk)
    assert lease is not None
    assert work.take_batch(batch.pk) is None
    first = next(item for item in work.queued_items(batch.pk) if not item.canary)
    assert first.trial_id is not None
    call = work.held_call(first.trial_id)
    assert work.fail_item(first, lease, "asked before the worker died")
    JudgeBatch.objects.filter(pk=batch.pk).update(heartbeat_at=timezone.now() - timedelta(seconds=work.SILENT_S + 1))
    assert [found.pk for found in work.waiting_batches()] == [batch.pk]
    judged(batch)
    assert batch.state == "done"
    assert len(endpoint.requests) == 11
    # The first worker comes back: nothing of it is stored.
    assert work.beat(batch.pk, lease) == "lost"
    assert not work.fail_item(first, lease, "too late")
    assert call.trial.pk == first.trial_id


def test_a_worker_whose_time_is_over_leaves_the_batch_to_another(
    run: Run, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = batch_of(run, endpoint)
    monkeypatch.setattr(rejudge.Rejudge, "_judge", wait_until_over)
    monkeypatch.setattr(rejudge, "BEAT_S", 0.0)
    monkeypatch.setattr(rejudge, "BUDGET_S", -1.0)
    assert run_batch(batch.pk)
    batch.refresh_from_db()
    assert (batch.state, batch.lease) == ("queued", None)
    monkeypatch.undo()
    judged(batch)
    assert batch.state == "done"


async def wait_until_over(self: rejudge.Rejudge) -> None:
    import asyncio

    while not self.over:
        await asyncio.sleep(0)


def test_self_agreement_asks_twice_and_lists_what_differs(run: Run, endpoint: Endpoint) -> None:
    batch = judged(batch_of(run, endpoint, "standin-judge", SELF))
    assert len(endpoint.requests) == 10
    found = result(batch)
    assert (found.agreement.count, found.agreement.of) == (7, 7)
    assert found.agreement.interval is not None
    with pytest.raises(ValueError, match="only calls that were judged again"):
        request_save(batch, None)
    item = batch.items.get(repeat=2, trial__scenario__name=JUDGED[0])
    item.rulings[0]["passed"] = False
    item.save()
    (changed,) = result(batch).changed
    assert (changed.was, changed.passed, changed.trial.scenario.name) == (True, False, JUDGED[0])
    assert result(batch).agreement.count == 6


def test_the_same_judge_again_is_self_agreement(run: Run, endpoint: Endpoint) -> None:
    batch = make_batch(REJUDGE, Choice(runs=(run.pk,)), judge_profile(endpoint), None)
    found = result(judged(batch))
    assert (found.is_same_judge, found.agreement.value) == (True, 1.0)
    assert found.changed == []


def test_a_judge_that_fails_flips_nothing_and_is_not_saved(run: Run, endpoint: Endpoint) -> None:
    endpoint.by = lambda request: Answer("I would rather not.")
    batch = judged(batch_of(run, endpoint))
    found = result(batch)
    assert (batch.state, batch.canaries, progress(batch).errors) == ("done", "open", 12)
    assert (found.changed, found.agreement.value, len(found.errors)) == ([], None, 5)
    assert found.errors[0][1].startswith("unparseable: Judge error:")
    with pytest.raises(ValueError, match="not decided yet: 0 canary claims were ruled on"):
        request_save(batch, None)


def test_calls_that_have_no_ruling_yet_get_one(endpoint: Endpoint) -> None:
    run = judged_run(None, JUDGED)
    assert outcomes(run) == {"unscored": 5}
    batch = judged(batch_of(run, endpoint, "standin-judge"))
    found = result(batch)
    assert (found.new_rulings, found.changed, found.agreement.of) == (7, [], 0)
    request_save(batch, None)
    judged(batch)
    assert outcomes(run) == {"pass": 5}


def test_a_call_that_was_held_again_is_left_as_it_is(run: Run, endpoint: Endpoint) -> None:
    batch = judged(batch_of(run, endpoint))
    trial = run.trials.get(scenario__name=JUDGED[0])
    spoken = trial.events.filter(kind="turn.ended", side="agent").first()
    assert spoken is not None
    spoken.data["said"] = "Something else."
    spoken.save()
    request_save(batch, None)
    judged(batch)
    assert batch.message == "1 of the calls were left as they are: its claims or its record are not what was judged"
    assert trial.verdicts.count() == 1
    assert Trial.objects.filter(run=run, verdicts__scoring=2).distinct().count() == 4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "say which run or call"),
        ({"runs": "x"}, "run: 'x' is no number"),
        ({"runs": "1", "outcome": "odd"}, "there is no outcome 'odd'; there are pass"),
        ({"trial": "1", "claim": "-1"}, "claim: '-1' is no number"),
    ],
)
def test_a_bad_choice_is_named(given: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Choice.read(given)


def test_a_choice_by_call_outcome_and_flag(run: Run, endpoint: Endpoint) -> None:
    trial = run.trials.get(scenario__name=JUDGED[0])
    assert Choice.read({"trial": str(trial.pk), "claim": "1"}).words == f"claim 1 of {JUDGED[0]} #1 of run {run.pk}"
    assert [found.pk for found in Choice(trial=trial.pk).trials()] == [trial.pk]
    assert Choice(runs=(run.pk,), outcome="fail").trials().count() == 0
    assert Choice(runs=(run.pk,), flagged=True).trials().count() == 0
    Verdict.objects.filter(trial=trial).update(detail={"flagged": True, "unfound": 1})
    flagged = Choice(runs=(run.pk,), flagged=True)
    assert [found.pk for found in flagged.trials()] == [trial.pk]
    assert Choice.read(flagged.stored()) == flagged
    with pytest.raises(ValueError, match="fail calls of run .*: no call that was scored here asks a judge"):
        batch_of(run, endpoint, outcome="fail")
    assert not BatchItem.objects.exclude(batch__run=run, batch__kind="run").exists()


def test_verdicts_of_another_judge_are_not_stale_by_that(run: Run, endpoint: Endpoint) -> None:
    batch = judged(batch_of(run, endpoint))
    request_save(batch, None)
    judged(batch)
    share = stale_share(run)
    assert (share.stale, share.total) == (0, 7)
