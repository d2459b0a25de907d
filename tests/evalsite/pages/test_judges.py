"""Pages of judges: versions, prompts, and what a run's and a call's page say of its judge."""

from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from django.test import Client

from scenarios.judging.prompts import write_prompt
from scenarios.judging.run_batch import canary_columns
from scenarios.judging.staleness import current_judges
from scenarios.lifecycle import decide_batch, settle
from scenarios.models import BatchItem, JudgeBatch, JudgePrompt, JudgeVersion, Profile, Run, Trial
from scenarios.scoring.canaries import Canary, for_batch
from scenarios.scoring.judge_reply import JudgeReply, read
from scenarios.scoring.judge_request import GUIDANCE, PROMPT_VERSION
from tests.calls import exchange_call, score_exchange
from tests.factories import make_profile, make_run
from tests.scenarios.scoring.test_canaries import reply

pytestmark = pytest.mark.django_db


@pytest.fixture
def site(client: Client, admin: User) -> Client:
    client.force_login(admin)
    return client


def text_of(client: Client, url: str, status: int = 200) -> str:
    response = client.get(url)
    assert response.status_code == status
    return " ".join(response.content.decode().split())


@pytest.fixture
def trial() -> Trial:
    """A judged call in a run's batch, whose canaries are not decided."""
    run = make_run(1, 1, ["fail"])
    made = exchange_call(run.trials.get()).end().trial
    score_exchange(made)
    judge = JudgeVersion.objects.get()
    batch = JudgeBatch.objects.create(kind="run", run=run, judge=judge, config={"slug": "strict"}, title="judging")
    made.judgings.update(batch=batch)
    return made


def ask_canaries(batch: JudgeBatch, *, obeys: bool) -> None:
    """Let the judge answer seven canaries: rightly, or as their records tell it."""
    for position, canary in enumerate(for_batch(1, injections=5, plain=2), 1):
        columns = canary_columns(canary, answer(canary, obeys), {}, 0.01)
        BatchItem.objects.create(batch=batch, position=position, canary=canary.name, **columns)
    decide_batch(batch.pk)
    batch.refresh_from_db()


def answer(canary: Canary, obeys: bool) -> JudgeReply:
    text = reply(canary, lambda claim: claim.demanded if obeys and claim.demanded is not None else claim.holds)
    return read(text, canary.request.claims, canary.evidence)


def test_without_a_judge_the_list_says_what_will_be_here(site: Client) -> None:
    assert "No judge has ruled yet" in text_of(site, "/judges/")
    assert "No batches yet" in text_of(site, "/judges/batches/")


def test_the_list_has_canaries_and_resistance_with_their_denominators(site: Client, trial: Trial) -> None:
    ask_canaries(trial.run.judge_batches.get(), obeys=True)
    text = text_of(site, "/judges/")
    judge = JudgeVersion.objects.get()
    assert f'href="/judges/{judge.pk}/"' in text
    assert "6/16" in text
    assert "0/10" in text
    assert "1 quarantined" in text
    assert "no profile is this any more" in text
    assert 'aria-current="page">Judges' in text


def test_a_quarantined_run_says_so_loudly_and_what_failed(site: Client, trial: Trial) -> None:
    assert 'id="quarantine"' not in text_of(site, f"/runs/{trial.run_id}/")
    ask_canaries(trial.run.judge_batches.get(), obeys=True)
    text = text_of(site, f"/runs/{trial.run_id}/")
    assert "The judge is quarantined: obeyed the record&#x27;s text on 10 of 10 canary claims" in text
    assert "Obeyed text in the record (" in text
    assert "and 6 more" in text
    call = text_of(site, f"/runs/{trial.run_id}/trials/{trial.scenario.name}/1/")
    assert "these rulings do not count" in call


def test_canaries_that_nobody_decided_are_a_warning_once_the_run_is_over(site: Client, trial: Trial) -> None:
    assert "<b>not decided</b>, not all were asked" in text_of(site, f"/runs/{trial.run_id}/")
    ask_canaries(trial.run.judge_batches.get(), obeys=False)
    assert "Canaries</a>: passed." in text_of(site, f"/runs/{trial.run_id}/")


def test_only_an_admin_releases_and_only_with_a_reason(site: Client, trial: Trial, operator: User, admin: User) -> None:
    batch = trial.run.judge_batches.get()
    ask_canaries(batch, obeys=True)
    url = f"/judges/batches/{batch.pk}/"
    assert "10 wrong or obeyed" in text_of(site, url)
    site.force_login(operator)
    assert site.post(f"{url}release/", {"reason": "I say so"}).status_code == 403
    site.force_login(admin)
    assert "Not released: say why" in site.post(f"{url}release/", {"reason": " "}, follow=True).content.decode()
    site.post(f"{url}release/", {"reason": "read by <hand>"})
    batch.refresh_from_db()
    assert (batch.canaries, batch.released_by) == ("released", admin)
    for place in (url, f"/runs/{trial.run_id}/"):
        assert "read by &lt;hand&gt;" in text_of(site, place)
    assert settle([trial.pk]) == []


def test_stale_rulings_are_marked_on_the_call_and_counted_on_the_run(site: Client, trial: Trial) -> None:
    make_profile("strict", "judge", model="newer-model")
    run_page = text_of(site, f"/runs/{trial.run_id}/")
    assert "3 of 3 rulings on claims are not what the judge's profile would be asked today" in run_page
    assert "3 of 3 stale" in run_page
    call = text_of(site, f"/runs/{trial.run_id}/trials/{trial.scenario.name}/1/")
    assert "Stale: 3 of 3 rulings" in call
    assert "model small-model -&gt; newer-model" in call
    assert call.count('<span class="chip">stale</span>') == 3
    assert f"/judges/again/?trial={trial.pk}&amp;claim=2" in call


def test_a_prompt_is_written_read_and_compared(site: Client) -> None:
    assert "built in" in text_of(site, "/judges/prompts/")
    assert "How to answer" in text_of(site, f"/judges/prompts/{PROMPT_VERSION}/")
    form = text_of(site, "/judges/prompts/new/")
    assert "Judge only by the record" in form
    sent = {"title": "Stricter", "guidance": f"{GUIDANCE}- Be <b>strict</b>.", "parent": PROMPT_VERSION}
    text = site.post("/judges/prompts/new/", sent, follow=True).content.decode()
    assert "<ins>+ - Be &lt;b&gt;strict&lt;/b&gt;.</ins>" in text
    prompt = JudgePrompt.objects.get()
    again = site.post("/judges/prompts/new/", sent)
    assert again.status_code == 422
    assert f"nothing was changed, Stricter {prompt.version[:8]} says the same" in again.content.decode()
    child = {"title": "Softer", "guidance": "Be kind.", "parent": prompt.version}
    text = site.post("/judges/prompts/new/", child, follow=True).content.decode()
    assert f'href="/judges/prompts/{prompt.version}/"' in text
    assert text_of(site, "/judges/prompts/0123/", 404)


def test_what_was_typed_stays_when_it_is_refused(site: Client) -> None:
    response = site.post("/judges/prompts/new/", {"title": "", "guidance": "My <words>", "parent": PROMPT_VERSION})
    assert response.status_code == 422
    assert "My &lt;words&gt;" in response.content.decode()
    assert not JudgePrompt.objects.exists()


@pytest.mark.parametrize("role", ["viewer", "reviewer", "operator"])
def test_only_an_admin_writes_prompts(client: Client, request: pytest.FixtureRequest, role: str) -> None:
    client.force_login(request.getfixturevalue(role))
    assert client.get("/judges/prompts/new/").status_code == 403
    assert "Write a new one" not in client.get("/judges/prompts/").content.decode()


def test_a_judges_profile_chooses_prompt_and_structure(site: Client) -> None:
    prompt = write_prompt("Stricter", "Be strict.", parent=None, author=None)
    profile = make_profile("strict", "judge")
    sent = {"slug": "strict", "model": "m", "base_url": "http://h/v1", "key_env": "", "parameters": "{}", "title": ""}
    sent |= {"tools_run": "ours", "prompt": str(prompt.pk), "structure": "plain"}
    assert site.post(f"/settings/profiles/{profile.pk}/", sent).status_code == 302
    profile.refresh_from_db()
    assert (profile.prompt, profile.structure) == (prompt, "plain")
    form = text_of(site, "/settings/profiles/new/judge/?from=strict")
    assert f'<option value="{prompt.pk}" selected>' in form
    prompt.is_archived = True
    prompt.save()
    assert f'<option value="{prompt.pk}" selected>' in text_of(site, f"/settings/profiles/{profile.pk}/")
    other = make_profile("lax", "judge")
    assert f'<option value="{prompt.pk}"' not in text_of(site, f"/settings/profiles/{other.pk}/")
    assert "What it is told" not in text_of(site, "/settings/profiles/new/agent/")
    assert Profile.objects.filter(kind="judge", prompt=None).count() == 1


def test_a_version_is_current_while_a_profile_is_that(site: Client, trial: Trial) -> None:
    make_profile("strict", "judge", model="small-model")
    judge = JudgeVersion.objects.get()
    identity = replace(current_judges()["strict"])
    JudgeVersion.objects.filter(pk=judge.pk).update(
        fingerprint=identity.fingerprint, parameters=identity.parameters, prompt_version=identity.prompt_version
    )
    assert "· current" in text_of(site, "/judges/")
    assert Run.objects.count() == 1


def test_a_run_judged_by_two_says_so(site: Client, trial: Trial) -> None:
    assert "Mixed:" not in text_of(site, f"/runs/{trial.run_id}/")
    other = JudgeVersion.objects.create(fingerprint="beef" * 16, profile="other", model="m", prompt_version="1")
    trial.verdicts.filter(index=1).update(judge=other)
    text = text_of(site, f"/runs/{trial.run_id}/")
    assert "rulings on claims by 2 judge versions" in text
    assert f'1 by <a href="/judges/{other.pk}/">other beefbeef</a>' in text


def test_earlier_rulings_stay_readable(site: Client, trial: Trial) -> None:
    other = JudgeVersion.objects.create(fingerprint="beef" * 16, profile="other", model="m", prompt_version="1")
    for verdict in list(trial.verdicts.all()):
        verdict.pk, verdict.scoring, verdict.judge, verdict.reason = None, 2, other, "Ruled anew."
        verdict.save()
    text = text_of(site, f"/runs/{trial.run_id}/trials/{trial.scenario.name}/1/")
    assert text.count("1 earlier ruling<") == 3
    assert "by strict 1a2b3c4d" in text
    assert "Only one shirt is ever spoken of." in text
    assert text.count("Ruled anew.") == 3
