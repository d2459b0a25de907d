"""How the sides of a call reach each other: in writing, or by voice with a recording."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module

from bots.bridge.conversation import converse
from bots.bridge.state import Call, Ended
from scenarios.events import Noted
from scenarios.lifecycle import Claim
from scenarios.recordings import recording_name

Talk = Callable[[], Awaitable[Ended]]


@asynccontextmanager
async def open_channel(call: Call, trial: Claim) -> AsyncIterator[Talk]:
    """Start the call's clock and give what lets the sides talk; a recording is kept however the talk ends."""
    if call.config.channel == "text":
        call.start()
        yield partial(converse, call)
        return
    # Arrays and resampling, which a text call does without; loaded off the loop, in which other calls are heard.
    await asyncio.to_thread(import_module, "bots.bridge.audio.realtime")
    from bots.bridge.audio.lockstep import Lockstep
    from bots.bridge.audio.realtime import Realtime
    from bots.bridge.audio.recording import Recording

    # Before the clock starts: noise is made for the occasion.
    line = await asyncio.to_thread(call.conditions.line) if call.conditions else None
    recording = Recording(recording_name(trial.run_id, trial.scenario, trial.number, trial.attempt))
    talk = (Lockstep if call.config.clock == "lockstep" else Realtime)(call, recording, line)
    if isinstance(talk, Realtime):
        await talk.prepare()
    call.start(lambda: talk.now_ms)
    if call.conditions:
        call.record(Noted("info", str(call.conditions), "user"))
    try:
        yield talk.converse
    finally:
        await recording.close()
        if recording.broken:
            call.record(Noted("error", f"the call is not recorded to its end: {recording.broken}"))
