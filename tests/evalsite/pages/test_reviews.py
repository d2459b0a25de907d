"""Queues: what there is, a new one, and what the pages of runs and the home page say about them."""

import json
import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evalsite.review_item import MAX_ROWS
from evalsite.run_summary import as_json, as_table
from scenarios.models import ReviewQueue, Run, Trial, Verdict
from scenarios.standing import standings
from tests.calls import Call, score_exchange
from tests.evalsite.pages.reviewing import HTMX, desk_of, queue_of, reviewed_run, tell
from tests.factories import make_run

pytestmark = pytest.mark.django_db
Make = Callable[[str, str], User]
FORM = {"kind": "all", "seed": "1", "reviews_per_item": "1", "lease_minutes": "30", "is_blind": "on"}


@pytest.fixture
def run() -> Run:
    return reviewed_run()


@pytest.fixture
def ann(person: Make, client: Client) -> User:
    ann = person("reviewer", "ann")
    client.force_login(ann)
    return ann


def count(client: Client, **values: object) -> str:
    return client.post("/review/new/count/", {**FORM, **values}, headers=HTMX).content.decode()


class TestNew:
    def test_the_count_follows_the_filter(self, run: Run, ann: User, client: Client) -> None:
        assert '<span class="figure">6</span> claims in 2 calls' in count(client)
        assert '<span class="figure">2</span> claims' in count(client, kind="failed")
        html = count(client, sample="1", reviews_per_item="3")
        assert '<span class="figure">1</span> claim in 1 call' in html
        assert "3 reviews to give" in html
        trial = run.trials.all()[0]
        one = count(client, runs=str(run.pk), scenario=trial.scenario.name, number="1")
        assert '<span class="figure">3</span> claims in 1 call' in one
        assert "Nothing is found" in count(client, outcome="pass")

    def test_what_correct_a_rate_is_said(self, run: Run, ann: User, client: Client) -> None:
        assert "may correct a rate" in count(client)
        assert "correct no rate" in count(client, outcome="fail")
        assert "knows the judge's ruling before giving their own" in count(client, kind="failed")

    def test_it_is_made_and_worked(self, run: Run, ann: User, client: Client) -> None:
        answer = client.post("/review/new/", {**FORM, "runs": f"#{run.pk}", "reviews_per_item": "2"}, follow=True)
        queue = ReviewQueue.objects.get()
        assert (queue.title, queue.reviews_per_item, queue.is_blind, queue.created_by) == (
            "Claims of Release 4",
            2,
            True,
            ann,
        )
        assert "Review 6" in answer.content.decode()

    def test_a_form_sent_twice_makes_one_queue(self, run: Run, ann: User, client: Client) -> None:
        page = client.get(f"/review/new/?runs={run.pk}").content.decode()
        found = re.search(r'name="form_key" value="([0-9a-f]{32})"', page)
        assert found is not None
        form = {**FORM, "runs": str(run.pk), "form_key": found[1]}
        for _ in range(2):
            assert client.post("/review/new/", form).status_code == 302
        assert ReviewQueue.objects.count() == 1
        # What was changed since is another queue, and so is the next form.
        client.post("/review/new/", {**form, "sample": "1"})
        client.post("/review/new/", {**form, "form_key": "0" * 32})
        assert ReviewQueue.objects.count() == 3

    def test_so_do_the_buttons_of_one_press(self, run: Run, ann: User, client: Client) -> None:
        judge = Verdict.objects.filter(trial__run=run, signal="nl_assertion").values_list("judge", flat=True)[0]
        for address in (f"/runs/{run.pk}/labels-queue/", f"/judges/{judge}/queue/"):
            ReviewQueue.objects.all().delete()
            for key in ("a" * 32, "a" * 32, "b" * 32):
                client.post(address, {"form_key": key})
            assert ReviewQueue.objects.count() == 2, address

    @pytest.mark.parametrize(
        ("values", "said"),
        [
            ({"runs": "x"}, "is no number of a run"),
            ({"runs": "99999"}, "There is no run 99999"),
            ({"runs": ",".join(map(str, range(1, 200)))}, "at most 100 runs"),
            ({"scenario": "nowhere__1"}, "No scenario is called"),
            ({"number": "1"}, "Give the scenario too"),
            ({"kind": "every"}, "Select a valid choice"),
            ({"sample": "0"}, "greater than or equal to 1"),
            ({"seed": "-1"}, "greater than or equal to 0"),
            ({"reviews_per_item": "10"}, "less than or equal to 9"),
            ({"lease_minutes": ""}, "required"),
            ({"kind": "flagged", "outcome": "pass"}, "there are no claims with a flag"),
        ],
    )
    def test_bad_input_is_named(self, values: dict[str, str], said: str, run: Run, ann: User, client: Client) -> None:
        answer = client.post("/review/new/", {**FORM, **values})
        assert answer.status_code == 422
        assert said in answer.content.decode().replace("&#x27;", "'")
        assert not ReviewQueue.objects.exists()

    def test_buttons_lead_here(self, run: Run, ann: User, client: Client) -> None:
        assert f"/review/new/?runs={run.pk}" in client.get(f"/runs/{run.pk}/").content.decode()
        trial = run.trials.all()[0]
        call = client.get(f"/runs/{run.pk}/trials/{trial.scenario.name}/1/").content.decode()
        assert f"/review/new/?runs={run.pk}&amp;scenario={trial.scenario.name}&amp;number=1" in call
        form = client.get(f"/review/new/?runs={run.pk}&scenario={trial.scenario.name}&number=1").content.decode()
        assert f'value="{trial.scenario.name}"' in form


class TestList:
    def test_progress_and_what_waits(self, run: Run, ann: User, client: Client) -> None:
        queue = queue_of(run, ann)
        desk_of(ann, queue).rule("fail").rule("fail")
        html = client.get("/review/").content.decode()
        assert "<b>1</b> of 6" in html
        assert "Review 5" in html
        assert "1 by you" in html

    def test_labels_of_a_queue_are_one_press_away(self, run: Run, ann: User, person: Make, client: Client) -> None:
        queue = queue_of(run, ann, sample=1)
        link = f"/review/labels.jsonl?queue={queue.pk}"
        assert link not in client.get("/review/").content.decode(), "there is none yet"
        ben = person("reviewer", "ben")
        other = Client()
        other.force_login(ben)
        slow = queue_of(run, ann, scenario=run.trials.all()[0].scenario.name)
        desk_of(ann, slow).rule("fail").rule("fail")
        # Who still rules blind in it is not led to what the others said.
        assert f"?queue={slow.pk}" in client.get("/review/").content.decode()
        assert f"?queue={slow.pk}" not in other.get("/review/").content.decode()
        desk_of(ben, queue).rule("pass").rule("pass")
        for reader in (client, other):
            page = reader.get("/review/").content.decode()
            assert link in page
            assert link.replace("jsonl", "csv") in page
        assert link in other.get(f"/review/{queue.pk}/").content.decode()
        lines = client.get(link).content.decode().splitlines()
        assert [json.loads(line)["rater"] for line in lines] == ["ben", "ben"]

    def test_who_works_a_blind_queue_is_not_told_its_kind(self, run: Run, ann: User, person: Make) -> None:
        queue_of(run, ann, kind="failed")
        other = Client()
        other.force_login(person("reviewer", "ben"))
        assert "claims that the judge failed" not in other.get("/review/").content.decode()
        other.force_login(person("operator", "olga"))
        assert "claims that the judge failed" in other.get("/review/").content.decode()

    def test_closing_is_for_its_maker_and_operators(self, run: Run, ann: User, person: Make, client: Client) -> None:
        queue = queue_of(run, person("reviewer", "ben"))
        answer = client.post(f"/review/{queue.pk}/close/", follow=True)
        assert "was made by ben" in answer.content.decode()
        client.force_login(person("operator", "olga"))
        client.post(f"/review/{queue.pk}/close/")
        assert ReviewQueue.objects.get().closed_at is not None
        assert "nothing left" not in client.get("/review/").content.decode()
        client.post(f"/review/{queue.pk}/close/")
        assert ReviewQueue.objects.get().closed_at is None

    def test_the_first_time_it_says_what_will_be_here(self, ann: User, client: Client) -> None:
        assert "No queue yet." in client.get("/review/").content.decode()


class TestElsewhere:
    def test_home_says_what_waits_for_whom(self, run: Run, ann: User, person: Make, client: Client) -> None:
        queue = queue_of(run)
        assert "Review 6 claims" in client.get("/").content.decode()
        desk_of(ann, queue).rule("pass").rule("pass")
        html = client.get("/").content.decode()
        assert "Review 5 claims" in html
        assert "to settle" not in html
        client.force_login(person("operator", "olga"))
        assert "1 disagreement to settle" in client.get("/").content.decode()
        client.force_login(person("viewer", "vera"))
        assert "Review 5 claims" not in client.get("/").content.decode()

    def test_navigation_is_for_reviewers(self, ann: User, person: Make, client: Client) -> None:
        assert 'href="/review/"' in client.get("/runs/").content.decode()
        client.force_login(person("viewer", "vera"))
        assert 'href="/review/"' not in client.get("/runs/").content.decode()

    def test_lists_and_cells_tell_what_people_changed(self, run: Run, ann: User, client: Client) -> None:
        desk_of(ann, queue_of(run)).rule("pass").rule("pass")
        assert "1 claim overruled, 1 to pass" in client.get("/runs/").content.decode()
        html = client.get(f"/runs/{run.pk}/").content.decode()
        assert html.count("by-people") == 1
        assert 'data-live="run"' in html
        shown = client.get(f"/runs/{run.pk}/?people=1").content.decode()
        trial = Trial.objects.get(judged_outcome="fail")
        assert f'id="cell-{trial.pk}"' in shown
        assert shown.count('id="cell-') == 1

    def test_a_run_that_nobody_reviews_is_as_it_was(self, run: Run, ann: User, client: Client) -> None:
        html = client.get(f"/runs/{run.pk}/").content.decode()
        assert "overruled" not in html
        assert 'data-live="run"' not in html

    def test_a_claim_overruled_without_another_outcome_is_told_too(self, run: Run, ann: User, client: Client) -> None:
        Verdict.objects.filter(index=2).update(passed=False)
        desk_of(ann, queue_of(run)).rule("pass").rule("pass")
        html = client.get(f"/runs/{run.pk}/").content.decode()
        assert "<b>1 of 6</b> claims overruled by people; no call changed by it" in html
        trial = run.trials.get(overruled_count=1)
        call = client.get(f"/runs/{run.pk}/trials/{trial.scenario.name}/1/").content.decode()
        assert "1 claim overruled by ann; the outcome is the same" in call

    def test_comparisons_trends_and_files_tell_it_too(self, run: Run, ann: User, client: Client) -> None:
        other = make_run(2, 1, ["fail"], title="Release 3")
        desk_of(ann, queue_of(run)).rule("pass").rule("pass")
        html = client.get(f"/compare/?runs={other.pk},{run.pk}").content.decode()
        assert html.count("people overruled 1 claim, 1 call changed") == 1
        assert client.get("/trends/?domain=toy").content.decode().count("people changed 1 call") == 1
        told = json.loads(as_json(standings([run])[run.pk]))
        assert (told["claims_overruled"], told["changed_by_people"]) == (1, {"pass": 1})
        assert (told["rate"]["passes"], told["rate_as_judged"]["passes"]) == (1, 0)
        assert "as judged, before people ruled" in as_table(standings([run])[run.pk])


class TestLongCalls:
    def test_the_rest_of_a_long_call_comes_when_it_is_asked_for(self, ann: User) -> None:
        run = make_run(1, 1, ["fail"])
        trial = run.trials.get()
        trial.last_seq = 0
        call = Call(trial).begin()
        for number in range(MAX_ROWS):
            call.turn("user" if number % 2 else "agent", f"words of turn {number + 1}")
        call.turn("agent", "The very last words.").end()
        score_exchange(trial)
        tell(call)
        desk = desk_of(ann, queue_of(run))
        assert "words of turn 150" in desk.html
        assert "The very last words." not in desk.html
        rest = re.search(r'hx-get="([^"]*/events/\?from=\d+)"', desk.html)
        assert rest is not None
        html = desk.client.get(rest[1]).content.decode()
        assert "The very last words." in html
        assert "words of turn 150" not in html
        for kind in ("verdict.given", "trial.finished", "outcome.revised"):
            assert kind not in html
