"""A whole voice call in tones between real party servers, for tests that are not asyncio's: held in a thread."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from bots.call import Stop, hold_call
from scenarios.models import Trial, TrialEvent
from scenarios.sides import SIDES
from tests.bots.conftest import PartyServer, Stage, start_party
from tests.bots.endpoint import Ask, Endpoint, say, use
from tests.bots.record import ListRecord

AGENT = [
    say("Hello, how can I help?"),
    use(Ask("look_up", {"ticket_id": "A1"})),
    say("It is free. Shall I sell it to you?"),
    use(Ask("sell", {"ticket_id": "A1"})),
    say("Sold. Goodbye!", Ask("end_conversation")),
]
CALLER = [say("Is ticket A1 free?"), say("Yes, please.")]


def hold_in_tones(trial: Trial, settings: Any) -> None:
    """Hold the call of a trial of the toy domain in lockstep, and store its record as a lane does."""
    with ThreadPoolExecutor(2) as threads:
        servers = list(threads.map(start_party, SIDES))
        try:
            record = threads.submit(lambda: asyncio.run(_hold(trial, servers, settings))).result()
        finally:
            for server in servers:
                server.kill()
    TrialEvent.objects.bulk_create(
        TrialEvent(
            trial=trial, seq=e.seq, at_ms=e.at_ms, kind=e.kind, side=e.side, data=e.data, created_at=e.created_at
        )
        for e in record.stored
    )
    (end,) = record.of("call.ended")
    facts = {"last_seq": len(record.stored), "turn_count": len(record.of("turn.ended")), "status": "done"}
    Trial.objects.filter(pk=trial.pk).update(outcome="pass", duration_ms=end["duration_ms"], **facts)
    trial.refresh_from_db()


async def _hold(trial: Trial, servers: list[PartyServer], settings: Any) -> ListRecord:
    for server in servers:
        setattr(settings, "PARTY_AGENT_URL" if server.side == "agent" else "PARTY_USER_URL", server.address)
    endpoint = await Endpoint(scripts={"agent": AGENT, "caller": CALLER}).start()
    try:
        stage = Stage(endpoint, {}, lambda side, address: None)
        tones = {"service": "tones"}
        claim = stage.claim(channel="voice", clock="lockstep", voice={"agent": tones, "caller": tones})
        record = ListRecord()
        own = replace(claim, trial_id=trial.pk, run_id=trial.run_id, number=trial.number, attempt=trial.attempts)
        await hold_call(own, record, Stop())
        return record
    finally:
        await endpoint.stop()
