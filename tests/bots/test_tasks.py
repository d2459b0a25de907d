"""What workers run."""

import subprocess
import sys

import pytest
from pytest_django import Settings

import bots.call
import bots.scorer
from bots import tasks, wake
from scenarios.models import Lane
from tests.bots import fake_calls
from tests.conftest import ROOT
from tests.factories import make_run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    woken: list[str] = []
    monkeypatch.setattr(bots.call, "hold_call", fake_calls.hold)
    monkeypatch.setattr(bots.scorer, "score", fake_calls.score)
    monkeypatch.setattr("bots.lane.LINGER_S", 0.0)
    monkeypatch.setattr(wake, "async_task", lambda name, *args, **options: woken.append(name))
    return woken


def test_a_lane_runs_dry_and_wakes_nobody(fakes: list[str]) -> None:
    run = make_run(5)
    tasks.run_lane()
    assert set(run.trials.values_list("outcome", flat=True)) == {"pass"}
    assert fakes == []
    assert Lane.objects.get().ended_at is not None


def test_a_lane_whose_time_was_over_wakes_its_successor(fakes: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(5)
    monkeypatch.setattr("bots.lane.BUDGET_S", -1.0)
    tasks.run_lane()
    assert set(run.trials.values_list("status", flat=True)) == {"queued"}
    assert fakes == ["bots.tasks.run_lane"]


def test_a_lane_too_many_leaves_at_once(fakes: list[str], settings: Settings) -> None:
    settings.LANES = 1
    make_run(5)
    assert wake.announce_lane(4) is not None
    tasks.run_lane()
    assert Lane.objects.count() == 1
    assert fakes == []


def test_naming_the_tasks_loads_no_voice_stack() -> None:
    code = (
        "import django, sys; django.setup(); import bots.tasks, bots.wake; "
        "print([name for name in ('pipecat', 'openai', 'fastapi', 'websockets') if name in sys.modules])"
    )
    assert printed(code) == "[]"


def test_a_clean_line_loads_no_filters() -> None:
    code = (
        "import django, sys; django.setup(); import bots.bridge.audio.realtime, bots.bridge.conditions; "
        "print('scipy' in sys.modules)"
    )
    assert printed(code) == "False"


def printed(code: str) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300).stdout.strip()
