"""Whole calls between two real party servers."""

from tests.bots.conftest import Stage
from tests.bots.endpoint import Ask, say, use


async def test_a_call_from_greeting_to_end_tool(stage: Stage) -> None:
    stage.script(
        agent=[
            say("Hello, how can I help?"),
            use(Ask("look_up", {"ticket_id": "A1"})),
            say("It is free. Shall I sell it to you?"),
            use(Ask("sell", {"ticket_id": "A1"})),
            say("Sold. Goodbye!", Ask("end_conversation")),
        ],
        caller=[say("Is ticket A1 free?"), say("Yes, please.")],
    )
    held = await stage.hold()
    assert held.failure is None
    assert held.record.said() == [
        ("agent", "Hello, how can I help?"),
        ("user", "Is ticket A1 free?"),
        ("agent", "It is free. Shall I sell it to you?"),
        ("user", "Yes, please."),
        ("agent", "Sold. Goodbye!"),
    ]
    assert (held.end["reason"], held.end["by"]) == ("end_tool", "agent")
    assert held.evidence is not None
    assert held.evidence.databases["agent"].get("tickets", "A1")["sold"] is True
    assert [action["name"] for action in held.evidence.actions] == ["sell"]
