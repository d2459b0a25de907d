"""What waits for an adjudicator once another judge has ruled, or the call was held again."""

import pytest
from django.contrib.auth.models import User

from scenarios.lifecycle import settle
from scenarios.models import Review, Run, Trial, Verdict
from scenarios.reviewing import adjudicate, open_disagreements, open_to

pytestmark = pytest.mark.django_db


@pytest.fixture
def verdict(run: Run) -> Verdict:
    return Verdict.objects.filter(trial__run=run).order_by("pk")[0]


def rule(verdict: Verdict, rater: str, ruling: str) -> None:
    Review.objects.create(verdict=verdict, rater=rater, stage="blind", ruling=ruling)
    settle([verdict.trial_id])


def judged_again(trial: Trial, **changed: str) -> Verdict:
    """Score a call again; returns the new verdict on its first claim."""
    for signal in list(trial.signals.filter(scoring=1)):
        signal.pk, signal.scoring = None, 2
        signal.save()
    for verdict in list(trial.verdicts.filter(scoring=1)):
        verdict.pk, verdict.scoring, verdict.subject = None, 2, changed.get("subject", verdict.subject)
        verdict.save()
    settle([trial.pk])
    return trial.verdicts.get(scoring=2, index=1)


def test_reviewers_who_differ_are_asked_about_where_the_newest_ruling_stands(verdict: Verdict, ben: User) -> None:
    rule(verdict, "ann", "pass")
    rule(verdict, "cid", "fail")
    assert open_disagreements() == [verdict.pk]
    newest = judged_again(verdict.trial)
    assert open_disagreements() == open_to(ben) == [newest.pk]
    adjudicate(newest, ben, "fail", "it was never said")
    assert open_disagreements() == []


def test_reviewers_of_two_judges_rulings_on_one_record_can_differ(verdict: Verdict) -> None:
    rule(verdict, "ann", "pass")
    newest = judged_again(verdict.trial)
    assert newest.effective.passed
    rule(newest, "cid", "fail")
    assert not hasattr(Verdict.objects.get(pk=newest.pk), "effective")
    assert open_disagreements() == [newest.pk]


def test_a_call_that_was_held_again_leaves_nothing_to_settle(verdict: Verdict) -> None:
    rule(verdict, "ann", "pass")
    rule(verdict, "cid", "fail")
    judged_again(verdict.trial, subject="another record")
    assert open_disagreements() == []
