"""Pages of judging again: asking for it, watching it, saving it, and who may."""

from collections.abc import Iterator
from unittest.mock import patch

import pytest
from django.contrib.auth.models import User
from django.test import Client

from scenarios.models import BatchItem, JudgeBatch, Run, Verdict
from tests.calls import exchange_call, score_exchange
from tests.factories import make_profile, make_run, make_scenario, make_trial

pytestmark = pytest.mark.django_db


@pytest.fixture
def woken() -> Iterator[list[int]]:
    pks: list[int] = []
    with patch("evalsite.pages.judge_batches.wake_batch", pks.append):
        yield pks


@pytest.fixture
def site(client: Client, operator: User) -> Client:
    client.force_login(operator)
    return client


@pytest.fixture
def run() -> Run:
    """One judged call, and a judge that is to rule again, at a price."""
    made = make_run(1, 1, ["fail"])
    trial = exchange_call(made.trials.get()).end().trial
    score_exchange(trial)
    trial.scenario.claim_count = 3
    trial.scenario.save()
    trial.judgings.update(prompt_tokens=1000, completion_tokens=100)
    make_profile("other", "judge", prompt_price=10.0, completion_price=100.0)
    return made


def text_of(client: Client, url: str, status: int = 200, **headers: str) -> str:
    response = client.get(url, **headers)  # type: ignore[arg-type]
    assert response.status_code == status
    return " ".join(response.content.decode().split())


def begin(site: Client, **data: object) -> JudgeBatch:
    response = site.post("/judges/again/", {"judge": "other", "kind": "rejudge", **data})
    batch = JudgeBatch.objects.latest("pk")
    assert response.status_code == 302
    assert response.headers["Location"] == f"/judges/batches/{batch.pk}/"
    return batch


def end(batch: JudgeBatch, **fields: object) -> None:
    """Let a worker have ruled the first claim the other way, with canaries that passed."""
    item = batch.items.exclude(trial=None)[0]
    verdict = Verdict.objects.get(index=1)
    ruling = {"index": 1, "claim": verdict.claim, "passed": True, "reason": "<i>Both</i> are cotton.", "error": ""}
    ruling |= {"was": False, "was_reason": "Only one shirt.", "was_judge": "x", "flagged": True}
    columns = {"state": "done", "rulings": [ruling], "flips": 1, "cost": 0.02}
    BatchItem.objects.filter(pk=item.pk).update(outcome_before="fail", outcome_after="pass", **columns)
    values = {"state": "done", "canaries": "passed", "canary_reason": "right on 16", **fields}
    JudgeBatch.objects.filter(pk=batch.pk).update(**values)


def test_the_form_says_how_many_calls_and_about_what_it_costs(site: Client, run: Run) -> None:
    text = text_of(site, f"/judges/again/?runs={run.pk}")
    assert "<b>1</b> call that asks a judge, and 7 canaries" in text
    assert "$0.02" in text
    assert f'name="runs" value="{run.pk}"' in text
    assert f'href="/judges/again/?runs={run.pk}"' in text_of(site, f"/runs/{run.pk}/")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "say which run or call"),
        ("?runs=9999", "there is no run 9999"),
        ("?runs=1;2", "is no number"),
        ("?trial=9999", "there is no call 9999"),
    ],
)
def test_a_wrong_address_is_named(site: Client, run: Run, query: str, message: str) -> None:
    assert message in text_of(site, f"/judges/again/{query}", 422)


def test_a_batch_is_made_woken_and_watched(site: Client, run: Run, woken: list[int], operator: User) -> None:
    batch = begin(site, runs=str(run.pk))
    assert woken == [batch.pk]
    assert (batch.kind, batch.created_by, batch.items.count()) == ("rejudge", operator, 8)
    assert batch.config["slug"] == "other"
    assert batch.judge is not None
    assert 'hx-trigger="every 1s"' in text_of(site, f"/judges/batches/{batch.pk}/")
    part = site.get(f"/judges/batches/{batch.pk}/", HTTP_HX_REQUEST="true")
    assert "HX-Refresh" not in part.headers
    assert b"0 of 8 requests answered" in part.content
    assert b"<html" not in part.content
    end(batch)
    assert site.get(f"/judges/batches/{batch.pk}/", HTTP_HX_REQUEST="true").headers["HX-Refresh"] == "true"


def test_the_result_lists_flips_with_both_reasons_and_a_link(site: Client, run: Run, woken: list[int]) -> None:
    batch = begin(site, runs=str(run.pk))
    end(batch)
    text = text_of(site, f"/judges/batches/{batch.pk}/")
    trial = run.trials.get()
    assert f'href="/runs/{run.pk}/trials/{trial.scenario.name}/1/#claim-1"' in text
    assert "Only one shirt." in text
    assert "&lt;i&gt;Both&lt;/i&gt; are cotton." in text
    assert "A dry run: nothing is saved yet" in text
    assert "0/1" in text  # claims passed before, of the one that was ruled on
    assert "every 1s" not in text
    assert "judged again" in text_of(site, f"/judges/batches/?run={run.pk}")


def test_saving_asks_a_worker_once(site: Client, run: Run, woken: list[int], operator: User) -> None:
    batch = begin(site, runs=str(run.pk))
    url = f"/judges/batches/{batch.pk}/save/"
    assert "Not saved: its canaries are not decided yet" in site.post(url, follow=True).content.decode()
    end(batch, canaries="quarantined", canary_reason="obeyed")
    assert "Not saved: its canaries are quarantined: obeyed" in site.post(url, follow=True).content.decode()
    end(batch)
    site.post(url)
    batch.refresh_from_db()
    assert (batch.state, batch.saved_by, batch.saved_at) == ("queued", operator, None)
    assert "it is saved already" in site.post(url, follow=True).content.decode()
    assert woken == [batch.pk, batch.pk]


def test_stop(site: Client, run: Run, woken: list[int]) -> None:
    batch = begin(site, runs=str(run.pk))
    url = f"/judges/batches/{batch.pk}/stop/"
    assert "Stopping" in site.post(url, follow=True).content.decode()
    batch.refresh_from_db()
    assert batch.stop_requested_at is not None
    end(batch)
    assert "Nothing to stop" in site.post(url, follow=True).content.decode()


def test_one_claim_is_asked_about_with_its_call(site: Client, run: Run, woken: list[int]) -> None:
    trial = run.trials.get()
    before = text_of(site, f"/judges/again/?trial={trial.pk}&claim=1")
    assert "You asked about claim 1 alone." in before, "before it costs anything"
    assert f"saving stores all {trial.scenario.claim_count} rulings" in before
    assert "alone" not in text_of(site, f"/judges/again/?trial={trial.pk}")
    beyond = site.get(f"/judges/again/?trial={trial.pk}&claim=99")
    assert beyond.status_code == 422
    assert "the call has no claim 99: its claims are 1 to" in beyond.content.decode()
    batch = begin(site, trial=str(trial.pk), claim="1")
    assert (batch.filter, batch.run) == ({"trial": trial.pk, "claim": 1}, run)
    end(batch)
    text = text_of(site, f"/judges/batches/{batch.pk}/")
    assert "Asked about claim 1" in text
    assert "asked about</span>" in text


def test_self_agreement_has_no_canaries_and_nothing_to_save(site: Client, run: Run, woken: list[int]) -> None:
    batch = begin(site, runs=str(run.pk), kind="self")
    assert sorted(batch.items.values_list("repeat", "canary")) == [(1, ""), (2, "")]
    end(batch, canaries="open")
    text = text_of(site, f"/judges/batches/{batch.pk}/")
    assert "Self-agreement" in text
    assert "Save these rulings" not in text


def test_an_unknown_judge_is_asked_for_again(site: Client, run: Run, woken: list[int]) -> None:
    response = site.post("/judges/again/", {"judge": "nobody", "runs": str(run.pk)})
    assert response.status_code == 422
    assert "choose the judge that is to rule" in response.content.decode()
    assert woken == []


def test_calls_that_ask_no_judge_are_nothing_to_judge(site: Client, run: Run) -> None:
    other = make_trial(scenario=make_scenario("toy__9")).run
    assert "None of these calls was scored here and asks a judge" in text_of(site, f"/judges/again/?runs={other.pk}")


def test_canaries_without_a_ruling_are_asked_again(site: Client, run: Run, woken: list[int]) -> None:
    batch = begin(site, runs=str(run.pk))
    end(batch, canaries="open")
    assert "Ask those without a ruling" in text_of(site, f"/judges/batches/{batch.pk}/")
    with patch("evalsite.pages.judge_batches.wake_canaries") as wake:
        site.post(f"/judges/batches/{batch.pk}/canaries/")
    wake.assert_called_once_with(batch.pk)


@pytest.mark.parametrize("role", ["viewer", "reviewer"])
def test_who_does_not_operate_only_looks(
    client: Client, run: Run, woken: list[int], request: pytest.FixtureRequest, operator: User, role: str
) -> None:
    client.force_login(operator)
    batch = begin(client, runs=str(run.pk))
    client.force_login(request.getfixturevalue(role))
    assert "Stop" not in text_of(client, f"/judges/batches/{batch.pk}/")
    assert client.get(f"/judges/again/?runs={run.pk}").status_code == 403
    for action in ("stop", "save", "canaries", "release"):
        assert client.post(f"/judges/batches/{batch.pk}/{action}/").status_code == 403
    assert "Judge again" not in text_of(client, f"/runs/{run.pk}/")


@pytest.mark.parametrize("run", ["abc", "99", "0", "\u0663", "9" * 12])
def test_batches_of_a_run_that_is_not_there_are_none(site: Client, run: str) -> None:
    assert "No batches of this run" in text_of(site, f"/judges/batches/?run={run}")
