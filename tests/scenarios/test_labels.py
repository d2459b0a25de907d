"""Labels out and in: stable ids, whose word counts, what is refused and why, and that nothing is added twice."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.utils import timezone

from scenarios.formats.labels import LabelRecord, csv_lines, jsonl_lines
from scenarios.labels import exported, import_labels, reviews_of
from scenarios.models import JudgeVersion, Review, ReviewItem, ReviewQueue, Run, Trial, Verdict
from tests.factories import make_run
from tests.scenarios.lifecycle.test_rulings import judged_trial, review

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    """Three calls with two claims each, ruled on by one judge; each verdict has a fingerprint of its own."""
    run = make_run(3, 1, ["fail"])
    for trial in run.trials.all():
        judged_trial(trial)
    for verdict in Verdict.objects.all():
        verdict.fingerprint = f"{verdict.pk:064x}"
        verdict.save()
    return run


@pytest.fixture
def trial(run: Run) -> Trial:
    return run.trials.all()[0]


def labels(run: Run, **fields: Any) -> list[LabelRecord]:
    return list(exported(reviews_of(run=run, **fields)))


def as_text(rows: list[LabelRecord]) -> str:
    return "".join(jsonl_lines(rows))


def damaged(text: str, line: int, **fields: Any) -> str:
    """Return the file with fields of one line (from 1) changed."""
    lines = text.splitlines()
    lines[line - 1] = json.dumps(json.loads(lines[line - 1]) | fields)
    return "\n".join(lines)


class TestOut:
    def test_a_label_says_what_who_how_and_when(self, run: Run, trial: Trial) -> None:
        given = review(trial, 2, "pass", "blind", "ann", comment="=cmd()")
        (label,) = labels(run)
        assert (label.run, label.scenario, label.trial) == (str(run.pk), "toy__1", 1)
        assert (label.claim, label.signal, label.rater) == ("claim 2", "nl_assertion", "ann")
        assert (label.blind, label.stage, label.ruling, label.comment) == (True, "blind", "pass", "=cmd()")
        assert label.judge_fingerprint == given.verdict.fingerprint
        assert datetime.fromisoformat(label.at) == given.created_at

    def test_the_last_of_a_person_and_stage_counts_and_a_withdrawn_one_is_none(self, run: Run, trial: Trial) -> None:
        review(trial, 1, "pass")
        review(trial, 1, "fail")
        review(trial, 1, "fail", "revealed")
        review(trial, 2, "pass", rater="ben")
        review(trial, 2, "withdrawn", rater="ben")
        assert [(one.stage, one.ruling) for one in labels(run)] == [("blind", "fail"), ("revealed", "fail")]

    def test_by_run_judge_and_queue(self, run: Run, trial: Trial) -> None:
        review(trial, 1, "pass")
        other = judged_trial(make_run(1, 1, ["fail"]).trials.get())
        review(other, 1, "pass")
        judge = JudgeVersion.objects.get()
        assert len(labels(run)) == 1
        assert len(list(exported(reviews_of(judge=judge)))) == 2
        assert list(exported(reviews_of(judge=JudgeVersion.objects.create(fingerprint="o" * 64, profile="o")))) == []
        queue = ReviewQueue.objects.create(title="q")
        assert labels(run, queue=queue) == []
        item = ReviewItem.objects.create(queue=queue, verdict=trial.verdicts.get(index=2), position=1)
        review(trial, 2, "fail", item=item)
        assert [one.claim for one in labels(run, queue=queue)] == ["claim 2"]

    def test_labels_on_the_same_claim_and_record_tell_about_every_judge(self, run: Run, trial: Trial) -> None:
        review(trial, 1, "pass")
        later = JudgeVersion.objects.create(fingerprint="k" * 64, profile="later")
        before = trial.verdicts.get(index=1)
        Verdict.objects.create(
            trial=trial, scoring=2, signal="nl_assertion", index=1, claim=before.claim, passed=False, judge=later,
            subject=before.subject,
        )  # fmt: skip
        (label,) = exported(reviews_of(judge=later))
        assert label.judge_fingerprint == before.fingerprint

    def test_many_labels_take_two_queries(self, run: Run, django_assert_num_queries: Callable[[int], Any]) -> None:
        for trial in run.trials.all():
            for rater in ("ann", "ben"):
                review(trial, 1, "pass", rater=rater)
        with django_assert_num_queries(2):
            assert len(labels(run)) == 6


class TestIn:
    @pytest.fixture
    def text(self, run: Run) -> str:
        """Two people's labels on the second claim of each call, all taken away again."""
        for trial in run.trials.all():
            review(trial, 2, "pass", "blind", "ann", comment='it, "does"\nhold')
            review(trial, 2, "cannot_tell", "revealed", "ben", comment="unclear")
        text = as_text(labels(run))
        Review.objects.all().delete()
        for trial in run.trials.all():
            review(trial, 1, "withdrawn", rater="nobody")  # settles: everything is as scoring left it
        assert set(run.trials.values_list("outcome", flat=True)) == {"fail"}
        return text

    def test_rulings_come_back_as_they_were_and_count(self, run: Run, text: str) -> None:
        report = import_labels(text, "jsonl")
        assert (report.taken, report.known, report.refused, report.changed) == (6, 0, [], 3)
        assert set(run.trials.values_list("outcome", flat=True)) == {"pass"}
        rows = Review.objects.exclude(rater="nobody")
        assert all(row.is_imported and row.reviewer is None for row in rows)
        assert as_text(labels(run)) == text

    def test_the_same_file_twice_adds_nothing(self, text: str) -> None:
        import_labels(text, "jsonl")
        count = Review.objects.count()
        report = import_labels(text, "jsonl")
        assert (report.taken, report.known, report.refused_count, report.changed) == (0, 6, 0, 0)
        assert Review.objects.count() == count

    def test_labels_that_were_given_here_are_known(self, run: Run, trial: Trial) -> None:
        review(trial, 2, "pass", comment="yes")
        report = import_labels(as_text(labels(run)), "jsonl")
        assert (report.taken, report.known) == (0, 1)
        assert not Review.objects.get().is_imported

    def test_without_times_a_file_is_known_as_well(self, text: str) -> None:
        bare = "\n".join(json.dumps(json.loads(line) | {"at": ""}) for line in text.splitlines())
        before = timezone.now()
        assert import_labels(bare, "jsonl").taken == 6
        assert Review.objects.filter(is_imported=True, created_at__gte=before).count() == 6
        assert import_labels(bare, "jsonl").known == 6

    def test_csv_says_the_same(self, run: Run, text: str) -> None:
        import_labels(text, "jsonl")
        table = "".join(csv_lines(labels(run)))
        Review.objects.filter(is_imported=True).delete()
        assert import_labels(table, "csv").taken == 6
        assert as_text(labels(run)) == text

    def test_a_later_ruling_here_stays(self, run: Run, trial: Trial, text: str) -> None:
        review(trial, 2, "fail", "blind", "ann")
        report = import_labels(text, "jsonl")
        assert report.taken == 5
        assert [(one.line, one.field) for one in report.refused] == [(1, "rater")]
        assert "later" in report.refused[0].message
        assert [one.ruling for one in labels(run) if one.rater == "ann"][0] == "fail"

    def test_a_newer_label_is_added_and_the_older_stays_in_the_history(self, trial: Trial, text: str) -> None:
        import_labels(text, "jsonl")
        later = damaged(text, 1, ruling="fail", comment="no", at=datetime(2100, 1, 1, tzinfo=UTC).isoformat())
        report = import_labels(later, "jsonl")
        assert (report.taken, report.known, report.changed) == (1, 5, 1)
        assert Review.objects.filter(rater="ann", verdict__trial=trial).count() == 2

    @pytest.mark.parametrize(
        ("fields", "field", "words"),
        [
            ({"run": "999999"}, "run", "no run '999999'"),
            ({"run": "my run"}, "run", "no run 'my run'"),
            ({"trial": 7}, "scenario", "has no trial 7"),
            ({"scenario": "toy__99"}, "scenario", "'toy__99'"),
            ({"judge_fingerprint": "9" * 64}, "judge_fingerprint", "is not here"),
            ({"rater": "r" * 151}, "rater", "the limit is 150"),
            ({"claim": "another claim"}, "claim_id", "the claim has changed"),
            ({"ruling": "maybe"}, "ruling", "give one of"),
        ],
    )
    def test_what_does_not_belong_is_refused_with_its_line(
        self, text: str, fields: dict[str, Any], field: str, words: str
    ) -> None:
        report = import_labels(damaged(text, 3, **fields), "jsonl")
        assert report.taken == 5
        assert [(one.line, one.field) for one in report.refused] == [(3, field)]
        assert words in report.refused[0].message

    def test_a_claim_that_this_call_has_not(self, run: Run, trial: Trial, text: str) -> None:
        trial.verdicts.filter(index=2).update(claim="reworded")
        report = import_labels(text, "jsonl")
        assert report.taken == 4
        assert [(one.line, one.field) for one in report.refused] == [(1, "claim_id"), (2, "claim_id")]
        assert "no such claim" in str(report.refused[0])

    def test_another_version_of_the_scenario(self, run: Run, text: str) -> None:
        run.config["scenarios"][0]["fingerprint"] = "e" * 64
        run.save()
        report = import_labels(text, "jsonl")
        assert [(one.line, one.field) for one in report.refused] == [
            (1, "scenario_fingerprint"), (2, "scenario_fingerprint")
        ]  # fmt: skip

    def test_a_call_that_is_open_again_waits(self, trial: Trial, text: str) -> None:
        Trial.objects.filter(pk=trial.pk).update(status="scoring", outcome="")
        report = import_labels(text, "jsonl")
        assert report.taken == 4
        assert "has not ended" in str(report.refused[0])

    def test_a_label_without_a_fingerprint_is_about_the_newest_ruling(self, trial: Trial, text: str) -> None:
        before = trial.verdicts.get(index=2)
        newest = Verdict.objects.create(
            trial=trial, scoring=2, signal="nl_assertion", index=2, claim=before.claim, passed=False,
            judge=before.judge, subject=before.subject,
        )  # fmt: skip
        import_labels(damaged(text, 1, judge_fingerprint=""), "jsonl")
        assert newest.reviews.get().rater == "ann"
        assert before.reviews.get().rater == "ben"

    def test_a_file_that_is_none(self) -> None:
        report = import_labels("not json\n[]\n", "jsonl")
        assert report.taken == 0
        assert [one.line for one in report.refused] == [1, 2]
