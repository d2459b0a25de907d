"""Before the first word of a party that keeps its tools: reset, told who it is, given the state it starts from."""

import asyncio
from collections.abc import Mapping
from typing import Any

from bots.bridge.contract import PartyFailed
from bots.bridge.link import Link
from bots.bridge.state import Call
from bots.bridge.theirs import control
from scenarios.events import Noted
from scenarios.sides import Side

READY_S = 5.0
# Such a bot serves one call at a time; another may be about to end.
BUSY_WAITS_S = (1.0, 2.0, 4.0, 8.0)


async def prepare_theirs(call: Call, side: Side, prompt: str) -> None:
    """Bring one side to the start of the scenario. Raises PartyFailed."""
    for wait in (*BUSY_WAITS_S, None):
        try:
            await _introduce(call, side)
            break
        except PartyFailed as failure:
            if failure.kind != "party_busy" or wait is None:
                raise
            await _start_over(call, side)
            await asyncio.sleep(wait)
    link, domain = call.links[side], call.spec.domain
    await control.update_system_prompt(link, prompt, offers(call, side), domain)
    own = [action for action in call.spec.init_actions if action.side == side]
    await control.apply_initialization(link, domain, start_state(call, side), own)


async def open_ready(link: Link) -> bool:
    """Connect and greet; return whether the bot said in time that it is ready. Raises PartyFailed."""
    await link.open()
    await link.greet(control.VERSION)
    try:
        async with asyncio.timeout(READY_S):
            await link.ready_or_closed()
    except TimeoutError:
        return False
    return True


def offers(call: Call, side: Side) -> list[list[str]]:
    """Return the names of a side's tools: as the reference's classes are called, and as models are shown them."""
    tools = call.domain.tools(side)
    classes, shown = [type(tool).__name__ for tool in tools], [tool.model_name() for tool in tools]
    # The end tool stands in a namespace that all domains share, under the name of its class.
    mixed = [name if name.startswith("EndConversation") else other for name, other in zip(classes, shown, strict=True)]
    return [classes, mixed] if mixed != classes else [classes]


def start_state(call: Call, side: Side) -> Mapping[str, Any]:
    """Return the state a bot is given before its initialisation. Raises PartyFailed for one that is too large."""
    state = call.domain.start_state(call.spec, side)
    if "db" in state:
        seed = call.environment.databases[side].seed
        size = sum(len(seed.table_bytes(table)) for table in seed.data)
        if size > control.MAX_SEND_BYTES // 2:
            text = f"the database of {call.spec.name} ({size} bytes) is too large to be sent to a bot in one frame"
            raise PartyFailed("state_too_large", text, retry=False, side=side)
    return state


async def _introduce(call: Call, side: Side) -> None:
    link = call.links[side]
    if not await open_ready(link):
        call.record(Noted("warning", f"the bot did not say within {READY_S:g} s that it is ready", side))
    await control.reset(link)


async def _start_over(call: Call, side: Side) -> None:
    """Put a fresh link in the place of one that was refused, and forget that it was."""
    old = call.links[side]
    await old.close()
    call.links[side] = Link(side, old.address, call.inbox, control.MAX_SEND_BYTES)
    waiting = [call.inbox.get_nowait() for _ in range(call.inbox.qsize())]
    for speaker, message in waiting:
        if speaker != side:
            call.inbox.put_nowait((speaker, message))
