"""A sweep from the command line: what it launches, what it prints, and with which exit code it ends."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from bots import wake
from evalsite.management.commands import evaluate
from evalsite.management.commands.evaluate import choose, exit_code
from evalsite.run_summary import as_json, as_table
from scenarios import catalogue, lifecycle
from scenarios.models import Run
from scenarios.profiles import load_standins
from scenarios.standing import standings
from tests.conftest import ROOT
from tests.factories import make_run

pytestmark = pytest.mark.django_db
NAMES = [spec.name for spec in catalogue.specs("frontdesk")]


@pytest.fixture
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wake, "async_task", lambda *args, **options: None)


def run_evaluate(**options: Any) -> str:
    out = StringIO()
    call_command(
        "evaluate",
        stdout=out,
        no_color=True,
        **{"domain": "frontdesk", "agent": "standin-faithful", "skip_checks": True, **options},
    )
    return out.getvalue()


def test_without_wait_it_launches_and_leaves(no_worker: None) -> None:
    said = run_evaluate(trials=2, title="nightly", concurrency=3, max_turns=40)
    run = Run.objects.get()
    assert said == f"run {run.pk}: {2 * len(NAMES)} calls wait\n"
    assert (run.title, run.trial_count, run.is_rehearsal) == ("nightly", 2 * len(NAMES), True)
    assert [run.config[role]["slug"] for role in ("agent", "caller", "judge")] == [
        "standin-faithful",
        "standin-caller",
        "standin-judge",
    ]
    assert (run.config["limits"]["concurrency"], run.config["limits"]["max_turns"]) == (3, 40)


def test_strictness_and_persona_are_frozen(no_worker: None, benchmarks: Path) -> None:
    run_evaluate(domain="tau2_telecom", sample=3, strictness="upstream", persona=True)
    run = Run.objects.get()
    assert (run.config["strictness"], run.config["persona"]) == ("upstream", True)


def test_both_figures_are_printed_and_the_headline_says_which_it_is() -> None:
    run = make_run(4, outcomes=["pass"], config={"strictness": "upstream"})
    run.trials.filter(scenario__name="toy__1").update(outcome="fail")
    standing = standings([run])[run.pk]
    text = as_table(standing)
    assert re.search(r"success, upstream strictness +75.0 %.*\(3 of 4\)", text)
    assert re.search(r"by reference strictness +100.0 %.*\(4 of 4\)", text)
    found = json.loads(as_json(standing))
    assert (found["strictness"], found["rate"]["passes"], found["rate_reference"]["passes"]) == ("upstream", 3, 4)


def test_machines_are_told_the_runs_number(no_worker: None) -> None:
    said = json.loads(run_evaluate(is_json=True, judge="none", scenarios=[NAMES[0]]))
    run = Run.objects.get()
    assert said == {"run": run.pk}
    assert run.config["judge"] is None
    assert [ref["name"] for ref in run.config["scenarios"]] == [NAMES[0]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"domain": "frontdsk"}, "no domain is called 'frontdsk'; there are"),
        ({"scenarios": ["nothing*"]}, "no scenario of frontdesk is called 'nothing\\*'; its names look like"),
        ({"sample": 1000}, f"--sample 1000: choose between 1 and {len(NAMES)}"),
        ({"sample": 0}, "--sample 0: choose between 1"),
        ({"agent": "nobody"}, "no agent is called 'nobody'; there are .*standin-faithful.* manage.py load_profiles"),
        ({"judge": "nobody"}, "no judge is called 'nobody'; there are standin-judge, standin-judge-contrary"),
        ({"trials": 0}, "trials: Input should be greater than or equal to 1"),
        ({"persona": True}, "--persona: no scenario of frontdesk has a persona to tell; leave it out"),
        ({"max_turns": 0}, "max_turns: Input should be greater than or equal to 1"),
    ],
)
def test_bad_input_is_named_with_the_remedy(no_worker: None, options: dict[str, Any], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        run_evaluate(**options)
    assert Run.objects.count() == 0


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    def drawn(seed: int) -> list[str]:
        return [ref.name for ref in choose("frontdesk", ["*"], 4, seed)]

    assert drawn(1) == drawn(1)
    assert len(set(drawn(1))) == 4
    assert drawn(1) == sorted(drawn(1), key=NAMES.index)
    assert any(drawn(seed) != drawn(1) for seed in range(2, 8))


def test_patterns_choose_in_the_domains_order() -> None:
    chosen = choose("frontdesk", [NAMES[2], NAMES[0]], None, 0)
    assert [ref.name for ref in chosen] == [NAMES[0], NAMES[2]]


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        (["pass", "fail", "stalled"], 0),
        (["pass", "infra_error"], 12),
        (["pass", "unscored"], 12),
        (["pass", "judge_error"], 12),
        (["pass", "cancelled"], 12),
        (["pass", "queued"], 12),
    ],
)
def test_exit_codes(outcomes: list[str], code: int) -> None:
    run = make_run(len(outcomes), outcomes=outcomes)
    assert exit_code(standings([run])[run.pk]) == code


def test_a_finished_run_ends_with_its_code(monkeypatch: pytest.MonkeyPatch, no_worker: None) -> None:
    made = make_run(3, outcomes=["pass", "fail", "infra_error"])
    monkeypatch.setattr(evaluate, "launch", lambda *args, **options: made)
    with pytest.raises(SystemExit) as ended:
        run_evaluate(wait=True)
    assert ended.value.code == 12


def test_the_table_shows_rate_interval_denominator_and_what_is_left_out() -> None:
    run = make_run(10, outcomes=["pass"] * 6 + ["fail"] * 2 + ["infra_error", "cancelled"])
    text = as_table(standings([run])[run.pk])
    assert f"toy, run {run.pk}: finished, 10 of 10 ended" in text
    assert "75.0 %" in text
    assert "(6 of 8; left out: " in text
    assert "1 infrastructure failed" in text
    assert "1 cancelled" in text
    assert "error llm_http_429" in text


def test_a_rehearsal_is_called_one() -> None:
    run = make_run(1, outcomes=["pass"], title="x")
    run.is_rehearsal = True
    run.save()
    assert "rehearsal with stand-ins" in as_table(standings([run])[run.pk])
    assert json.loads(as_json(standings([run])[run.pk]))["is_rehearsal"] is True


def test_json_has_counts_and_no_rate_over_nothing() -> None:
    run = make_run(2, outcomes=["cancelled", "infra_error"])
    result = json.loads(as_json(standings([run])[run.pk]))
    assert result["rate"] == {
        "value": None,
        "passes": 0,
        "total": 0,
        "interval": None,
        "left_out": {"infra_error": 1, "cancelled": 1},
    }
    assert result["outcomes"] == {"cancelled": 1, "infra_error": 1}
    assert (result["trials"], result["ended"], result["error_kinds"]) == (2, 2, {"llm_http_429": 1})


@pytest.mark.django_db(transaction=True)
def test_it_brings_its_own_worker_when_none_is_there(server_environment: dict[str, str]) -> None:
    done = start(server_environment, "--wait", "--json", "--scenarios", *NAMES[:2])
    out, said = done.communicate(timeout=400)
    assert done.returncode == 0, said
    assert "no worker is running: starting one for this run" in said
    result = json.loads(out)
    assert (result["ended"], result["state"]) == (2, "finished")
    assert result["rate"]["total"] == 2
    run = Run.objects.get(pk=result["run"])
    assert set(run.trials.values_list("status", "attempts")) == {("done", 1)}


@pytest.mark.django_db(transaction=True)
def test_ctrl_c_cancels_the_run(server_environment: dict[str, str]) -> None:
    load_standins()
    process = start(server_environment, "--wait", "--trials", "50")
    deadline = time.monotonic() + 300
    while not Run.objects.filter(trials__status="done").exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=300)
    assert process.returncode == 12, said
    assert "cancelled" in out
    run = Run.objects.get()
    assert run.cancel_requested_at is not None
    assert set(run.trials.values_list("status", flat=True)) == {"done", "cancelled"}
    assert not run.trials.filter(lease__isnull=False).exists()
    assert lifecycle.claim(1) == []


def start(environment: dict[str, str], *options: str) -> "subprocess.Popen[str]":
    command = [
        sys.executable,
        "manage.py",
        "evaluate",
        "--domain",
        "frontdesk",
        "--agent",
        "standin-faithful",
        *options,
    ]
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
