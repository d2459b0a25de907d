"""Spoken calls of stand-ins: how fast in lockstep, how punctual in real time, whether a party server grows.

Speech is local (Piper, Whisper) where it is installed; the stand-ins' lines come from the cache of speech after the
first call, as in every rehearsal.
"""

import asyncio
import json
import os
import statistics
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.bench.figure import Figure
from tests.bench.recorder import resident_mb
from tests.bench.site import FREE_PORTS, Site

ONE_MINUTE_S = 12.0
CALLS_A_MINUTE = 7
COLD_S = 25.0
OUR_SIDE_MS = 60.0
AT_ONCE = 3
LIVE_SECONDS = 40
MANY = 50
GROWTH_MB = 8.0


def measure() -> list[Figure]:
    """Start what calls need, cold, and hold calls in this process."""
    from bots.capacity import configuration, hold_calls, point_of, speech_here
    from scenarios.voice import Speech

    speech = speech_here()
    started, before = time.monotonic(), _cpu()
    with parties():
        lockstep = configuration("lockstep", speech, None)
        first = point_of(*asyncio.run(hold_calls(1, lockstep)))
        cold_s = time.monotonic() - started
        figures = [_cold(cold_s, _cpu() - before, first, speech.service)]
        figures += [_lockstep(calls, lockstep, speech.service) for calls in (1, AT_ONCE)]
        figures += _realtime(configuration("realtime", speech, LIVE_SECONDS), speech.service)
    with parties():  # anew: what recognition needed would hide what a call leaves behind
        figures += _many(configuration("lockstep", Speech(service="tones"), None))
    return figures


def _cold(seconds: float, cpu: float, point: Any, service: str) -> Figure:
    what = f"a recording of {point.speech_s:.0f} s, {point.failed} failed"
    conditions = f"{service} speech, {what}; all processes are new; {cpu:.1f} s of CPU in all of them"
    return Figure("cold start to finished WAV, lockstep", seconds, "s", COLD_S, conditions)


def _lockstep(calls: int, config: Any, service: str) -> Figure:
    from bots.capacity import hold_calls, point_of

    before = _cpu()
    point = point_of(*asyncio.run(hold_calls(calls, config)))
    cpu = (_cpu() - before) / (point.speech_s / 60)
    conditions = (
        f"{service} speech, {point.speech_s:.0f} s of recordings in {point.seconds:.1f} s, {point.failed} failed; "
        f"{cpu:.1f} s of CPU a call of one minute in party servers, stand-ins and bridge"
    )
    limit = ONE_MINUTE_S if calls == 1 else 60 / CALLS_A_MINUTE
    name = "a call of one minute in lockstep" + (f", a part of {calls} at once" if calls > 1 else "")
    return Figure(name, 60 / point.calls_a_minute, "s", limit, conditions)


def _realtime(config: Any, service: str) -> list[Figure]:
    from bots.capacity import hold_calls, point_of

    before = _cpu()
    records, failed, seconds = asyncio.run(hold_calls(2, config))
    point = point_of(records, failed, seconds)
    cores = (_cpu() - before) / seconds
    conditions = f"{service} speech, {point.late} of {point.ticks} ticks, {point.failed} failed; {cores:.2f} cores busy"
    parts = [event.data["parts"] for record in records for event in record.events if event.kind == "latency.measured"]
    ours = [part["transport"] + part["residual"] for part in parts if "transport" in part]
    figures = [Figure("audio late, two pairs in real time", 100 * (point.late_share or 0), "%", 1, conditions)]
    if ours:
        told = f"transport and what no part accounts for, median of {len(ours)} of {len(parts)} response times"
        figures.append(Figure("what our side adds to a response", statistics.median(ours), "ms", OUR_SIDE_MS, told))
    return figures


def _many(config: Any) -> list[Figure]:
    """Hold many calls one after the other, a few at once, and see whether the party servers grow."""
    from django.conf import settings

    from bots.capacity import hold_calls

    for _ in range(MANY // 5):  # so many until all pools and caches of the process are as large as they become
        asyncio.run(hold_calls(5, config))
    servers = {"agents": settings.PARTY_AGENT_URL, "callers": settings.PARTY_USER_URL}
    started = {name: _health(address) for name, address in servers.items()}
    before = {name: resident_mb(health["pid"]) for name, health in started.items()}
    failed = sum(len(asyncio.run(hold_calls(5, config))[1]) for _ in range(MANY // 5))
    figures = []
    for name, address in servers.items():
        health = _health(address)
        grown = resident_mb(health["pid"]) - before[name]
        held = health["started"] - started[name]["started"]
        conditions = (
            f"{held} calls with tones, {failed} failed; {before[name]:.0f} MB before, {health['running']} running after"
        )
        figures.append(
            Figure(f"growth of the {name}' party server in {MANY} calls", grown, "MB", GROWTH_MB, conditions)
        )
    return figures


def _cpu() -> float:
    """Return the CPU time of this process and all that it started, in seconds."""
    return Site("", os.getpid()).cpu_seconds()


def _health(address: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{address.replace('ws://', 'http://')}/health", timeout=10) as response:
        found: dict[str, Any] = json.load(response)
    return found


@contextmanager
def parties() -> Iterator[None]:
    """Start party servers and the stand-in endpoint, as ``manage.py serve`` does."""
    from django.conf import settings

    from evalsite.services import call_services
    from evalsite.supervisor import Supervisor

    for name, value in FREE_PORTS.items():
        setattr(settings, name, value)
    calls = call_services()
    for name, value in calls.variables.items():
        setattr(settings, name, value)
    supervisor = Supervisor({**os.environ, **calls.variables}, settings.BASE_DIR, lambda text: print(text))
    try:
        supervisor.start(calls.services)
        yield
    finally:
        supervisor.stop()
