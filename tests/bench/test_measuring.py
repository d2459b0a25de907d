import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest

from scenarios.models import Trial, TrialEvent
from tests.bench.added import agent_turn_ratios
from tests.bench.figure import Figure
from tests.bench.live import compare
from tests.bench.runs import open_trials, outcomes, turns
from tests.bench.site import Site
from tests.factories import make_run

BORN = datetime(2026, 1, 1, tzinfo=UTC)


def add_events(trial: Trial, *kinds: tuple[str, dict[str, object]]) -> None:
    for seq, (kind, data) in enumerate(kinds, start=1):
        TrialEvent.objects.create(
            trial=trial,
            seq=seq,
            at_ms=seq,
            kind=kind,
            side="agent",
            data=data,
            created_at=BORN + timedelta(seconds=seq),
        )


@pytest.mark.parametrize(("value", "limit", "met"), [(2.9, 3, True), (3.0, 3, False), (9e9, None, True)])
def test_a_target_is_met_below_its_limit(value: float, limit: float | None, met: bool) -> None:
    figure = Figure("gold", value, "s", limit, "cold")

    assert figure.is_met is met
    assert figure.row()["is_met"] is met


@pytest.mark.django_db
def test_delays_losses_and_doubles_are_told_apart() -> None:
    trial = make_run(1).trials.get()
    add_events(trial, *[("note", {})] * 4)
    start = BORN.timestamp()
    # Came after event 2 was born; got event 3 twice and never event 4.
    arrivals = [(1, start + 2.5), (2, start + 2.5), (3, start + 3.04), (3, start + 3.05)]

    delays, lost, doubled = compare([(trial.pk, start + 2.4, arrivals)])

    assert delays == pytest.approx([40, 50], abs=0.1)
    assert (lost, doubled) == (1, 1)


@pytest.mark.django_db
def test_a_turn_is_compared_with_all_its_requests() -> None:
    run = make_run(1)
    usage: tuple[str, dict[str, object]] = ("usage.reported", {})
    latency = "latency.measured"
    add_events(
        run.trials.get(), usage, (latency, {"response_ms": 420}), usage, usage, usage, (latency, {"response_ms": 1320})
    )

    assert agent_turn_ratios(run) == pytest.approx([1.05, 1.1])


@pytest.mark.django_db
def test_a_run_without_measured_turns_is_no_good_result() -> None:
    with pytest.raises(RuntimeError, match="no agent turn"):
        agent_turn_ratios(make_run(1))


@pytest.mark.django_db
def test_a_run_is_counted() -> None:
    run = make_run(4, outcomes=("pass", "fail", "pass", "queued"))
    add_events(run.trials.all()[0], ("turn.ended", {}), ("note", {}), ("turn.ended", {}))

    assert open_trials(run) == 1
    assert turns(run) == 2
    assert outcomes(run) == "1 , 1 fail, 2 pass"


def test_cpu_counts_children_and_leaves_some_out() -> None:
    spin = "import sys, time; t = time.process_time()\nwhile time.process_time() - t < 0.3: pass\nsys.stdin.read()"
    child = subprocess.Popen([sys.executable, "-c", f"# busy\n{spin}"], stdin=subprocess.PIPE)
    site = Site("", os.getpid())
    try:
        deadline = time.monotonic() + 30
        while Site("", child.pid).cpu_seconds() < 0.3 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert site.cpu_seconds() - site.cpu_seconds(leave_out="# busy") >= 0.25
    finally:
        child.communicate()
