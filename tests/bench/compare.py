"""The compare page with two runs of 10,000 trials: time in the server and queries."""

import random
import statistics
import time

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scenarios.models import Run, Scenario
from tests.bench.figure import Figure
from tests.bench.page import reader, request
from tests.factories import make_run, make_scenarios

SCENARIOS, TRIALS, REQUESTS = 500, 20, 9


def measure() -> list[Figure]:
    """Make an earlier run and two to compare, ask for the page several times, report the median and the count."""
    rng = random.Random(1)
    scenarios = make_scenarios(SCENARIOS, "bench")
    runs = [_run(rng, scenarios) for _ in range(3)]
    client = reader()
    url = f"{reverse('compare')}?runs={runs[1].pk},{runs[2].pk}"
    busy = time.process_time()
    times = [request(client, url) for _ in range(REQUESTS)]
    cpu_ms = (time.process_time() - busy) / REQUESTS * 1000
    with CaptureQueriesContext(connection) as queries:
        size = len(client.get(url).content)
    conditions = (
        f"2 runs of {runs[0].trial_count:,} trials in {SCENARIOS} scenarios and one earlier run of the configuration, "
        f"{connection.vendor}, {size / 1000:.0f} kB of HTML"
    )
    for run in runs:
        run.delete()
    told = f"{conditions}; median of {REQUESTS}, worst {max(times):.0f} ms, {cpu_ms:.0f} ms of CPU each"
    return [
        Figure("compare page, server time", statistics.median(times), "ms", 500, told),
        Figure("compare page, queries", len(queries), "queries", 20, conditions),
    ]


def _run(rng: random.Random, scenarios: list[Scenario]) -> Run:
    """Make a run of an agent whose chance to pass differs from scenario to scenario."""
    chances = [rng.betavariate(2.4, 0.616) for _ in scenarios]
    outcomes = ["pass" if rng.random() < chance else "fail" for _ in range(TRIALS) for chance in chances]
    return make_run(scenarios, TRIALS, outcomes, domain="bench", title="bench compare")
