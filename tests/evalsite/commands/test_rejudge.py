"""``manage.py rejudge``: a dry run, saving, and exit codes; the worker is this process."""

import json
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from bots import judge
from bots.rejudge import run_batch
from evalsite.management.commands import rejudge as command
from scenarios.models import JudgeBatch, Profile, Run
from tests.bots.judge_endpoint import Answer, Endpoint
from tests.judged_calls import JUDGED, judge_profile, judged_run, standin_judges

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setattr(judge, "_plain", set())
    monkeypatch.setattr(command, "prepare", lambda: None)
    monkeypatch.setattr(command, "wake_batch", run_batch)
    with standin_judges() as served:
        for slug, model in (("contrary", "standin-judge+contrary"), ("obedient", "standin-judge+obeys-injection")):
            fields = {name: value for name, value in judge_profile(served, model).items() if name != "kind"}
            Profile.objects.create(kind="judge", **(fields | {"slug": slug}))
        yield served


@pytest.fixture
def run(endpoint: Endpoint) -> Run:
    return judged_run(judge_profile(endpoint), JUDGED)


def rejudge(run: Run | int, judge: str = "contrary", **options: Any) -> str:
    out = StringIO()
    call_command("rejudge", run if isinstance(run, int) else run.pk, judge=judge, stdout=out, **options)
    return out.getvalue()


def test_a_dry_run_prints_flips_with_both_reasons_and_changes_nothing(run: Run) -> None:
    text = rejudge(run)
    assert "5 claims would flip" in text
    assert "frontdesk__saver_refusal #1 claim 1: passed -> failed" in text
    assert "    now: The first claim of each call is ruled the other way round." in text
    assert "passed: right on 16 of 16 canary claims" in text
    assert "100.0 % [64.6-100.0] (7 of 7) -> 28.6 % [8.2-64.1] (2 of 7)" in text
    assert "$1.20" in text
    assert run.trials.filter(outcome="pass").count() == 5


def test_one_call_with_all_its_claims(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    most = run.trials.order_by("-scenario__claim_count").select_related("scenario")[0].scenario
    assert most.claim_count > 1
    text = rejudge(run, scenario=most.name)
    assert JudgeBatch.objects.latest("pk").items.filter(canary="").count() == 1
    assert all(name not in text for name in JUDGED if name != most.name)
    said = " ".join(capsys.readouterr().err.split())
    assert (
        f"1 call with {most.claim_count} claims in all, and 7 canaries: one request a call rules on all its claims"
        in said
    )
    with pytest.raises(CommandError, match=f"run {run.pk} has no trial 2 of '{most.name}'"):
        rejudge(run, scenario=most.name, trial=2)


def test_saved_and_as_json(run: Run) -> None:
    found = json.loads(rejudge(run, save=True, is_json=True))
    assert (found["state"], found["is_saved"], found["canaries"]) == ("done", True, "passed")
    assert found["requests"] == {"total": 12, "done": 12, "errors": 0}
    assert found["calls"]["after"]["count"] == run.trials.filter(outcome="pass").count() == 1
    assert [flip["was"] for flip in found["flips"]] == [True] * 5
    assert found["outcomes"] == [{"before": "pass", "after": "fail", "calls": 4}]


def test_a_quarantined_batch_is_refused_with_exit_code_1(run: Run) -> None:
    with pytest.raises(CommandError, match="not saved: its canaries are quarantined: obeyed the record's text"):
        rejudge(run, "obedient", save=True)
    with pytest.raises(SystemExit) as ended:
        rejudge(run, "obedient")
    assert ended.value.code == command.ERROR
    assert run.trials.filter(outcome="pass").count() == 5


def test_calls_without_a_ruling_are_exit_code_12(run: Run, endpoint: Endpoint) -> None:
    endpoint.by = lambda request: Answer("I would rather not.")
    with pytest.raises(SystemExit) as ended:
        rejudge(run)
    assert ended.value.code == command.INCOMPLETE


def test_self_agreement(run: Run) -> None:
    text = rejudge(run, is_self=True)
    assert "asked twice, alike    100.0 % [64.6-100.0] (7 of 7)" in text
    assert "canaries" not in text
    assert JudgeBatch.objects.get(kind="self").saved_at is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"judge": "nobody"}, "no judge is called 'nobody'; there are contrary, obedient"),
        ({"outcome": "odd"}, "there is no outcome 'odd'"),
        ({"outcome": "fail"}, "no call that was scored here asks a judge"),
        ({"is_self": True, "save": True}, "saves nothing; leave --save out"),
    ],
)
def test_bad_input_is_named(run: Run, options: dict[str, Any], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        rejudge(run, **options)


def test_a_run_that_is_not_there(endpoint: Endpoint) -> None:
    with pytest.raises(CommandError, match="there is no run 4711"):
        rejudge(4711)
