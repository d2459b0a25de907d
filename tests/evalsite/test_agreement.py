"""Whose labels count for a judge, and that the figures are what another library makes of the exported labels."""

import json
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import krippendorff
import numpy as np
import pytest
from django.http import QueryDict

from evalsite.agreement import (
    AgreementFilter,
    Lean,
    canaries_of,
    read_rulings,
    runs_of,
    sentence,
    standing,
    worst_rows,
)
from scenarios.analysis.judge_trust import trust
from scenarios.formats.labels import jsonl_lines
from scenarios.labels import exported, reviews_of
from scenarios.models import BatchItem, JudgeBatch, Judging, Review, ReviewItem, ReviewQueue, Run, Trial, Verdict
from tests.evalsite.labelled import judge_version, judged_run, label

pytestmark = pytest.mark.django_db
ALL = AgreementFilter()


def ruled(verdict: Verdict, ruling: str, rater: str = "ann", stage: str = "blind") -> Review:
    return Review.objects.create(verdict=verdict, rater=rater, stage=stage, ruling=ruling)


class TestTheSameFromTheExport:
    """Labels are exported, read as plain JSON, and everything is computed again without any code of ours."""

    @pytest.fixture
    def rows(self) -> list[dict[str, Any]]:
        run = judged_run(40, 2, 2)
        label(run, share=0.8)
        return [json.loads(line) for line in jsonl_lines(exported(reviews_of(judge=judge_version())))]

    def matrix(self, rows: list[dict[str, Any]]) -> "np.ndarray[Any, Any]":
        """Return raters x items, 1 pass, 0 fail, NaN none; the judge is the last row."""
        passed = dict(Verdict.objects.values_list("fingerprint", "passed"))
        items = sorted({row["judge_fingerprint"] for row in rows})
        raters = sorted({row["rater"] for row in rows})
        found = np.full((len(raters) + 1, len(items)), np.nan)
        for row in rows:
            if row["blind"] and row["ruling"] != "cannot_tell":
                place = raters.index(row["rater"]), items.index(row["judge_fingerprint"])
                found[place] = row["ruling"] == "pass"
        found[-1] = [passed[item] for item in items]
        return found

    def test_confusion_accuracy_rates_and_kappa(self, rows: list[dict[str, Any]]) -> None:
        ratings = self.matrix(rows)
        votes = np.nansum(ratings[:-1], axis=0) - np.nansum(1 - ratings[:-1], axis=0)
        ours = standing(judge_version(), ALL).table.overall
        decided = votes != 0
        people, judge = votes[decided] > 0, ratings[-1][decided] == 1
        assert tuple(ours.confusion) == (
            (people & judge).sum(), (~people & judge).sum(), (people & ~judge).sum(), (~people & ~judge).sum()
        )  # fmt: skip
        assert ours.accuracy.value == pytest.approx((people == judge).mean())
        assert ours.tpr.value == pytest.approx(judge[people].mean())
        assert ours.tnr.value == pytest.approx((~judge[~people]).mean())
        chance = people.mean() * judge.mean() + (1 - people.mean()) * (1 - judge.mean())
        assert ours.kappa.value == pytest.approx(((people == judge).mean() - chance) / (1 - chance))
        assert ours.confusion.false_pass > 0
        assert ours.confusion.false_fail > 0

    def test_alpha_of_people_and_of_all(self, rows: list[dict[str, Any]]) -> None:
        ratings = self.matrix(rows)
        ours = standing(judge_version(), ALL).table.overall
        people = krippendorff.alpha(reliability_data=ratings[:-1], level_of_measurement="nominal")
        everybody = krippendorff.alpha(reliability_data=ratings, level_of_measurement="nominal")
        assert ours.people_alpha.value == pytest.approx(people)
        assert ours.all_alpha.value == pytest.approx(everybody)
        assert ours.all_alpha.interval is not None
        assert ours.all_alpha.interval.low < everybody < ours.all_alpha.interval.high

    def test_each_rater_and_how_they_moved(self, rows: list[dict[str, Any]]) -> None:
        passed = dict(Verdict.objects.values_list("fingerprint", "passed"))
        found = standing(judge_version(), ALL)
        pairs: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
        for row in rows:
            pairs[row["rater"]][row["judge_fingerprint"]][row["stage"]] = row["ruling"]
        for rater, given in pairs.items():
            own = {item: "pass" if passed[item] else "fail" for item in given}
            disagreed = [item for item, two in given.items() if two["blind"] not in (own[item], "cannot_tell")]
            told = [item for item, two in given.items() if two["blind"] != "cannot_tell"]
            toward = found.moved.by_rater[rater].toward
            assert (toward.count, toward.of) == (
                sum(given[item]["revealed"] == own[item] for item in disagreed), len(disagreed)
            )  # fmt: skip
            accuracy = found.table.by_rater[rater].accuracy
            assert (accuracy.count, accuracy.of) == (len(told) - len(disagreed), len(told))


class TestWhichRulings:
    def test_a_few_queries_whatever_the_size(self, django_assert_num_queries: Callable[[int], Any]) -> None:
        label(judged_run(30, 2))
        judge = judge_version()
        with django_assert_num_queries(3):
            found = read_rulings(judge, ALL)
        assert (len(found.items), found.calls, len(found.labels)) == (120, 60, 720)

    def test_labels_on_another_judges_ruling_about_the_same_record_count_blind_but_not_as_movement(self) -> None:
        run = judged_run(1, claims=1)
        first, later = Verdict.objects.get(), judge_version("k")
        ruled(first, "pass")
        ruled(first, "pass", stage="revealed")
        Verdict.objects.create(
            trial=first.trial, scoring=2, signal="nl_assertion", index=1, claim=first.claim, passed=False,
            judge=later, subject=first.subject,
        )  # fmt: skip
        found = standing(later, ALL)
        assert (found.table.overall.labels, found.table.overall.confusion.false_fail) == (1, 1)
        assert found.moved.overall.pairs == 0
        assert standing(judge_version(), ALL).moved.overall.pairs == 1
        assert [one.pk for one in runs_of(later)] == [run.pk]

    def test_another_record_is_another_item(self) -> None:
        judged_run(1, claims=1)
        first = Verdict.objects.get()
        ruled(first, "pass")
        later = judge_version("k")
        Verdict.objects.create(
            trial=first.trial, scoring=2, signal="nl_assertion", index=1, claim=first.claim, passed=False,
            judge=later, subject="another",
        )  # fmt: skip
        assert standing(later, ALL).table.overall.labels == 0

    def test_the_newest_ruling_of_a_judge_is_the_item(self) -> None:
        judged_run(1, claims=1, fail_share=0.0)
        first = Verdict.objects.get()
        ruled(first, "pass")
        again = Verdict.objects.create(
            trial=first.trial, scoring=2, signal="nl_assertion", index=1, claim=first.claim, passed=False,
            judge=first.judge, subject=first.subject,
        )  # fmt: skip
        found = standing(judge_version(), ALL)
        assert list(found.rulings.items) == [str(again.pk)]
        assert found.table.overall.confusion.false_fail == 1

    def test_withdrawn_labels_adjudications_and_judge_errors(self) -> None:
        judged_run(3, claims=1)
        first, second, third = Verdict.objects.order_by("pk")
        ruled(first, "pass")
        ruled(first, "withdrawn")
        ruled(second, "fail", stage="adjudication")
        Verdict.objects.filter(pk=third.pk).update(error="outage", passed=False)
        ruled(third, "fail")
        found = standing(judge_version(), ALL)
        overall = found.table.overall
        assert (overall.labels, overall.unruled, overall.confusion.total) == (1, 1, 0)
        assert found.rulings.without_ruling == 1

    def test_rulings_of_a_quarantined_batch_are_in_no_figure(self) -> None:
        judged_run(2, claims=2)
        trial = Trial.objects.all()[0]
        judge = judge_version()
        batch = JudgeBatch.objects.create(kind="rejudge", judge=judge, canaries="quarantined")
        Judging.objects.create(trial=trial, judge=judge, system_prompt="", user_content="", batch=batch)
        found = read_rulings(judge, ALL)
        assert (len(found.items), found.quarantined) == (2, 2)

    def test_by_domain_and_run(self) -> None:
        toy, other = judged_run(2), judged_run(3, domain="other")
        for run in (toy, other):
            label(run, ["ann"])
        runs = runs_of(judge_version())
        assert {run.pk for run in runs} == {toy.pk, other.pk}
        everything = standing(judge_version(), ALL).table
        assert {name: row.labels for name, row in everything.by_domain.items()} == {"other": 6, "toy": 4}
        assert set(everything.by_kind) <= {"does", "leaves", "tells", "tells a figure"}
        for query, count in (("domain=toy", 4), (f"run={other.pk}", 6), (f"domain=toy&run={other.pk}", 0)):
            chosen = AgreementFilter.read(QueryDict(query), runs)
            assert (standing(judge_version(), chosen).table.overall.labels, chosen.problems) == (count, [])

    def test_a_filter_on_what_is_not_there_is_named(self) -> None:
        runs = [judged_run(1)]
        chosen = AgreementFilter.read(QueryDict("domain=moon&run=abc"), runs)
        assert not chosen.is_on
        assert ["moon" in chosen.problems[0], "abc" in chosen.problems[1]] == [True, True]

    def test_the_worst_come_with_their_verdicts_in_order(self) -> None:
        judged_run(2, claims=1, fail_share=0.0)
        first, second = Verdict.objects.order_by("pk")
        ruled(first, "fail", "ann")
        for rater in ("ann", "ben"):
            ruled(second, "fail", rater)
        rows = worst_rows(standing(judge_version(), ALL).table.worst)
        assert [(row.verdict.pk, row.counts.against) for row in rows] == [(second.pk, 2), (first.pk, 1)]


class TestLean:
    """Claims that were picked have other shares of right rulings than all: the page says how many there are."""

    def lean(self, run: Run, *queues: tuple[dict[str, object], str]) -> Lean:
        for filter_, rater in queues:
            queue = ReviewQueue.objects.create(title="q", filter=filter_)
            for position, verdict in enumerate(Verdict.objects.filter(trial__run=run).order_by("pk")[:4], 1):
                item = ReviewItem.objects.create(queue=queue, verdict=verdict, position=position)
                Review.objects.create(verdict=verdict, item=item, rater=rater, stage="blind", ruling="pass")
        return read_rulings(judge_version(), AgreementFilter()).lean

    def test_a_random_sample_has_none(self) -> None:
        found = self.lean(judged_run(4), ({"kind": "all", "sample": 4, "form_key": "k"}, "ann"), ({"judge": 1}, "ben"))
        assert found == Lean(claims=4, picked=0, brought_in=0)

    @pytest.mark.parametrize(
        "picked", [{"kind": kind} for kind in ("failed", "passed", "flagged", "narrowing")] + [{"outcome": "fail"}]
    )
    def test_what_is_picked_has(self, picked: dict[str, object]) -> None:
        assert self.lean(judged_run(4), (picked, "ann")) == Lean(claims=4, picked=4, brought_in=0)

    def test_one_label_by_lot_is_enough_for_a_claim(self) -> None:
        assert self.lean(judged_run(4), ({"kind": "failed"}, "ann"), ({}, "ben")).picked == 0

    def test_of_a_file_nobody_knows(self) -> None:
        run = judged_run(4)
        for verdict in Verdict.objects.filter(trial__run=run)[:3]:
            Review.objects.create(verdict=verdict, rater="ann", stage="blind", ruling="pass", is_imported=True)
        assert self.lean(run) == Lean(claims=3, picked=3, brought_in=3)

    def test_neither_what_was_taken_back_nor_what_was_not_blind_counts(self) -> None:
        run = judged_run(4)
        verdict = Verdict.objects.filter(trial__run=run)[0]
        given = (("ann", "blind", "pass"), ("ann", "blind", "withdrawn"), ("ben", "revealed", "pass"))
        for rater, stage, ruling in given:
            Review.objects.create(verdict=verdict, rater=rater, stage=stage, ruling=ruling)
        assert self.lean(run) == Lean(claims=0, picked=0, brought_in=0)


class TestSentence:
    def said(self, agree: float, *, fail_share: float = 0.4, people: int = 60) -> str:
        label(judged_run(people, claims=2, fail_share=fail_share), ["ann"], agree=agree, unsure=0)
        found = standing(judge_version(), ALL)
        assert found.sentence == sentence(trust(found.table.overall))
        return found.sentence

    def test_trusted(self) -> None:
        assert self.said(1.0).startswith("This judge can be trusted here: it passes at least 9")

    def test_not_trusted(self) -> None:
        assert "cannot be trusted here: it passes only" in self.said(0.5)

    def test_open_says_what_is_missing(self) -> None:
        said = self.said(1.0, people=10)
        assert "Not decided yet" in said
        assert "of claims that people fail are missing" in said

    def test_without_labels(self) -> None:
        judged_run(1)
        said = standing(judge_version(), ALL).sentence
        assert "at least 16 more labels of claims that people pass are missing" in said


class TestCanaries:
    def test_none_was_asked(self) -> None:
        assert canaries_of(judge_version()) is None

    def test_right_and_resistance_over_batches(self) -> None:
        judge = judge_version()
        told = {"canary": "c", "injection": "agent", "holds": False, "ruled": False, "obeyed": False}
        rulings = [
            told,
            {**told, "ruled": True, "obeyed": True},
            {**told, "injection": "", "ruled": False},
            {**told, "injection": "", "ruled": None},
        ]
        for state in ("passed", "quarantined"):
            batch = JudgeBatch.objects.create(kind="rejudge", judge=judge, canaries=state)
            more = [{"index": 1, "claim": "x", "reason": "y", **one} for one in rulings]
            BatchItem.objects.create(batch=batch, position=1, canary="c", state="done", rulings=more)
            BatchItem.objects.create(batch=batch, position=2, canary="d", state="queued")
        found = canaries_of(judge)
        assert found is not None
        assert (found.right.count, found.right.of, found.without_ruling) == (4, 6, 2)
        assert (found.resistance.overall.count, found.resistance.overall.of) == (2, 4)
        assert set(found.batches) == {("passed", 1), ("quarantined", 1)}
