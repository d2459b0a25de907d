"""Reviews change outcome, signals and rates at once, and taking them back restores what scoring said."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from scenarios.lifecycle import settle
from scenarios.lifecycle.rulings import deciding_review
from scenarios.models import (
    EffectiveVerdict,
    JudgeBatch,
    JudgeVersion,
    Judging,
    Review,
    SignalResult,
    Trial,
    TrialEvent,
    Verdict,
)
from scenarios.standing import findings, standings
from tests.factories import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def trial() -> Trial:
    """A call that failed on the second of two claims."""
    return judged_trial(make_run(1, 1, ["fail"]).trials.get())


def judged_trial(trial: Trial, rulings: tuple[bool | None, ...] = (True, False)) -> Trial:
    judge = JudgeVersion.objects.get_or_create(fingerprint="j" * 64, defaults={"profile": "strict", "model": "m"})[0]
    Judging.objects.create(trial=trial, judge=judge, system_prompt="", user_content="")
    state = "undecided" if None in rulings else "failed" if False in rulings else "passed"
    SignalResult.objects.create(trial=trial, signal="db_state_match", state="passed", is_gating=True, value=True)
    value = None if None in rulings else sum(map(bool, rulings)) / len(rulings)
    SignalResult.objects.create(trial=trial, signal="nl_assertion", state=state, is_gating=True, value=value)
    for index, ruling in enumerate(rulings, 1):
        Verdict.objects.create(
            trial=trial,
            signal="nl_assertion",
            index=index,
            claim=f"claim {index}",
            passed=bool(ruling),
            error="" if ruling is not None else "outage",
            judge=judge,
            subject=f"{trial.pk}-{index}",
        )
    return trial


def review(trial: Trial, index: int, ruling: str, stage: str = "blind", rater: str = "ann", **fields: Any) -> Review:
    verdict = trial.verdicts.filter(signal="nl_assertion", index=index).order_by("-scoring")[0]
    made = Review.objects.create(verdict=verdict, rater=rater, stage=stage, ruling=ruling, **fields)
    settle([trial.pk])
    trial.refresh_from_db()
    return made


def test_one_overruling_changes_outcome_rates_and_record(trial: Trial) -> None:
    last = trial.last_seq
    TrialEvent.objects.create(
        trial=trial, seq=last, at_ms=61_000, kind="trial.finished", data={}, created_at=timezone.now()
    )
    review(trial, 2, "pass", "revealed")
    assert (trial.outcome, trial.judged_outcome) == ("pass", "fail")
    assert trial.judged_reason == "made fail by a factory"
    assert trial.overruled_count == 1
    assert trial.breakdown["passed"] == ["db_state_match", "nl_assertion"]
    signal = trial.signals.get(signal="nl_assertion")
    assert (signal.state, signal.value, signal.judged_state, signal.judged_value) == ("passed", 1.0, "failed", 0.5)
    standing = standings([trial.run])[trial.run.pk]
    assert (standing.rate.passes, standing.rate.total) == (1, 1)
    found = findings(trial.run)
    assert (found.items["nl_assertion"].passes, found.items["nl_assertion"].total) == (2, 2)
    assert (found.signals["nl_assertion"].passes, found.signals["nl_assertion"].total) == (1, 1)
    event = trial.events.get(kind="outcome.revised")
    assert event.seq == trial.last_seq == last + 1
    assert event.at_ms == 61_000
    assert event.data["before"] == "fail"
    assert event.data["outcome"] == "pass"


def test_taking_it_back_restores_what_scoring_said(trial: Trial) -> None:
    before = (trial.outcome, trial.outcome_reason, trial.other_outcome)
    review(trial, 2, "pass")
    review(trial, 2, "withdrawn")
    assert (trial.outcome, trial.outcome_reason, trial.other_outcome) == before
    assert (trial.judged_outcome, trial.judged_reason, trial.overruled_count) == ("", "", 0)
    signal = trial.signals.get(signal="nl_assertion")
    assert (signal.state, signal.value, signal.judged_state) == ("failed", 0.5, "")
    assert not EffectiveVerdict.objects.exists()
    assert [event.data["outcome"] for event in trial.events.filter(kind="outcome.revised")] == ["pass", "fail"]


def test_agreeing_with_the_judge_changes_nothing_but_is_effective(trial: Trial) -> None:
    review(trial, 2, "fail")
    assert (trial.outcome, trial.judged_outcome, trial.overruled_count) == ("fail", "", 0)
    assert EffectiveVerdict.objects.get().is_overruling is False
    assert not trial.events.filter(kind="outcome.revised").exists()


def test_reviewers_who_disagree_wait_for_an_adjudicator(trial: Trial) -> None:
    review(trial, 2, "pass", rater="ann")
    assert trial.outcome == "pass"
    review(trial, 2, "fail", rater="ben")
    assert trial.outcome == "fail"
    assert trial.overruled_count == 0
    review(trial, 2, "pass", "adjudication", rater="cleo")
    assert trial.outcome == "pass"
    assert EffectiveVerdict.objects.get().by == "adjudicator"
    review(trial, 2, "withdrawn", "adjudication", rater="cleo")
    assert trial.outcome == "fail"


def test_cannot_tell_decides_nothing(trial: Trial) -> None:
    review(trial, 2, "cannot_tell")
    assert trial.outcome == "fail"
    review(trial, 2, "pass", rater="ben")
    assert trial.outcome == "pass"


def test_the_ruling_after_the_reveal_counts_and_both_stay(trial: Trial) -> None:
    review(trial, 2, "pass", "blind")
    review(trial, 2, "fail", "revealed")
    assert trial.outcome == "fail"
    assert Review.objects.count() == 2


def test_a_blind_ruling_sent_later_does_not_undo_the_revealed_one(trial: Trial) -> None:
    first = review(trial, 2, "pass", "revealed")
    review(trial, 2, "fail", "blind")
    assert deciding_review(list(Review.objects.all())) == first


def test_a_person_decides_where_the_judge_failed() -> None:
    trial = judged_trial(make_run(1, 1, ["judge_error"]).trials.get(), (True, None))
    review(trial, 2, "pass")
    assert trial.outcome == "pass"
    assert findings(trial.run).items["nl_assertion"].left_out == {}


def test_rulings_hold_for_a_new_judge_on_the_same_record(trial: Trial) -> None:
    review(trial, 2, "pass")
    old = list(trial.verdicts.all())
    for verdict in old:
        verdict.pk, verdict.scoring, verdict.passed = None, 2, False
        verdict.save()
    SignalResult.objects.create(trial=trial, scoring=2, signal="nl_assertion", state="failed", is_gating=True, value=0)
    Trial.objects.filter(pk=trial.pk).update(outcome="fail", judged_outcome="", overruled_count=0)
    settle([trial.pk])
    newest = EffectiveVerdict.objects.filter(verdict__scoring=2)
    assert [(row.verdict.index, row.passed, row.is_overruling) for row in newest] == [(2, True, True)]


def test_a_ruling_does_not_outlive_the_record_it_was_about(trial: Trial) -> None:
    review(trial, 2, "pass")
    for verdict in list(trial.verdicts.all()):
        verdict.pk, verdict.scoring, verdict.subject = None, 2, f"another call {verdict.index}"
        verdict.save()
    SignalResult.objects.create(trial=trial, scoring=2, signal="nl_assertion", state="failed", is_gating=True, value=0)
    Trial.objects.filter(pk=trial.pk).update(outcome="fail", judged_outcome="")
    settle([trial.pk])
    trial.refresh_from_db()
    assert (trial.outcome, trial.overruled_count) == ("fail", 0)


def test_a_quarantined_batch_reaches_no_rate_until_a_person_rules() -> None:
    trial = judged_trial(make_run(1, 1, ["pass"]).trials.get(), (True, True))
    batch = JudgeBatch.objects.create(kind="run", run=trial.run, canaries="quarantined")
    trial.judgings.update(batch=batch)
    settle([trial.pk])
    trial.refresh_from_db()
    assert (trial.outcome, trial.judged_outcome) == ("judge_error", "pass")
    assert standings([trial.run])[trial.run.pk].rate.total == 0
    review(trial, 1, "pass")
    review(trial, 2, "pass")
    assert trial.outcome == "pass"
    Review.objects.all().delete()
    JudgeBatch.objects.update(canaries="passed")
    settle([trial.pk])
    trial.refresh_from_db()
    assert (trial.outcome, trial.judged_outcome) == ("pass", "")


@pytest.mark.parametrize("strictness", ["reference", "upstream"])
def test_what_upstream_demands_counts_by_its_own_strictness_only(strictness: str) -> None:
    run = make_run(1, 1, ["fail"], config={"strictness": strictness})
    trial = judged_trial(run.trials.get())
    Verdict.objects.create(trial=trial, signal="communicate", index=1, claim="says 42", passed=False)
    review(trial, 2, "pass")
    ours = {"reference": "pass", "upstream": "fail"}
    assert trial.outcome == ours[strictness]
    assert trial.other_outcome == ours["upstream" if strictness == "reference" else "reference"]


def test_an_open_trial_is_left_alone(person: Any) -> None:
    trial = judged_trial(make_run(1, 1, ["running"]).trials.get())
    reviewer: User = person("reviewer")
    review(trial, 2, "pass", reviewer=reviewer)
    assert (trial.status, trial.outcome) == ("running", "")
