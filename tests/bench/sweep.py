"""A rehearsal sweep of all 114 retail scenarios, from launch to verdicts, and the CPU that a turn costs."""

import time

from scenarios.models import Run
from tests.bench import runs
from tests.bench.figure import Figure
from tests.bench.site import Site

STANDIN = "standin"  # in the command line of the stand-in endpoint: a model's cost, not the harness's


def measure(site: Site) -> list[Figure]:
    """Sweep once with stand-ins that answer at once."""
    runs.start("frontdesk", "standin-faithful")  # lanes and party servers have imported what they need
    _settle()
    before = site.cpu_seconds(leave_out=STANDIN)
    started = time.perf_counter()
    run = runs.start("tau2_retail", "standin-faithful")
    runs.wait(run)
    seconds = time.perf_counter() - started
    spent = site.cpu_seconds(leave_out=STANDIN) - before
    turns = runs.turns(run)
    conditions = f"{run.trial_count} calls, {turns} turns, stand-ins without latency; {runs.outcomes(run)}"
    unscored = run.trials.exclude(outcome__in=("pass", "fail")).count()
    return [
        Figure("calls of the sweep without a verdict", unscored, "calls", 1, conditions),
        Figure("sweep of tau2_retail, launch to last verdict", seconds, "s", 60, conditions),
        Figure(
            "CPU of the harness on a turn",
            spent * 1000 / turns,
            "ms",
            15,
            f"site, lanes and party servers, all phases of a call included, stand-in endpoint left out; {conditions}",
        ),
    ]


def _settle() -> None:
    """Wait until no call of any run is open."""
    for run in Run.objects.all():
        runs.wait(run)
