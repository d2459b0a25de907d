"""Choosing, ruling and adjudication, as two people and their browsers would use them."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from scenarios.lifecycle import settle
from scenarios.models import EffectiveVerdict, Review, ReviewDraft, ReviewSlot, Run, Trial, Verdict
from scenarios.reviewing import (
    QueueFilter,
    Refused,
    adjudicate,
    choose,
    disagreements,
    hold,
    next_stage,
    open_disagreements,
    open_to,
    progress,
    rule,
    skip,
    undo,
    withdraw_adjudication,
)
from scenarios.reviewing.calls import rated_calls
from tests.scenarios.reviewing.working import give, held, queue_of

pytestmark = pytest.mark.django_db


class TestChoosing:
    def test_kinds(self, run: Run) -> None:
        assert len(choose(QueueFilter(runs=(run.pk,)))) == 8
        failed = choose(QueueFilter(runs=(run.pk,), kind="failed"))
        assert set(Verdict.objects.filter(pk__in=failed).values_list("index", flat=True)) == {2}
        assert len(choose(QueueFilter(runs=(run.pk,), kind="passed"))) == 4

    def test_flags(self, run: Run) -> None:
        first, second, third = Verdict.objects.filter(trial__run=run)[:3]
        Verdict.objects.filter(pk=first.pk).update(evidence=[{"text": "x", "found": False}])
        Verdict.objects.filter(pk=second.pk).update(detail={"contradiction": True})
        Verdict.objects.filter(pk=third.pk).update(error="outage")
        assert set(choose(QueueFilter(runs=(run.pk,), kind="flagged"))) == {first.pk, second.pk, third.pk}

    def test_a_sample_can_be_drawn_again(self, run: Run) -> None:
        chosen = QueueFilter(runs=(run.pk,), sample=3, seed=7)
        assert choose(chosen) == choose(chosen)
        assert len(choose(chosen)) == 3
        assert choose(chosen) != choose(chosen.model_copy(update={"seed": 8}))

    def test_only_the_newest_rulings(self, run: Run) -> None:
        trial = run.trials.all()[0]
        for verdict in list(trial.verdicts.all()):
            verdict.pk, verdict.scoring = None, 2
            verdict.save()
        keys = choose(QueueFilter(runs=(run.pk,)))
        assert len(keys) == 8
        assert set(Verdict.objects.filter(pk__in=keys, trial=trial).values_list("scoring", flat=True)) == {2}

    def test_those_that_narrow_the_headline_come_as_whole_calls(self, run: Run) -> None:
        keys = choose(QueueFilter(runs=(run.pk,), kind="narrowing", seed=1))
        trials = list(Verdict.objects.in_bulk(keys)[key].trial_id for key in keys)
        assert len(keys) == 8
        assert trials[0::2] == trials[1::2]

    def test_nothing_found_is_said(self, run: Run) -> None:
        with pytest.raises(ValueError, match="there are no claims with a flag"):
            queue_of(run, kind="flagged")

    def test_random_is_what_a_rate_may_be_corrected_by(self, run: Run) -> None:
        assert queue_of(run, sample=2).is_random
        assert not queue_of(run, outcome="fail").is_random


class TestRuling:
    def test_who_has_seen_the_ruling_is_not_blind_in_another_queue(self, run: Run, ann: User, ben: User) -> None:
        give(queue_of(run), ann, "fail")
        slot = held(queue_of(run), ann)
        assert next_stage(slot, ann) == "revealed"
        skip(slot, ann)
        assert next_stage(held(slot.item.queue, ben), ben) == "blind"

    def test_a_page_that_shows_another_stage_is_stale(self, run: Run, ann: User) -> None:
        slot = held(queue_of(run), ann)
        rule(slot, ann, slot.lease, "pass", shown="blind")
        with pytest.raises(Refused, match="another window") as refused:
            rule(slot, ann, slot.lease, "pass", shown="blind")
        assert refused.value.why == "stale"
        assert Review.objects.count() == 1

    def test_a_lease_that_ran_out_is_the_others(self, run: Run, ann: User, ben: User) -> None:
        slot = held(queue_of(run, sample=1), ann)
        ReviewSlot.objects.update(leased_until=timezone.now() - timedelta(minutes=1))
        assert hold(slot, ben) is not None
        with pytest.raises(Refused) as refused:
            rule(slot, ann, slot.lease, "pass", "typed")
        assert refused.value.why == "lost"
        assert ReviewDraft.objects.get().comment == "typed"

    def test_a_claim_without_a_subject_is_settled_too(self, run: Run, ann: User) -> None:
        # Claims of imported calls may have none.
        Verdict.objects.update(subject="")
        slot = give(queue_of(run, kind="failed"), ann, "pass")
        assert Trial.objects.get(pk=slot.item.verdict.trial_id).outcome == "pass"
        assert EffectiveVerdict.objects.count() == 1

    def test_blind_then_kept_both_are_stored(self, run: Run, ann: User) -> None:
        queue = queue_of(run, kind="failed")
        slot = give(queue, ann, "pass")
        assert list(Review.objects.values_list("stage", "ruling")) == [("blind", "pass"), ("revealed", "pass")]
        trial = slot.item.verdict.trial
        trial.refresh_from_db()
        assert (trial.outcome, trial.judged_outcome) == ("pass", "fail")
        assert progress(queue, ann).done == 1

    def test_a_changed_ruling_needs_a_reason(self, run: Run, ann: User) -> None:
        queue = queue_of(run, kind="failed")
        slot = held(queue, ann)
        rule(slot, ann, slot.lease, "pass")
        with pytest.raises(Refused, match="why you changed"):
            rule(slot, ann, slot.lease, "fail")
        rule(slot, ann, slot.lease, "fail", "the judge is right: turn 9")
        assert EffectiveVerdict.objects.get().passed is False

    def test_cannot_tell_needs_a_reason(self, run: Run, ann: User) -> None:
        slot = held(queue_of(run), ann)
        with pytest.raises(Refused, match="why it cannot be told"):
            rule(slot, ann, slot.lease, "cannot_tell")
        assert rule(slot, ann, slot.lease, "cannot_tell", "no audio").ruling == "cannot_tell"
        # Kept after the reveal, it has its reason already; changed to, it needs one.
        assert rule(slot, ann, slot.lease, "cannot_tell").stage == "revealed"
        other = held(slot.item.queue, ann)
        rule(other, ann, other.lease, "pass")
        with pytest.raises(Refused, match="why it cannot be told"):
            rule(other, ann, other.lease, "cannot_tell")

    def test_a_queue_that_is_not_blind_takes_one_ruling(self, run: Run, ann: User) -> None:
        queue = queue_of(run, is_blind=False)
        slot = held(queue, ann)
        assert rule(slot, ann, slot.lease, "pass").stage == "revealed"
        assert progress(queue, ann).done == 1

    def test_a_double_press_counts_once(self, run: Run, ann: User) -> None:
        slot = held(queue_of(run), ann)
        first = rule(slot, ann, slot.lease, "pass", submit_key="k1")
        assert rule(slot, ann, slot.lease, "pass", submit_key="k1") == first
        assert Review.objects.count() == 1

    @pytest.mark.parametrize("ruling", ["", "yes", "withdrawn", "PASS"])
    def test_only_rulings_are_rulings(self, run: Run, ann: User, ruling: str) -> None:
        slot = held(queue_of(run), ann)
        with pytest.raises(Refused, match="is no ruling"):
            rule(slot, ann, slot.lease, ruling)

    def test_a_claim_whose_record_changed_is_refused(self, run: Run, ann: User) -> None:
        slot = held(queue_of(run, kind="failed"), ann)
        newer = Verdict.objects.get(pk=slot.item.verdict_id)
        newer.pk, newer.scoring, newer.subject = None, 2, "another record"
        newer.save()
        with pytest.raises(Refused, match="record is another"):
            rule(slot, ann, slot.lease, "pass")

    def test_undo_gives_the_item_back_and_restores_the_call(self, run: Run, ann: User) -> None:
        queue = queue_of(run, kind="failed")
        slot = give(queue, ann, "pass")
        undo(ReviewSlot.objects.get(pk=slot.pk), ann)
        trial = Trial.objects.get(pk=slot.item.verdict.trial_id)
        assert (trial.outcome, trial.judged_outcome) == ("fail", "")
        assert held(queue, ann).pk == slot.pk
        assert Review.objects.count() == 4
        # The judge's ruling has been seen: the next one is not blind, and there is only one.
        again = held(queue, ann)
        assert rule(again, ann, again.lease, "fail").stage == "revealed"
        assert EffectiveVerdict.objects.get().passed is False

    def test_others_cannot_undo(self, run: Run, ann: User, ben: User) -> None:
        slot = give(queue_of(run), ann, "pass")
        with pytest.raises(Refused, match="somebody else"):
            undo(ReviewSlot.objects.get(pk=slot.pk), ben)


class TestAdjudication:
    def test_a_disagreement_with_the_judge_waits_and_is_settled(self, run: Run, ann: User, ben: User) -> None:
        slot = give(queue_of(run, kind="failed"), ann, "pass")
        (found,) = disagreements()
        assert (found.verdict_id, found.judge_passed) == (slot.item.verdict_id, False)
        adjudicate(slot.item.verdict, ben, "fail", "never said in the call")
        assert disagreements() == []
        assert [one.is_settled for one in disagreements(settled=True)] == [True]
        assert Trial.objects.get(pk=slot.item.verdict.trial_id).outcome == "fail"
        withdraw_adjudication(slot.item.verdict, ben)
        assert len(disagreements()) == 1

    def test_people_who_differ(self, run: Run, ann: User, ben: User) -> None:
        queue = queue_of(run, reviews_per_item=2, kind="failed", sample=1)
        give(queue, ann, "pass")
        give(queue, ben, "fail")
        (found,) = disagreements()
        assert {review.ruling for review in found.reviews} == {"pass", "fail"}

    def test_who_agrees_with_the_judge_is_no_disagreement(self, run: Run, ann: User) -> None:
        give(queue_of(run, kind="failed"), ann, "fail")
        assert disagreements() == []

    def test_it_is_open_to_those_who_took_no_part(self, run: Run, ann: User, ben: User) -> None:
        slot = give(queue_of(run, kind="failed"), ann, "pass")
        assert open_to(ann) == []
        assert open_to(ben) == [slot.item.verdict_id]
        adjudicate(slot.item.verdict, ben, "fail", "no", submit_key="k")
        assert adjudicate(slot.item.verdict, ben, "fail", "no", submit_key="k") == Review.objects.last()
        withdraw_adjudication(slot.item.verdict, ben)
        assert len(open_to(ben)) == 1

    def test_judged_again_the_newest_ruling_is_the_one_that_may_be_disputed(
        self, run: Run, ann: User, ben: User
    ) -> None:
        slot = give(queue_of(run, kind="failed"), ann, "pass")
        old = slot.item.verdict
        trial = Trial.objects.get(pk=old.trial_id)
        for verdict in list(trial.verdicts.filter(signal="nl_assertion")):
            verdict.pk, verdict.scoring = None, 2
            verdict.save()
        settle([trial.pk])
        (newest,) = open_disagreements()
        assert newest != old.pk
        # Whoever reviewed the claim under the earlier judge is party to it.
        assert (open_to(ann), open_to(ben)) == ([], [newest])
        with pytest.raises(Refused, match="yourself"):
            adjudicate(Verdict.objects.get(pk=newest), ann, "pass", "because")
        adjudicate(Verdict.objects.get(pk=newest), ben, "pass", "it says so")
        assert open_disagreements() == []
        # A judge that agrees with the people leaves nothing to settle.
        withdraw_adjudication(Verdict.objects.get(pk=newest), ben)
        Verdict.objects.filter(pk=newest).update(passed=True)
        settle([trial.pk])
        assert open_disagreements() == []

    def test_those_who_differ_among_themselves_wait_however_the_judge_ruled(
        self, run: Run, ann: User, ben: User
    ) -> None:
        queue = queue_of(run, reviews_per_item=2, sample=1)
        slot = give(queue, ann, "pass")
        give(queue, ben, "fail")
        assert open_disagreements() == [slot.item.verdict_id]
        assert [one.verdict_id for one in disagreements()] == [slot.item.verdict_id]

    def test_the_reason_of_a_call_follows_and_comes_back(self, run: Run, ann: User) -> None:
        trial = run.trials.all()[0]
        trial.signals.filter(signal="db_state_match").update(state="failed", value=False)
        queue = queue_of(run, kind="failed", scenario=trial.scenario.name)
        slot = give(queue, ann, "pass")
        trial.refresh_from_db()
        assert (trial.outcome, trial.judged_outcome, trial.overruled_count) == ("fail", "", 1)
        assert trial.outcome_reason == "failed: db_state_match (claims overruled: 1 by a reviewer)"
        undo(ReviewSlot.objects.get(pk=slot.pk), ann)
        trial.refresh_from_db()
        assert (trial.outcome_reason, trial.judged_reason) == ("made fail by a factory", "")

    def test_settling_again_writes_nothing(self, run: Run, ann: User, django_assert_max_num_queries: Any) -> None:
        slot = give(queue_of(run, kind="failed"), ann, "pass")
        with django_assert_max_num_queries(14) as context:
            assert settle([slot.item.verdict.trial_id]) == []
        writes = [query["sql"] for query in context if query["sql"].startswith(("UPDATE", "INSERT", "DELETE"))]
        assert [sql.split('"')[1] for sql in writes] == ["scenarios_trial"]

    def test_nobody_settles_their_own(self, run: Run, ann: User) -> None:
        slot = give(queue_of(run, kind="failed"), ann, "pass")
        with pytest.raises(Refused, match="yourself"):
            adjudicate(slot.item.verdict, ann, "pass", "because")

    @pytest.mark.parametrize(("ruling", "reason"), [("cannot_tell", "x"), ("pass", " "), ("", "x")])
    def test_a_ruling_and_a_reason_are_needed(self, run: Run, ann: User, ben: User, ruling: str, reason: str) -> None:
        slot = give(queue_of(run, kind="failed"), ann, "pass")
        with pytest.raises(Refused):
            adjudicate(slot.item.verdict, ben, ruling, reason)


class TestRatedCalls:
    def test_a_call_is_labelled_when_all_its_claims_are(self, run: Run, ann: User) -> None:
        queue = queue_of(run)
        calls = rated_calls([run.pk])
        assert [(call.passed, call.judged, call.people) for call in calls] == [(False, True, None)] * 4
        first = give(queue, ann, "pass")
        assert {call.people for call in rated_calls([run.pk])} == {None}
        give(queue, ann, "pass")
        labelled = [call for call in rated_calls([run.pk]) if call.people]
        assert [(call.call, call.people, call.sampled) for call in labelled] == [
            (str(first.item.verdict.trial_id), "pass", True)
        ]
        # What scoring said stays what it was, whatever people made of the outcome.
        assert [call.passed for call in rated_calls([run.pk])] == [False] * 4

    def test_a_call_that_another_signal_failed_does_not_depend_on_the_judge(self, run: Run) -> None:
        trial = run.trials.all()[0]
        trial.signals.filter(signal="db_state_match").update(state="failed", value=False)
        assert [call.judged for call in rated_calls([run.pk])] == [False, True, True, True]
