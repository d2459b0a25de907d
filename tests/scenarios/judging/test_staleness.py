"""Stale verdicts: marked for exactly what changed, and for nothing else."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from scenarios import catalogue
from scenarios.judging.prompts import write_prompt
from scenarios.judging.staleness import CLAIM_CHANGED, CLAIM_GONE, stale_share, why_stale
from scenarios.models import JudgeVersion, Judging, Profile, Run, Scenario, Trial, TrialEvent, Verdict
from scenarios.replay import gold_replay
from scenarios.scoring.judge_identity import JudgeIdentity
from scenarios.scoring.judge_request import PROMPT_VERSION, task_parts
from tests.factories import make_profile, make_run

pytestmark = pytest.mark.django_db
NAMES = ("frontdesk__saver_refusal", "frontdesk__cancel_illness")


@pytest.fixture
def profile() -> Profile:
    return make_profile("strict", "judge", key_env="", parameters={"temperature": 0.2, "timeout_s": 5})


@pytest.fixture
def run(profile: Profile) -> Run:
    """Two calls, three claims, judged by the profile as it is now."""
    catalogue.sync()
    rows = list(Scenario.objects.filter(name__in=NAMES))
    made = make_run(rows, 1, ["pass"], domain="frontdesk")
    made.config["scenarios"] = [{"name": row.name, "fingerprint": row.fingerprint} for row in rows]
    made.save()
    columns = JudgeIdentity.of(profile.frozen()).columns(profile.frozen())
    judge = JudgeVersion.objects.create(**columns)
    for trial in made.trials.select_related("scenario"):
        spec = catalogue.spec(trial.scenario.name)
        shown = "\n\n".join([*task_parts(spec, gold_replay(spec)), "## How the call ended"])
        Judging.objects.create(trial=trial, judge=judge, system_prompt="", user_content=shown)
        for index, claim in enumerate(spec.nl_assertions, 1):
            Verdict.objects.create(
                trial=trial, signal="nl_assertion", index=index, claim=claim, passed=True, judge=judge
            )
    return made


def reasons(run: Run) -> dict[str, int]:
    return dict(stale_share(run).reasons)


def words(trial: Trial) -> set[str]:
    verdicts = list(trial.verdicts.select_related("judge").order_by("index"))
    found = why_stale(trial, verdicts, trial.judgings.first())
    return {word for why in found.values() for word in why}


def test_nothing_is_stale_while_nothing_changed(run: Run, profile: Profile) -> None:
    share = stale_share(run)
    assert (share.stale, share.total, share.reasons) == (0, 3, {})
    assert all(words(trial) == set() for trial in run.trials.all())
    # A title, a price, a key's variable and our own limits reach no judge.
    profile.title, profile.prompt_price, profile.completion_price, profile.key_env = "T", 1, 1, "OTHER_KEY"
    profile.parameters = {"temperature": 0.2, "timeout_s": 50, "tries": 2}
    profile.save()
    assert stale_share(run).stale == 0


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model": "newer"}, "model small-model -> newer"),
        ({"parameters": {"temperature": 0}}, "parameters temperature=0.2 -> temperature=0"),
        ({"structure": "plain"}, "form of reply auto -> plain"),
    ],
)
def test_another_judge_makes_all_its_verdicts_stale(
    run: Run, profile: Profile, changes: dict[str, Any], reason: str
) -> None:
    Profile.objects.filter(pk=profile.pk).update(**changes)
    assert reasons(run) == {reason: 3}
    assert stale_share(run).stale == 3
    assert all(words(trial) == {reason} for trial in run.trials.all())


def test_another_prompt_and_back(run: Run, profile: Profile) -> None:
    prompt = write_prompt("One", "Rule in a new way.", parent=None, author=None)
    Profile.objects.filter(pk=profile.pk).update(prompt=prompt)
    assert reasons(run) == {f"prompt {PROMPT_VERSION} -> {prompt.version}": 3}
    Profile.objects.filter(pk=profile.pk).update(prompt=None)
    assert reasons(run) == {}


def test_a_profile_that_is_gone_leaves_its_verdicts_alone(run: Run, profile: Profile) -> None:
    profile.delete()
    assert stale_share(run).stale == 0


def test_each_scenario_with_a_model_of_its_own_is_no_change(run: Run, profile: Profile) -> None:
    JudgeVersion.objects.update(model="judge:frontdesk__saver_refusal")
    judge = JudgeVersion.objects.get()
    identity = replace(JudgeIdentity.of(profile.frozen()), model=judge.model)
    JudgeVersion.objects.update(fingerprint=identity.fingerprint)
    Profile.objects.filter(pk=profile.pk).update(model="judge:{scenario}")
    assert stale_share(run).stale == 0
    Profile.objects.filter(pk=profile.pk).update(model="referee:{scenario}")
    assert stale_share(run).stale == 3


def change_claims(monkeypatch: pytest.MonkeyPatch, name: str, claims: tuple[str, ...], **changes: Any) -> None:
    spec = replace(catalogue.spec(name), nl_assertions=claims, **changes)
    Scenario.objects.filter(name=name).update(fingerprint="0" * 64)
    specs = {one: catalogue.spec(one) for one in NAMES} | {name: spec}
    monkeypatch.setattr("scenarios.catalogue.spec", specs.__getitem__)


def test_a_claim_that_reads_differently_makes_its_own_verdict_stale(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    claims = catalogue.spec(NAMES[1]).nl_assertions
    change_claims(monkeypatch, NAMES[1], (claims[0], "Another claim."))
    assert reasons(run) == {CLAIM_CHANGED: 1}
    trial = run.trials.get(scenario__name=NAMES[1])
    verdicts = list(trial.verdicts.select_related("judge").order_by("index"))
    assert list(why_stale(trial, verdicts, trial.judgings.first())) == [verdicts[1].pk]
    assert words(run.trials.get(scenario__name=NAMES[0])) == set()


def test_a_claim_that_is_gone_says_so_and_counts_once_beside_another_reason(
    run: Run, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_claims(monkeypatch, NAMES[1], catalogue.spec(NAMES[1]).nl_assertions[:1])
    assert reasons(run) == {CLAIM_GONE: 1}
    Profile.objects.filter(pk=profile.pk).update(model="newer")
    assert stale_share(run).stale == 3
    assert set(reasons(run)) == {CLAIM_GONE, "model small-model -> newer"}


def test_another_task_is_named_on_the_calls_page(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = catalogue.spec(NAMES[0])
    caller = replace(spec.caller, goal="Another goal.")
    change_claims(monkeypatch, NAMES[0], spec.nl_assertions, caller=caller)
    assert words(run.trials.get(scenario__name=NAMES[0])) == {"the scenario's task reads differently now"}


def test_a_call_that_was_held_again_after_its_ruling(run: Run) -> None:
    trial = run.trials.all()[0]
    later = timezone.now() + timedelta(seconds=5)
    TrialEvent.objects.create(trial=trial, seq=31, at_ms=0, kind="attempt.started", data={}, created_at=later)
    assert words(trial) == {"the call was held again after this ruling"}


def test_only_the_newest_scoring_counts(run: Run, profile: Profile) -> None:
    old = JudgeVersion.objects.get()
    Profile.objects.filter(pk=profile.pk).update(model="newer")
    profile.refresh_from_db()
    judge = JudgeVersion.objects.create(**JudgeIdentity.of(profile.frozen()).columns(profile.frozen()))
    trial = run.trials.get(scenario__name=NAMES[1])
    for verdict in list(trial.verdicts.all()):
        verdict.pk, verdict.scoring, verdict.judge = None, 2, judge
        verdict.save()
    share = stale_share(run)
    assert (share.stale, share.total) == (1, 3)
    assert old.verdicts.count() == 3


def test_a_thousand_verdicts_take_a_handful_of_queries(run: Run, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(4):
        stale_share(run)
