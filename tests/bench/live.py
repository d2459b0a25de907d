"""From an event to a viewer's socket: 8 calls, 20 viewers, every sequence number checked."""

import asyncio
import json
import statistics
import time
from collections.abc import Iterable

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from websockets.asyncio.client import connect

from evalsite.access import set_role
from scenarios.models import Run, Trial, TrialEvent
from tests.bench import runs
from tests.bench.figure import Figure
from tests.bench.site import Site

CALLS, VIEWERS, PACE_S = 8, 20, 0.4
# Arrival of each event at one viewer: (seq, wall clock in seconds), in the order of arrival.
Arrivals = list[tuple[int, float]]


def measure(site: Site) -> list[Figure]:
    """Hold paced calls, watch them from many sockets, compare arrival with the event's own time."""
    names = [f"tau2_retail__{number}" for number in range(CALLS)]
    run = runs.start("tau2_retail", "standin-faithful", names=names, pace_s=PACE_S)
    watched = asyncio.run(_watch(site, run, _session()))
    runs.wait(run)
    delays, lost, doubled = compare(watched)
    cuts = statistics.quantiles(delays, n=100)
    conditions = (
        f"{CALLS} calls paced at {PACE_S} s a turn, {VIEWERS} sockets, {len(delays)} deliveries; "
        "from the recorder's stamp to the arrival at the socket; events older than the socket left out"
    )
    return [
        Figure("event to viewer, p50", cuts[49], "ms", None, conditions),
        Figure("event to viewer, p95", cuts[94], "ms", 150, conditions),
        Figure("events lost or doubled", lost + doubled, "events", 1, f"{lost} lost, {doubled} doubled; {conditions}"),
    ]


def compare(watched: Iterable[tuple[int, float, Arrivals]]) -> tuple[list[float], int, int]:
    """Return delays in ms of events born after each viewer came, and how many events were lost and doubled."""
    delays: list[float] = []
    lost = doubled = 0
    for trial, opened, arrivals in watched:
        born = {
            seq: created.timestamp()
            for seq, created in TrialEvent.objects.filter(trial_id=trial).values_list("seq", "created_at")
        }
        seen = [seq for seq, _ in arrivals]
        doubled += len(seen) - len(set(seen))
        lost += len(set(born) - set(seen))
        delays += [(at - born[seq]) * 1000 for seq, at in arrivals if born[seq] > opened]
    return delays, lost, doubled


def _session() -> str:
    person, _ = User.objects.get_or_create(username="bench-viewer")
    set_role(person, "viewer")
    client = Client(HTTP_HOST="localhost")
    client.force_login(person)
    return str(client.cookies[settings.SESSION_COOKIE_NAME].value)


async def _watch(site: Site, run: Run, session: str) -> list[tuple[int, float, Arrivals]]:
    trials = await sync_to_async(_running)(run)
    return await asyncio.gather(*(_view(site, trials[number % CALLS], session) for number in range(VIEWERS)))


def _running(run: Run) -> list[int]:
    """Return the trials once all are held."""
    for _ in range(300):
        trials = list(Trial.objects.filter(run=run, status="running").values_list("pk", flat=True))
        if len(trials) == CALLS:
            return trials
        time.sleep(0.05)
    raise RuntimeError(f"only {len(trials)} of {CALLS} calls were running at once")


async def _view(site: Site, trial: int, session: str) -> tuple[int, float, Arrivals]:
    """Watch one trial to its end, confirming as a page does."""
    address = f"{site.address.replace('http', 'ws')}/ws/trials/{trial}/"
    headers = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={session}"}
    arrivals: Arrivals = []
    opened = time.time()
    async with connect(address, additional_headers=headers, origin=site.address) as socket:  # type: ignore[arg-type]
        await socket.send(json.dumps({"after": 0}))
        async for text in socket:
            now = time.time()
            message = json.loads(text)
            if message["type"] == "events":
                arrivals += [(row["seq"], now) for row in message["rows"]]
            elif message["type"] == "beat":
                await socket.send(json.dumps({"after": arrivals[-1][0] if arrivals else 0}))
            elif message["type"] == "state" and message["ended"]:
                break
    return trial, opened, arrivals
