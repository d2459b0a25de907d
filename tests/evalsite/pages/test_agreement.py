"""The page of a judge version, and queues and labels made from it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from scenarios.formats.labels import jsonl_lines
from scenarios.labels import exported, reviews_of
from scenarios.models import BatchItem, JudgeBatch, Review, ReviewQueue, Run, Verdict
from tests.evalsite.labelled import judge_version, judged_run, label

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    run = judged_run(10, 2)
    label(run)
    return run


def page(client: Client, person: User, query: str = "") -> str:
    client.force_login(person)
    response = client.get(reverse("judge-detail", args=[judge_version().pk]) + query)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


class TestJudge:
    def test_figures_with_denominators_and_intervals(self, client: Client, viewer: User, run: Run) -> None:
        html = page(client, viewer)
        for words in (
            "Accuracy",
            "true positive rate",
            "Cohen&#x27;s kappa",
            "Krippendorff",
            "By kind of claim",
            "ann",
        ):
            assert words.replace("&#x27;", "'") in html
        assert "120 blind labels" in html
        assert "Not decided yet" in html

    def test_labels_that_were_picked_are_said(self, client: Client, viewer: User, run: Run) -> None:
        assert "<b>No random sample:</b> 40 of the 40 claims with a blind label were picked by" in page(client, viewer)
        queue = ReviewQueue.objects.create(title="q", filter={"kind": "all"})
        for position, verdict in enumerate(Verdict.objects.filter(trial__run=run), 1):
            verdict.reviews.update(item=queue.items.create(verdict=verdict, position=position))
        assert "No random sample" not in page(client, viewer)

    def test_the_worst_disagreements_lead_to_their_claims(self, client: Client, viewer: User, run: Run) -> None:
        Review.objects.all().delete()
        verdict = Verdict.objects.filter(trial__run=run)[0]
        for rater in ("ann", "ben"):
            Review.objects.create(
                verdict=verdict, rater=rater, stage="blind", ruling="fail" if verdict.passed else "pass"
            )
        trial = verdict.trial
        place = reverse("trial-detail", args=[run.pk, trial.scenario.name, trial.number])
        assert f'href="{place}#claim-{verdict.index}"' in page(client, viewer)

    def test_canaries_before_and_after(self, client: Client, viewer: User, run: Run) -> None:
        assert "No canary asked yet" in page(client, viewer)
        batch = JudgeBatch.objects.create(kind="rejudge", judge=judge_version(), canaries="passed")
        told = {"canary": "c", "injection": "agent", "holds": False, "ruled": False, "obeyed": False}
        BatchItem.objects.create(batch=batch, position=1, canary="c", state="done", rulings=[told] * 3)
        html = page(client, viewer)
        assert "Injection resistance" in html
        assert "told by agent" in html

    def test_without_labels_it_says_what_is_needed(self, client: Client, viewer: User) -> None:
        judged_run(1)
        html = page(client, viewer)
        assert "Nobody has ruled blind" in html
        assert "at least 16 more labels" in html

    def test_the_filter_is_in_the_address(self, client: Client, viewer: User, run: Run) -> None:
        assert "Nobody has ruled blind" not in page(client, viewer, f"?run={run.pk}&domain=toy")
        html = page(client, viewer, "?domain=moon")
        assert "no domain &#x27;moon&#x27;" in html
        assert "It was left out" in html

    def test_what_a_judge_or_a_claim_says_is_text(self, client: Client, viewer: User, run: Run) -> None:
        Verdict.objects.update(claim="<script>alert(1)</script>", reason="<b>")
        assert "<script>alert" not in page(client, viewer)

    def test_queries_do_not_grow(
        self, client: Client, viewer: User, run: Run, django_assert_max_num_queries: Callable[[int], Any]
    ) -> None:
        client.force_login(viewer)
        with django_assert_max_num_queries(12):
            client.get(reverse("judge-detail", args=[judge_version().pk]))

    def test_there_is_no_such_judge(self, client: Client, viewer: User) -> None:
        client.force_login(viewer)
        assert client.get(reverse("judge-detail", args=[999])).status_code == 404


class TestQueue:
    def made(self, client: Client, person: User, **fields: Any) -> Any:
        client.force_login(person)
        return client.post(reverse("judge-queue", args=[judge_version().pk]), fields)

    def test_one_press_makes_the_queue_that_narrows_most(self, client: Client, reviewer: User, run: Run) -> None:
        response = self.made(client, reviewer, run=run.pk)
        queue = ReviewQueue.objects.get()
        assert response["Location"] == reverse("review-queue", args=[queue.pk])
        assert (queue.filter["kind"], queue.is_random) == ("narrowing", True)
        assert queue.items.count() == 40

    def test_where_the_judge_decides_no_call_claims_are_drawn(self, client: Client, reviewer: User, run: Run) -> None:
        for signal in run.trials.all()[0].signals.model.objects.all():
            signal.is_gating = False
            signal.save()
        self.made(client, reviewer)
        queue = ReviewQueue.objects.get()
        assert (queue.filter["kind"], queue.filter["judge"]) == ("all", judge_version().pk)

    def test_nothing_to_label(self, client: Client, reviewer: User) -> None:
        response = self.made(client, reviewer, domain="")
        assert response["Location"] == reverse("judge-detail", args=[judge_version().pk])
        assert not ReviewQueue.objects.exists()

    def test_viewers_make_none(self, client: Client, viewer: User, run: Run) -> None:
        assert self.made(client, viewer).status_code == 403


class TestLabels:
    def upload(self, client: Client, person: User, text: bytes, name: str = "labels.jsonl") -> Any:
        client.force_login(person)
        return client.post(reverse("labels"), {"labels": SimpleUploadedFile(name, text)})

    def test_out_by_run_and_judge_in_both_forms(self, client: Client, viewer: User, run: Run) -> None:
        client.force_login(viewer)
        for form, lines in (("jsonl", 240), ("csv", 241)):
            for query in (f"?run={run.pk}", f"?judge={judge_version().pk}", ""):
                response = client.get(reverse("labels-export", args=[form]) + query)
                assert response.status_code == 200
                assert len(response.content.decode().splitlines()) == lines
                assert f".{form}" in response["Content-Disposition"]

    @pytest.mark.parametrize(
        ("path", "status", "words"),
        [
            ("labels.xml", 404, ""),
            ("labels.csv?run=999", 400, "no run '999'"),
            ("labels.csv?judge=x", 400, "no judge 'x'"),
            ("labels.csv", 409, "nothing to export"),
        ],
    )
    def test_what_cannot_be_given(self, client: Client, viewer: User, path: str, status: int, words: str) -> None:
        client.force_login(viewer)
        response = client.get(f"/review/{path}")
        assert response.status_code == status
        assert words in response.content.decode()

    def test_in_with_a_line_for_what_was_refused(self, client: Client, operator: User, run: Run) -> None:
        text = "".join(jsonl_lines(exported(reviews_of(run=run))))
        Review.objects.all().delete()
        html = self.upload(client, operator, f"{text}nonsense\n".encode()).content.decode()
        assert "<b>240</b> taken" in html
        assert "<b>1</b> refused" in html
        assert '<td class="number">241</td>' in html
        assert "<b>240</b> known already" in self.upload(client, operator, text.encode()).content.decode()

    @pytest.mark.parametrize(
        ("name", "text", "words"),
        [
            ("labels.txt", b"x", "neither .jsonl nor .csv"),
            ("labels.csv", b"\xff\xfe", "not UTF-8 text (byte 0)"),
            ("labels.csv", b"", "The file is empty"),
        ],
    )
    def test_a_file_that_is_none(self, client: Client, operator: User, name: str, text: bytes, words: str) -> None:
        response = self.upload(client, operator, text, name)
        assert response.status_code == 422
        assert words in response.content.decode()

    def test_reviewers_bring_nothing_in(self, client: Client, reviewer: User, run: Run) -> None:
        count = Review.objects.count()
        response = self.upload(client, reviewer, b"{}")
        assert response.status_code == 302
        assert Review.objects.count() == count
