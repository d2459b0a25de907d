"""All six control messages tried on a bot that keeps its own tools, without a word said: does it do what calls need?"""

import asyncio
from typing import Any

from bots.bridge.contract import PartyFailed
from bots.bridge.link import Heard, Link
from bots.bridge.theirs import control
from bots.bridge.theirs.preparing import open_ready
from scenarios.sides import Side
from scenarios.state.overlay import Overlay, Seed

# The namespace of every bot: its one tool is the end tool, and deltas are plain dotted paths there.
DOMAIN, TOOL = "default", "EndConversationTool"
PROMPT = "This is a test of the connection. Nothing will be said."
# Everything the canonical hash is particular about, in one small database.
DATABASE: dict[str, Any] = {
    "bookings": [{"id": "B", "fare": 200.0}, {"id": "A", "fare": 99.5}],
    "items": ["z", "a"],
    "status": " None ",
    "preflight": {"name": "Zo\u00eb", "count": 1},
    "session": {"ignored": True},
}
DELTA = {"preflight.count": 2}


async def rehearse(address: str, side: Side) -> str:
    """Take a bot through reset, prompt, state, synchronisation and summary; return what it can. Raises PartyFailed."""
    inbox: asyncio.Queue[Heard] = asyncio.Queue()
    link = Link(side, address, inbox, control.MAX_SEND_BYTES)
    try:
        is_ready = await open_ready(link)
        await control.reset(link)
        # The caller's bot has no end tool: only the agent ends a call.
        await control.update_system_prompt(link, PROMPT, [[TOOL] if side == "agent" else []], DOMAIN)
        await control.apply_initialization(link, DOMAIN, {"db": DATABASE}, [])
        await _compare(link, DATABASE, "the state it was given")
        await control.apply_sync_delta(link, DOMAIN, DELTA)
        changed = {**DATABASE, "preflight": {**DATABASE["preflight"], "count": 2}}
        await _compare(link, changed, f"the delta {DELTA}")
        await control.context_history(link)
        await control.reset(link)
    finally:
        await link.close()
    return "all six control messages work" if is_ready else "all six control messages work, but it sent no bot-ready"


async def _compare(link: Link, database: dict[str, Any], after: str) -> None:
    summary = await control.scenario_summary(link, include_db=False)
    expected = Overlay(Seed(database)).hash
    if summary.db_hash == expected:
        return
    text = f"after {after} the bot's hash is {summary.db_hash or 'null'}, and the canonical one is {expected}"
    raise PartyFailed("bad_hash", f"{text}: see 'The hash' in docs/external-agents.md", retry=False, side=link.side)
