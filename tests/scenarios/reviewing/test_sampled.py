"""Which labels may correct a rate: those of whole calls that the lot chose, however far a queue is worked."""

from collections import Counter
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from scenarios.lifecycle import settle
from scenarios.models import Review, ReviewSlot, Run, Trial, Verdict
from scenarios.reviewing import QueueFilter, choose, rule, undo
from scenarios.reviewing.calls import rated_calls
from tests.factories import make_run
from tests.scenarios.lifecycle.test_rulings import judged_trial
from tests.scenarios.reviewing.working import give, held, queue_of

pytestmark = pytest.mark.django_db


def calls_of(keys: list[int]) -> list[int]:
    """Return the calls of these verdicts in order, neighbours of one call once."""
    trials = [Verdict.objects.in_bulk(keys)[key].trial_id for key in keys]
    return [trial for at, trial in enumerate(trials) if at == 0 or trials[at - 1] != trial]


def labels(run: Run) -> dict[str, tuple[str | None, bool]]:
    """Return people's outcome and whether it may correct, of the calls with either."""
    return {call.call: (call.people, call.sampled) for call in rated_calls([run.pk]) if call.people or call.sampled}


class TestChoosing:
    def test_claims_of_a_call_come_together_and_calls_by_lot(self, run: Run) -> None:
        orders = {tuple(calls_of(choose(QueueFilter(runs=(run.pk,), seed=seed)))) for seed in range(8)}
        trials = sorted(run.trials.values_list("pk", flat=True))
        assert all(sorted(order) == trials for order in orders)
        assert len(orders) > 3, "the order is that of the seed, or a queue that is half done is no random sample"

    def test_a_sample_is_of_whole_calls(self, run: Run) -> None:
        keys = choose(QueueFilter(runs=(run.pk,), sample=4, seed=3))
        assert len(keys) == 4
        assert len(calls_of(keys)) == 2

    @pytest.mark.parametrize(
        "fields",
        [
            {"kind": "failed"},
            {"kind": "passed"},
            {"kind": "flagged"},
            {"outcome": "fail"},
            {"judge": 1},
            {"kind": "narrowing", "judge": 1},
            {"scenario": "toy__1"},
        ],
    )
    def test_parts_of_calls_and_choices_by_hand_correct_nothing(self, fields: dict[str, object]) -> None:
        assert not QueueFilter.model_validate({"runs": (1,), **fields}).is_random

    @pytest.mark.parametrize("kind", ["all", "narrowing"])
    def test_whole_calls_by_lot_do(self, kind: str) -> None:
        assert QueueFilter.model_validate({"runs": (1,), "domain": "toy", "kind": kind, "sample": 5}).is_random

    def test_calls_with_many_claims_are_labelled_as_often_as_others(self, ann: User) -> None:
        run = make_run(120, 1, ["fail"])
        for number, trial in enumerate(run.trials.all()):
            judged_trial(trial, (False,) if number % 2 else (True, False, True, False))
        queue = queue_of(run, sample=100, seed=5)
        for item in queue.items.select_related("verdict"):
            Review.objects.create(verdict=item.verdict, item=item, rater="ann", stage="blind", ruling="pass")
        settle(run.trials.values_list("pk", flat=True))
        labelled = [int(pk) for pk, (people, sampled) in labels(run).items() if people and sampled]
        sizes = Counter(Trial.objects.get(pk=pk).verdicts.count() for pk in labelled)
        assert sum(sizes.values()) >= 35
        assert 0.3 < sizes[4] / sum(sizes.values()) < 0.7


class TestWhichLabelsCount:
    def test_a_label_from_another_queue_counts_once_its_turn_has_come(self, run: Run, ann: User, ben: User) -> None:
        queue = queue_of(run, seed=2)
        last = queue.items.order_by("-position")[:2]
        trial = last[0].verdict.trial
        picked = queue_of(run, scenario=trial.scenario.name)
        assert not picked.is_random
        for _ in range(2):
            give(picked, ben, "pass")
        assert labels(run) == {str(trial.pk): ("pass", False)}
        for _ in range(8):
            give(queue, ann, "pass")
        assert labels(run)[str(trial.pk)] == ("pass", True)

    def test_judging_again_loses_no_label(self, run: Run, ann: User) -> None:
        queue = queue_of(run)
        for _ in range(2):
            slot = give(queue, ann, "pass")
        before = labels(run)
        assert list(before.values()) == [("pass", True)]
        trial = slot.item.verdict.trial
        for verdict in list(trial.verdicts.all()):
            verdict.pk, verdict.scoring = None, 2
            verdict.save()
        for signal in list(trial.signals.all()):
            signal.pk, signal.scoring = None, 2
            signal.save()
        settle([trial.pk])
        assert labels(run) == before

    def test_cannot_tell_that_was_taken_back_is_none(self, run: Run, ann: User) -> None:
        queue = queue_of(run)
        give(queue, ann, "pass")
        slot = give(queue, ann, "cannot_tell", comment="muffled")
        trial = str(slot.item.verdict.trial_id)
        assert labels(run) == {trial: ("cannot_tell", True)}
        undo(ReviewSlot.objects.get(pk=slot.pk), ann)
        assert labels(run) == {}

    def test_who_could_tell_decides(self, run: Run, ann: User, ben: User) -> None:
        queue = queue_of(run, reviews_per_item=2)
        for person, ruling in ((ann, "pass"), (ben, "cannot_tell")):
            for _ in range(2):
                give(queue, person, ruling, comment="so it is")
        assert [people for people, _ in labels(run).values()] == ["pass"]

    def test_people_who_disagree_are_no_label_though_a_third_cannot_tell(self, run: Run, ann: User, ben: User) -> None:
        queue = queue_of(run, reviews_per_item=3)
        cid = User.objects.create_user("cid")
        for person, ruling in ((ann, "pass"), (ben, "fail"), (cid, "cannot_tell")):
            for _ in range(2):
                give(queue, person, ruling, comment="so it is")
        assert {people for people, _ in labels(run).values()} == {None}

    def test_a_lease_is_no_label(self, run: Run, ann: User) -> None:
        slot = held(queue_of(run), ann)
        assert labels(run) == {}
        ReviewSlot.objects.update(leased_until=timezone.now() + timedelta(minutes=1))
        rule(slot, ann, slot.lease, "fail")
        assert {people for people, _ in labels(run).values()} <= {None}
