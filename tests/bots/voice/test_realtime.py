"""Voice calls in real time, spoken in tones."""

from tests.bots.conftest import Stage
from tests.bots.endpoint import Ask, say, use

TONES = {"agent": {"service": "tones"}, "caller": {"service": "tones"}}


async def test_a_spoken_call(stage: Stage) -> None:
    stage.script(
        agent=[
            say("Hello, how can I help?"),
            use(Ask("sell", {"ticket_id": "A1"})),
            say("Sold. Goodbye!", Ask("end_conversation")),
        ],
        caller=[say("Please sell me ticket A1.")],
    )
    held = await stage.hold(channel="voice", clock="realtime", voice=TONES)
    print(held.failure)
    for e in held.record.events:
        print(e.seq, e.at_ms, e.kind, e.side, str(e.data)[:200])
    assert held.failure is None
