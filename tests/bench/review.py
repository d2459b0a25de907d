"""A reviewer's desk on a queue of 10,000 verdicts: time in the server from a key to what follows it."""

import re
import statistics
import time

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from evalsite.access import set_role
from scenarios.models import Run, SignalResult, Trial, TrialEvent, Verdict
from scenarios.reviewing import QueueFilter, make_queue
from tests.bench.figure import Figure
from tests.calls import Call, exchange
from tests.factories import make_run, make_trial

CALLS, CLAIMS, ITEMS = 2_000, 5, 40
LIMIT_MS = 60
FIELDS = re.compile(r'<input type="hidden" name="(slot|lease|stage|submit_key)" value="([^"]*)"')


def measure() -> list[Figure]:
    """Work through some items as a person does, blind and then kept, and report the medians."""
    run = judged_run()
    queue = make_queue("Bench", QueueFilter(runs=(run.pk,)), None, reviews_per_item=2)
    client = reviewer()
    html = client.get(f"/review/{queue.pk}/").content.decode()
    blind: list[float] = []
    following: list[float] = []
    busy: list[float] = []
    for _ in range(ITEMS):
        for times in (blind, following):
            started, cpu = time.perf_counter(), time.process_time()
            html = _send(client, queue.pk, html)
            times.append((time.perf_counter() - started) * 1000)
            busy.append((time.process_time() - cpu) * 1000)
    rows = TrialEvent.objects.filter(trial=run.trials.first()).count()
    conditions = (
        f"queue of {queue.items.count():,} verdicts, 2 reviews each, calls of {rows} events, {connection.vendor}; "
        f"median of {ITEMS}, {statistics.median(busy):.0f} ms of CPU each, worst {{:.0f}} ms"
    )
    run.delete()
    return [
        Figure(name, statistics.median(times), "ms", LIMIT_MS, conditions.format(max(times)))
        for name, times in (("review, ruling to reveal", blind), ("review, ruling to next item", following))
    ]


def judged_run() -> Run:
    """Make a run of calls with one record, claims and signals each."""
    run = make_run(CALLS, 1, ["fail"], domain="bench", title="bench review")
    model = exchange(exchange(Call(make_trial(state="running", last_seq=0)).begin())).end().trial
    events = list(TrialEvent.objects.filter(trial=model))
    trials = list(run.trials.all())
    for trial in trials[: ITEMS // CLAIMS + 2]:
        for event in events:
            event.pk, event.trial = None, trial
        TrialEvent.objects.bulk_create(events)
    Trial.objects.filter(run=run).update(last_seq=len(events))
    states = (("db_state_match", "passed"), ("nl_assertion", "failed"))
    SignalResult.objects.bulk_create(
        (
            SignalResult(trial=trial, signal=signal, state=state, is_gating=True, value=state == "passed")
            for trial in trials
            for signal, state in states
        ),
        batch_size=1000,
    )
    Verdict.objects.bulk_create(
        (
            Verdict(
                trial=trial,
                signal="nl_assertion",
                index=index,
                claim=f"The agent tells what order {index} costs.",
                passed=(trial.position + index) % 2 == 0,
                subject=f"{trial.pk}-{index}",
            )
            for trial in trials
            for index in range(1, CLAIMS + 1)
        ),
        batch_size=1000,
    )
    return run


def reviewer() -> Client:
    """Return a client in which a reviewer is signed in."""
    person, _ = User.objects.get_or_create(username="bench-reviewer")
    set_role(person, "reviewer")
    client = Client(HTTP_HOST="localhost")
    client.force_login(person)
    return client


def _send(client: Client, queue: int, html: str) -> str:
    form = {**dict(FIELDS.findall(html)), "ruling": "pass", "comment": ""}
    answer = client.post(f"/review/{queue}/rule/", form, headers={"HX-Request": "true"})
    assert answer.status_code == 200, f"the desk answered {answer.status_code}"
    return answer.content.decode()
