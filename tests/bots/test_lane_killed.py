"""SIGKILL of a lane in mid-sweep: nothing is lost, nothing is doubled."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from scenarios.models import Run, SignalResult, Trial, TrialEvent
from tests.bots.fake_calls import unbroken
from tests.conftest import ROOT
from tests.factories import make_run
from tests.scenarios.lifecycle.conftest import sequence, silence

pytestmark = pytest.mark.django_db(transaction=True)
StartLane = Callable[..., "subprocess.Popen[bytes]"]
WAIT_S = 300


@pytest.fixture
def start_lane(server_environment: dict[str, str]) -> Iterator[StartLane]:
    started: list[subprocess.Popen[bytes]] = []

    def start(*blow: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "tests.bots.lane_process", "4", "0.02", *blow]
        started.append(subprocess.Popen(command, cwd=ROOT, env=server_environment))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def finish(run: Run, start_lane: StartLane) -> None:
    lane = start_lane()
    assert lane.wait(timeout=WAIT_S) == 0
    assert not run.trials.exclude(status="done").exists()


def check_record(trial: Trial) -> None:
    numbers = sequence(trial.pk)
    assert unbroken(numbers)
    assert trial.last_seq == len(numbers)
    kinds = list(TrialEvent.objects.filter(trial=trial).order_by("seq").values_list("kind", flat=True))
    assert kinds.count("trial.finished") == 1
    assert kinds[-1] == "trial.finished"
    # What counts is what follows the last start: one whole call.
    last = len(kinds) - 1 - kinds[::-1].index("attempt.started")
    assert kinds[last:].count("call.ended") == kinds[last:].count("call.started") == 1
    assert kinds[last:].count("turn.ended") == 4


def test_sigkill_in_mid_sweep_loses_and_doubles_nothing(start_lane: StartLane) -> None:
    run = make_run(30)
    for kill in range(2):
        assert start_lane("SIGKILL", "8").wait(timeout=WAIT_S) == -signal.SIGKILL
        held = list(run.trials.filter(status__in=["running", "scoring"]).values_list("pk", flat=True))
        assert held, f"kill {kill} hit no call"
        silence(*held)  # as if the leases' 30 seconds had passed
    finish(run, start_lane)
    assert set(run.trials.values_list("outcome", flat=True)) == {"pass"}
    assert SignalResult.objects.count() == 30
    assert run.trials.filter(attempts__gt=1).exists()
    for trial in run.trials.all():
        check_record(trial)


def test_sigterm_gives_trials_back_at_once(start_lane: StartLane) -> None:
    run = make_run(30)
    assert start_lane("SIGTERM", "8").wait(timeout=WAIT_S) == 0
    # One that was being scored stays there: its call is over, only its scoring is taken up again.
    assert set(run.trials.values_list("status", flat=True)) - {"scoring"} == {"done", "queued"}
    assert not run.trials.filter(lease__isnull=False).exists()
    finish(run, start_lane)
    assert set(run.trials.values_list("attempts", flat=True)) == {1}
    for trial in run.trials.all():
        check_record(trial)


def test_two_lanes_share_a_sweep(start_lane: StartLane) -> None:
    run = make_run(40)
    lanes = [start_lane(), start_lane()]
    assert [lane.wait(timeout=WAIT_S) for lane in lanes] == [0, 0]
    assert set(run.trials.values_list("status", "attempts")) == {("done", 1)}
    for trial in run.trials.all():
        check_record(trial)
