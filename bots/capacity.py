"""How many voice calls this machine bears at once, measured with calls of stand-ins (``python -m bots.measure``).

``manage.py voice_capacity`` starts the party servers and the stand-in endpoint, and this beside them. The calls are
real ones (party servers, bridge, recording) without a database; speech that was made before is not kept, so that each
call costs what a call of a model costs.
"""

import argparse
import asyncio
import importlib.util
import os
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from uuid import uuid4

from django.conf import settings

from bots.bridge.contract import PartyFailed, Stop
from bots.recorder import TrialRecord
from scenarios.launch import FrozenProfile, Limits, RunConfig, ScenarioRef
from scenarios.lifecycle import Claim
from scenarios.voice import Clock, Speech, VoiceConfig
from scenarios.voice_capacity import Capacity, ClockCapacity, Point, here, save

DOMAIN, SCENARIO = "frontdesk", "frontdesk__breakfast"
# Real time is borne while under one tick in a hundred is late.
LATE_SHARE = 0.01
# One more call at once that brings less than this is too many.
GAIN = 1.05
MOST = 32
SECONDS = 20

Hold = Callable[[int], Awaitable[Point]]
Say = Callable[[str], object]


async def most_in_real_time(hold: Hold, most: int, say: Say) -> ClockCapacity:
    """Return how many calls in real time there may be: the last number at which they were all in time."""
    points: list[Point] = []
    for calls in range(1, most + 1):
        points.append(point := await hold(calls))
        late = point.late_share
        say(f"realtime, {calls} at once: {'-' if late is None else f'{late:.2%}'} of {point.ticks} ticks late")
        if late is None or late >= LATE_SHARE or point.failed:
            break
    held = sum(p.late_share is not None and p.late_share < LATE_SHARE and not p.failed for p in points)
    return ClockCapacity(calls=max(1, held), is_short=not held, points=tuple(points))


async def best_in_lockstep(hold: Hold, most: int, say: Say) -> ClockCapacity:
    """Return the number of calls at once that holds most calls a minute, before more of them bring nothing."""
    points: list[Point] = []
    best: Point | None = None
    for calls in range(1, most + 1):
        points.append(point := await hold(calls))
        say(f"lockstep, {calls} at once: {point.calls_a_minute:.1f} calls of one minute a minute")
        if point.failed or (best is not None and point.calls_a_minute < best.calls_a_minute * GAIN):
            break
        best = point
    return ClockCapacity(calls=best.calls if best else 1, is_short=best is None, points=tuple(points))


async def hold_at_once(calls: int, config: RunConfig) -> Point:
    """Hold so many calls at once and return what was seen."""
    return point_of(*await hold_calls(calls, config))


async def hold_calls(calls: int, config: RunConfig) -> tuple[list[TrialRecord], list[PartyFailed], float]:
    """Hold so many calls at once; return their records, what failed, and how many seconds they took."""
    from bots.call import hold_call  # what the measuring rules do without

    records = [TrialRecord(_claim(config, number)) for number in range(1, calls + 1)]
    begun = time.monotonic()
    ended = await asyncio.gather(
        *(hold_call(record.claim, record, Stop()) for record in records), return_exceptions=True
    )
    seconds = time.monotonic() - begun
    for outcome in ended:
        if isinstance(outcome, BaseException) and not isinstance(outcome, PartyFailed):
            raise outcome
    return records, [outcome for outcome in ended if isinstance(outcome, PartyFailed)], seconds


def point_of(records: list[TrialRecord], failed: list[PartyFailed], seconds: float) -> Point:
    """Return what was seen of calls that were held at once."""
    ticks = [_ticks(record) for record in records]
    return Point(
        calls=len(records),
        seconds=seconds,
        speech_s=sum(e.data["duration_ms"] for r in records for e in r.events if e.kind == "call.ended") / 1000,
        ticks=sum(all_ticks for all_ticks, _ in ticks),
        late=sum(late for _, late in ticks),
        failed=len(failed),
    )


def _ticks(record: TrialRecord) -> tuple[int, int]:
    """Return the audio ticks of a call and the late ones, by its own note; none in lockstep."""
    from bots.bridge.audio.realtime import read_ticks

    notes = (str(event.data["text"]) for event in record.events if event.kind == "note")
    return next((found for note in notes if (found := read_ticks(note))), (0, 0))


def configuration(clock: Clock, speech: Speech, seconds: int | None) -> RunConfig:
    """Return the configuration of a call of stand-ins; ``seconds`` ends it early."""
    parties = {
        kind: FrozenProfile.model_validate(
            {"slug": kind, "kind": kind, "model": f"{model}:{{scenario}}", "is_standin": True}
        )
        for kind, model in (("agent", "standin-faithful"), ("caller", "standin-caller"))
    }
    return RunConfig(
        domain=DOMAIN,
        scenarios=[ScenarioRef(name=SCENARIO, fingerprint="")],
        trials=1,
        agent=parties["agent"],
        caller=parties["caller"],
        judge=None,
        channel="voice",
        clock=clock,
        voice=VoiceConfig(agent=speech, caller=speech),
        limits=Limits(max_duration_s=seconds),
    )


def _claim(config: RunConfig, number: int) -> Claim:
    return Claim(0, 0, SCENARIO, number, uuid4(), 1, 0, config.model_dump(mode="json"))


def speech_here() -> Speech:
    """Return local speech where it is installed, else the stand-in for speech."""
    is_there = all(importlib.util.find_spec(name) for name in ("faster_whisper", "piper"))
    return Speech() if is_there else Speech(service="tones")


async def measure(clocks: list[Clock], most: int, seconds: int, say: Say) -> Capacity:
    """Measure the clocks that are asked for."""
    speech = speech_here()
    load = os.getloadavg()[0]
    await hold_at_once(1, configuration("lockstep", speech, 5))  # loads the models
    found: dict[str, ClockCapacity] = {}
    if "lockstep" in clocks:
        whole = configuration("lockstep", speech, None)
        found["lockstep"] = await best_in_lockstep(lambda calls: hold_at_once(calls, whole), most, say)
    if "realtime" in clocks:
        paced = configuration("realtime", speech, seconds)
        found["realtime"] = await most_in_real_time(lambda calls: hold_at_once(calls, paced), most, say)
    host, cores = here()
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Capacity(host=host, cores=cores, load=load, speech=speech.service, measured_at=now, **found)


def main() -> None:
    """Measure, print as it goes, keep the result."""
    parser = argparse.ArgumentParser(prog="bots.measure", description=__doc__)
    parser.add_argument("--clock", choices=["lockstep", "realtime"], action="append")
    parser.add_argument("--most", type=int, default=MOST)
    parser.add_argument("--seconds", type=int, default=SECONDS)
    options = parser.parse_args()
    clocks: list[Clock] = options.clock or ["lockstep", "realtime"]
    with tempfile.TemporaryDirectory(prefix="callboard-capacity-") as folder:
        here_only = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": folder}}
        settings.STORAGES = {**settings.STORAGES, "default": here_only}
        capacity = asyncio.run(measure(clocks, options.most, options.seconds, lambda text: print(text, flush=True)))
    save(capacity)
