"""The call page: what upstream's reward adds, whether it gates here, and where nothing is written."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from scenarios import catalogue
from scenarios.models import SignalResult, Trial, Verdict
from tests.calls import Call
from tests.factories import make_run, make_scenario

Get = Callable[[Trial], str]


@pytest.fixture
def get(client: Client, viewer: User, benchmarks: Path) -> Get:
    client.force_login(viewer)

    def get(trial: Trial) -> str:
        answer = client.get(f"/runs/{trial.run_id}/trials/{trial.scenario.name}/{trial.number}/")
        assert answer.status_code == 200, answer.status_code
        return str(answer.content.decode())

    return get


def held(name: str, other: str = "fail", **config: Any) -> Trial:
    """Record a scored call of a real scenario."""
    spec = catalogue.spec(name)
    run = make_run([make_scenario(name, spec.domain)], 1, ["running"], domain=spec.domain, config=config)
    trial = run.trials.get()
    trial.last_seq = 0
    trial.save()
    Call(trial).begin().turn("agent", "Hello?").turn("user", "Hi.").turn("agent", "4 bags.").end("pass", "fine")
    Trial.objects.filter(pk=trial.pk).update(other_outcome=other)
    SignalResult.objects.create(trial=trial, signal="clean_exit", state="passed", is_gating=True, value=True)
    return trial


def check(trial: Trial, signal: str, passed: bool, **fields: Any) -> None:
    Verdict.objects.create(trial=trial, signal=signal, index=1, claim=f"a {signal}", passed=passed, **fields)


def test_a_fact_links_to_the_turn_that_says_it(get: Get) -> None:
    trial = held("tau2_airline__3", "pass")
    seq = trial.events.filter(kind="turn.ended").last().seq  # type: ignore[union-attr]
    check(trial, "communicate", True, evidence=[{"text": "4", "turn": 3, "seq": seq, "found": True}])
    html = get(trial)
    assert 'id="communicate-1"' in html
    assert 'href="?at=turn-3#turn-3"' in html
    assert "It does not gate in this run" in html
    assert "<code>DB</code>, <code>COMMUNICATE</code></p>" in html
    assert "upstream strictness:" not in html


@pytest.mark.parametrize(
    ("strictness", "heading", "gates"),
    [
        ("reference", "by upstream strictness:", "It does not gate in this run"),
        ("upstream", "by reference strictness:", "It gates in this run."),
    ],
)
def test_both_outcomes_stand_on_the_page(get: Get, strictness: str, heading: str, gates: str) -> None:
    trial = held("tau2_airline__3", strictness=strictness)
    check(trial, "communicate", False, reason="no turn of the agent contains it")
    html = get(trial)
    assert heading in html
    assert gates in html
    assert "no turn of the agent contains it" in html


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("tau2_airline__0", "<code>DB</code>, <code>COMMUNICATE</code> (nothing written)"),
        ("tau2_retail__6", "<code>DB</code>, <code>NL_ASSERTION</code> (nothing written)"),
    ],
)
def test_what_is_not_written_is_said_and_is_no_pass(get: Get, name: str, parts: str) -> None:
    html = get(held(name, "pass"))
    assert parts in html
    assert "Nothing: what it demands is what the signals look at." in html


def test_domains_without_an_upstream_have_no_such_section(get: Get) -> None:
    assert 'id="upstream"' not in get(held(catalogue.specs("frontdesk")[0].name, "pass"))
