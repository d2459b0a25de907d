"""The run page with 10,000 trials: time in the server and queries."""

import statistics
import time

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evalsite.access import set_role
from tests.bench.figure import Figure
from tests.factories import make_run

SCENARIOS, TRIALS, REQUESTS = 500, 20, 9
OUTCOMES = ("pass", "pass", "fail", "pass", "judge_error", "stalled", "running", "queued")


def measure() -> list[Figure]:
    """Make the rows, ask for the page several times, report the median and the count."""
    run = make_run(SCENARIOS, TRIALS, OUTCOMES, title="bench page")
    client = reader()
    url = reverse("run-detail", args=[run.pk])
    times = [request(client, url) for _ in range(REQUESTS)]
    with CaptureQueriesContext(
        connection,
    ) as queries:
        size = len(client.get(url).content)
    conditions = (
        f"{run.trial_count:,} trials in {SCENARIOS} scenarios, {connection.vendor}, {size / 1000:.0f} kB of HTML"
    )
    run.delete()  # lanes of a later measurement would hold its queued trials
    median = statistics.median(times)
    return [
        Figure(
            "run page, server time", median, "ms", 300, f"{conditions}; median of {REQUESTS}, worst {max(times):.0f} ms"
        ),
        Figure("run page, queries", len(queries), "queries", 20, conditions),
    ]


def reader() -> Client:
    """Return a client in which a viewer is signed in."""
    person, _ = User.objects.get_or_create(username="bench-reader")
    set_role(person, "viewer")
    client = Client(HTTP_HOST="localhost")
    client.force_login(person)
    return client


def request(client: Client, url: str) -> float:
    """Ask for a page and return how long the server took, in milliseconds."""
    started = time.perf_counter()
    response = client.get(url)
    milliseconds = (time.perf_counter() - started) * 1000
    assert response.status_code == 200, f"{url} answered {response.status_code}"
    return milliseconds
