"""Settling disagreements: who may, on what grounds, and what it makes of the call."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from scenarios.models import EffectiveVerdict, Review, Run, Trial, Verdict
from scenarios.reviewing import adjudicate
from tests.evalsite.pages.reviewing import HTMX, desk_of, queue_of, reviewed_run

pytestmark = pytest.mark.django_db
Make = Callable[[str, str], User]


@pytest.fixture
def run() -> Run:
    return reviewed_run(1)


@pytest.fixture
def disputed(run: Run, person: Make) -> Verdict:
    """The first claim: the judge says that it does not hold, ann says it does, ben agrees with the judge."""
    queue = queue_of(run, reviews_per_item=2, sample=None)
    desk_of(person("reviewer", "ann"), queue).rule("pass", "both are named").rule("pass", "still")
    desk_of(person("reviewer", "ben"), queue).rule("fail", "only one").rule("fail")
    return Verdict.objects.get(trial__run=run, index=1)


@pytest.fixture
def olga(person: Make, client: Client) -> User:
    olga = person("operator", "olga")
    client.force_login(olga)
    return olga


def settle(client: Client, verdict: Verdict, ruling: str, reason: str, **values: str) -> str:
    answer = client.post(
        f"/review/adjudicate/{verdict.pk}/", {"ruling": ruling, "comment": reason, **values}, headers=HTMX
    )
    assert answer.status_code == 200
    return answer.content.decode()


def test_all_rulings_stand_side_by_side(disputed: Verdict, olga: User, client: Client) -> None:
    html = client.get("/review/adjudicate/").content.decode()
    for text in ("Only one shirt is ever spoken of", "still", "only one", "ann", "ben", "<b>1</b> open for you"):
        assert text in html
    assert html.count('class="position"') == 3
    assert "History: 4 reviews" in html


def test_a_settlement_decides_the_call_and_the_next_comes(disputed: Verdict, olga: User, client: Client) -> None:
    # While reviewers disagree the judge's ruling counts.
    assert Trial.objects.get().outcome == "fail"
    html = settle(client, disputed, "pass", "turn 5 names both", submit_key="k1")
    assert "No disagreement waits for you." in html
    assert "Settled:" in html
    trial = Trial.objects.get()
    assert (trial.outcome, trial.judged_outcome) == ("pass", "fail")
    assert EffectiveVerdict.objects.get(verdict=disputed).by == "adjudicator"
    # The same form once more, as a double press sends it.
    settle(client, disputed, "pass", "turn 5 names both", submit_key="k1")
    assert Review.objects.filter(stage="adjudication").count() == 1


def test_a_reason_is_asked_for_and_what_was_chosen_stays(disputed: Verdict, olga: User, client: Client) -> None:
    html = settle(client, disputed, "pass", " ")
    assert "say why" in html.lower()
    assert 'data-pending="pass"' in html
    assert not Review.objects.filter(stage="adjudication").exists()


def test_it_can_be_taken_back(disputed: Verdict, olga: User, client: Client) -> None:
    settle(client, disputed, "pass", "turn 5 names both")
    html = client.post(f"/review/adjudicate/{disputed.pk}/undo/", headers=HTMX).content.decode()
    assert "Taken back" in html
    assert "History: 6 reviews" in html
    assert Trial.objects.get().outcome == "fail"
    again = client.post(f"/review/adjudicate/{disputed.pk}/undo/", headers=HTMX).content.decode()
    assert "no ruling of yours" in again


def test_who_reviewed_the_claim_does_not_settle_it(disputed: Verdict, person: Make, client: Client) -> None:
    judge = person("operator", "carl")
    Review.objects.create(verdict=disputed, reviewer=judge, rater="carl", stage="revealed", ruling="pass")
    client.force_login(judge)
    html = client.get("/review/adjudicate/").content.decode()
    assert "No disagreement waits for you." in html
    assert "you reviewed that claim yourself" in html
    assert "you reviewed this claim yourself" in settle(client, disputed, "pass", "because").lower()
    assert not EffectiveVerdict.objects.filter(verdict=disputed).exists()


def test_one_that_somebody_settled_meanwhile_is_not_settled_twice(
    disputed: Verdict, olga: User, person: Make, client: Client
) -> None:
    adjudicate(disputed, person("operator", "otto"), "fail", "only one")
    html = settle(client, disputed, "pass", "I typed this")
    assert "Somebody settled this claim meanwhile" in html
    assert "I typed this" in html
    assert EffectiveVerdict.objects.get(verdict=disputed).passed is False


def test_reviewers_do_not_adjudicate(disputed: Verdict, person: Make, client: Client) -> None:
    client.force_login(person("reviewer", "dora"))
    assert client.get("/review/adjudicate/").status_code == 403
    assert client.post(f"/review/adjudicate/{disputed.pk}/", {"ruling": "pass"}).status_code == 403


@pytest.mark.parametrize("query", ["verdict=x", "verdict=999999", "after=²", f"verdict={'9' * 30}"])
def test_odd_addresses_show_what_there_is(query: str, disputed: Verdict, olga: User, client: Client) -> None:
    answer = client.get(f"/review/adjudicate/?{query}")
    assert answer.status_code == 200
    assert "The agent says the material" in answer.content.decode()


def test_the_call_page_tells_who_ruled_what(disputed: Verdict, olga: User, client: Client) -> None:
    trial = Trial.objects.get()
    address = f"/runs/{trial.run_id}/trials/{trial.scenario.name}/{trial.number}/"
    html = client.get(address).content.decode()
    assert "Reviewers disagree" in html
    assert f"/review/adjudicate/?verdict={disputed.pk}" in html
    settle(client, disputed, "pass", "turn 5 names both")
    html = client.get(address).content.decode()
    assert "<b>overruled to pass</b> by olga" in html
    assert "<b>Overruled</b> by adjudicator <b>olga</b>" in html
    for comment in ("both are named", "only one", "turn 5 names both"):
        assert comment in html
    assert 'data-kind="outcome.revised"' in html
