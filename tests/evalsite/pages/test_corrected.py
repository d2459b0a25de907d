"""What the run page loads when opened: the corrected headline, and whose fault failures are; and the call's panel."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from evalsite.corrected import corrected
from scenarios import faults
from scenarios.analysis.correction import MIN_LABELS
from scenarios.lifecycle import settle
from scenarios.models import FaultRuling, ReviewItem, ReviewQueue, Run, Trial, Verdict
from tests.evalsite.labelled import judged_run, label
from tests.factories import make_run
from tests.scenarios.test_faults import front_run, held

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def sampled(run: Run) -> None:
    """Let all labels of a run come from a random queue."""
    queue = ReviewQueue.objects.create(title="q", is_random=True)
    for position, verdict in enumerate(Verdict.objects.filter(trial__run=run), 1):
        item = ReviewItem.objects.create(queue=queue, verdict=verdict, position=position)
        verdict.reviews.update(item=item)


def get(client: Client, person: User, path: str, **options: Any) -> str:
    client.force_login(person)
    response = client.get(path, **options)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


class TestCorrected:
    def test_three_forms_and_what_people_changed(self, client: Client, viewer: User) -> None:
        run = judged_run(20, claims=1)
        label(run, ["ann"], agree=0.8, unsure=0, toward=0)
        sampled(run)
        settle(run.trials.values_list("pk", flat=True))
        found = corrected(run)
        assert found.headline.overridden.count == run.trials.filter(outcome="pass").count()
        assert found.headline.corrected.figure.value == found.headline.overridden.value
        assert (found.judged, found.labelled, found.missing) == (20, 20, [])
        html = get(client, viewer, reverse("run-corrected", args=[run.pk]), headers=HTMX)
        assert f"people turned {found.headline.to_pass} call" in html
        assert "points from the size of the run" in html
        assert "<html" not in html

    def test_a_refusal_says_how_many_labels_each_class_lacks(self, client: Client, viewer: User) -> None:
        run = judged_run(30, claims=1)
        html = get(client, viewer, reverse("run-corrected", args=[run.pk]), headers=HTMX)
        assert "<b>Refused.</b>" in html
        assert f"{MIN_LABELS} more of calls that the judge passed" in html
        assert f"{MIN_LABELS} more of calls that the judge failed" in html

    def test_labels_needed_or_not_to_be_had(self, client: Client, viewer: User) -> None:
        small = judged_run(10, claims=1)
        assert "not to be had" in get(client, viewer, reverse("run-corrected", args=[small.pk]), headers=HTMX)
        needed = corrected(judged_run(200, 8, claims=1)).needed
        assert needed is not None
        assert needed.labels
        assert needed.reachable <= 0.03

    def test_a_run_without_a_judge_has_nothing_to_correct(self, client: Client, viewer: User) -> None:
        run = make_run(2, 1, ["pass"])
        assert corrected(run).needed is None
        assert "nothing to correct" in get(client, viewer, reverse("run-corrected", args=[run.pk]), headers=HTMX)

    def test_without_script_it_is_a_page(self, client: Client, viewer: User) -> None:
        run = judged_run(2)
        assert "<html" in get(client, viewer, reverse("run-corrected", args=[run.pk]))

    def test_the_run_page_computes_none_of_it(self, client: Client, viewer: User) -> None:
        run = judged_run(2)
        html = get(client, viewer, reverse("run-detail", args=[run.pk]))
        assert f'hx-get="{reverse("run-corrected", args=[run.pk])}"' in html
        assert "As judged" not in html
        assert "toggle once" in html
        assert 'id="open-judge" open' in get(client, viewer, reverse("run-detail", args=[run.pk]) + "?open=judge")

    def test_the_queue(self, client: Client, viewer: User, reviewer: User) -> None:
        run = judged_run(4, claims=2)
        path = reverse("run-labels-queue", args=[run.pk])
        client.force_login(viewer)
        assert client.post(path).status_code == 403
        client.force_login(reviewer)
        assert client.post(path)["Location"] == reverse("review-queue", args=[ReviewQueue.objects.get().pk])
        assert ReviewQueue.objects.get().items.count() == 8
        plain = make_run(1, 1, ["pass"])
        response = client.post(reverse("run-labels-queue", args=[plain.pk]))
        assert response["Location"] == f"{reverse('run-detail', args=[plain.pk])}?open=judge"


class TestFaults:
    @pytest.fixture
    def run(self) -> Run:
        run = front_run(3)
        for trial in run.trials.all():
            held(trial)
        return run

    def test_rates_and_counts_lead_to_the_calls(self, client: Client, viewer: User, reviewer: User, run: Run) -> None:
        first, second, _ = run.trials.order_by("pk")
        faults.rule_on(first, reviewer, "caller", "hung up")
        faults.attribute([second.pk])
        html = get(client, viewer, reverse("run-faults", args=[run.pk]), headers=HTMX)
        page = reverse("run-detail", args=[run.pk])
        for side in ("caller", "agent", "undecided"):
            assert f'href="{page}?fault={side}&amp;open=faults"' in html
        assert "3 failed calls" in html
        assert "2 calls</b> are not attributed yet" in html
        grid = get(client, viewer, f"{page}?fault=caller")
        assert "<option selected>caller</option>" in grid
        client.force_login(viewer)
        cells = client.get(f"{page}?fault=caller").context["grid"][0].cells
        assert [cell.is_other for cell in cells] == [False, True, True]
        assert client.get(f"{page}?fault=speech").context["grid"] == []
        assert "no side at fault &#x27;moon&#x27;" in get(client, viewer, f"{page}?fault=moon")

    def test_reading_the_records_is_for_reviewers(self, client: Client, viewer: User, reviewer: User, run: Run) -> None:
        path = reverse("run-faults", args=[run.pk])
        client.force_login(viewer)
        client.post(path)
        assert not FaultRuling.objects.exists()
        client.force_login(reviewer)
        assert client.post(path)["Location"] == f"{reverse('run-detail', args=[run.pk])}?open=faults"
        assert set(run.trials.values_list("fault", flat=True)) == {"agent"}
        assert "not attributed yet" not in get(client, viewer, path, headers=HTMX)

    def test_one_press_reads_for_a_while_only(
        self, client: Client, reviewer: User, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("evalsite.pages.corrected.SLICE", 1)
        moments = iter([0.0, 1.0, 99.0])
        monkeypatch.setattr("evalsite.pages.corrected.time.monotonic", lambda: next(moments))
        client.force_login(reviewer)
        html = client.post(reverse("run-faults", args=[run.pk]), headers=HTMX).content.decode()
        assert "2 calls</b>" in html
        assert 'hx-trigger="load, submit"' in html

    def test_exports_take_the_filter(self, client: Client, viewer: User, run: Run) -> None:
        faults.attribute(faults.due(run))
        html = get(client, viewer, reverse("run-detail", args=[run.pk]) + "?fault=agent")
        assert "fault=agent" in html
        assert "fault agent" in html


class TestCallPanel:
    @pytest.fixture
    def trial(self) -> Trial:
        return held(front_run().trials.get())

    def path(self, trial: Trial, name: str = "trial-fault") -> str:
        return reverse(name, args=[trial.run_id, trial.scenario.name, trial.number])

    def test_the_page_says_the_side_and_loads_the_rest(self, client: Client, viewer: User, trial: Trial) -> None:
        assert "Not attributed yet" in get(client, viewer, self.path(trial, "trial-detail"))
        faults.attribute([trial.pk])
        html = get(client, viewer, self.path(trial, "trial-detail"))
        assert '<span class="chip">agent</span> <span class="soft small">by rule</span>' in html
        assert 'hx-get="fault/"' in html

    def test_clues_lead_to_their_events(self, client: Client, viewer: User) -> None:
        trial = held(front_run().trials.get(), said="For LH101 and LH999.")
        html = get(client, viewer, self.path(trial))
        assert "gave no sign" in html
        assert "decides" in html
        assert "made up lh999" in html
        assert 'href="?at=turn-1&amp;tab=fault#turn-1"' in html
        assert "<form" not in html

    def test_a_reviewer_says_so_with_a_reason(self, client: Client, reviewer: User, trial: Trial) -> None:
        client.force_login(reviewer)
        html = client.post(self.path(trial), {"side": "speech", "reason": "line <dead>"}, headers=HTMX).content.decode()
        assert "Now: <b>speech</b>, by a person" in html
        assert "line &lt;dead&gt;" in html
        assert Trial.objects.get(pk=trial.pk).fault == "speech"
        assert "take the word back" in html

    def test_what_was_typed_stays_when_it_is_refused(self, client: Client, reviewer: User, trial: Trial) -> None:
        client.force_login(reviewer)
        html = client.post(self.path(trial), {"side": "moon", "reason": "my words"}, headers=HTMX).content.decode()
        assert "&#x27;moon&#x27; is no side" in html
        assert "my words</textarea>" in html
        assert client.post(self.path(trial), {"side": "moon", "reason": "x"}).status_code == 302

    def test_viewers_say_nothing(self, client: Client, viewer: User, trial: Trial) -> None:
        client.force_login(viewer)
        html = client.post(self.path(trial), {"side": "speech", "reason": "x"}, headers=HTMX).content.decode()
        assert "Only reviewers" in html
        assert not FaultRuling.objects.exists()

    def test_a_pass_can_be_doubted_and_other_calls_have_no_side(
        self, client: Client, reviewer: User, trial: Trial
    ) -> None:
        Trial.objects.filter(pk=trial.pk).update(outcome="pass")
        assert "Whose doing" in get(client, reviewer, self.path(trial, "trial-detail"))
        assert "It passed by the doing of" in get(client, reviewer, self.path(trial))
        Trial.objects.filter(pk=trial.pk).update(outcome="infra_error")
        assert 'id="fault"' not in get(client, reviewer, self.path(trial, "trial-detail"))
