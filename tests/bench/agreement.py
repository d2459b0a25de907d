"""The page of a judge version with 10,000 verdicts and three raters, and what the run page loads beside its grid."""

import statistics

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scenarios.models import Run
from tests.bench.figure import Figure
from tests.bench.page import reader, request
from tests.evalsite.labelled import RATERS, judge_version, judged_run, label

SCENARIOS, TRIALS, CLAIMS, REQUESTS = 250, 20, 2, 7


def measure() -> list[Figure]:
    """Make the rows, ask for each page several times, report medians and counts."""
    run = judged_run(SCENARIOS, TRIALS, CLAIMS, domain="bench-judge")
    label(run)
    try:
        return [*_agreement(), *_panels(run)]
    finally:
        run.delete()


def _agreement() -> list[Figure]:
    client, url = reader(), reverse("judge-detail", args=[judge_version().pk])
    times = [request(client, url) for _ in range(REQUESTS)]
    with CaptureQueriesContext(connection) as queries:
        size = len(client.get(url).content)
    conditions = (
        f"{SCENARIOS * TRIALS * CLAIMS:,} verdicts, {len(RATERS)} raters, blind and after the reveal, "
        f"{connection.vendor}, {size / 1000:.0f} kB of HTML"
    )
    told = f"{conditions}; median of {REQUESTS}, worst {max(times):.0f} ms"
    return [
        Figure("agreement page, server time", statistics.median(times), "ms", 1000, told),
        Figure("agreement page, queries", len(queries), "queries", 15, conditions),
    ]


def _panels(run: Run) -> list[Figure]:
    client = reader()
    found = []
    for name, title in (("run-corrected", "corrected headline"), ("run-faults", "fault panel")):
        url = reverse(name, args=[run.pk])
        times = [request(client, url) for _ in range(REQUESTS)]
        conditions = f"{run.trial_count:,} calls, all decided by a judge; loaded when opened; worst {max(times):.0f} ms"
        found.append(Figure(f"{title}, server time", statistics.median(times), "ms", 1000, conditions))
    return found
