"""After the last word: what each side's model saw, pulled while the sockets are still open."""

import asyncio
from typing import Any

from bots.bridge.contract import PartyFailed
from bots.bridge.conversation import report_usage
from bots.bridge.state import Call, Ended
from bots.bridge.theirs.pulling import pull_theirs
from scenarios.events import CLEAN_ENDS, ContextPulled, Noted
from scenarios.sides import SIDES, Side

MAX_PAGES = 100
# Nobody will read the contexts of these, and somebody waits for the call to be gone.
NOT_PULLED = frozenset({"cancelled", "site_stopping", "over_budget"})
# After a clean end a last result may still be on its way into the context; a call cut short is cut in any case.
SETTLE_S = 3.0
SETTLE_WHEN_CUT_S = 0.2


async def pull(call: Call, end: Ended) -> None:
    """Record both contexts, and the end state of a side that keeps its own.

    The record is complete without a context, so a party that fails there fails nothing; without such an end state
    nothing can be scored. Raises PartyFailed.
    """
    if end.reason in NOT_PULLED:
        return
    wait_s = SETTLE_S if end.reason in CLEAN_ENDS else SETTLE_WHEN_CUT_S
    pulls = [pull_theirs(call, side) if side in call.theirs else _pull_side(call, side, wait_s) for side in SIDES]
    for outcome in await asyncio.gather(*pulls, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome


async def _pull_side(call: Call, side: Side, wait_s: float) -> None:
    try:
        messages, is_settled = await _read_context(call, side, wait_s)
    except PartyFailed as failure:
        call.record(Noted("warning", f"the context could not be read: {failure}", side))
        return
    if not is_settled:
        call.record(Noted("warning", "the context was read while a reply or a tool call was still open", side))
    call.record(ContextPulled(side, messages))


async def _read_context(call: Call, side: Side, wait_s: float) -> tuple[list[dict[str, Any]], bool]:
    messages: list[dict[str, Any]] = []
    start: Any = 0
    for _ in range(MAX_PAGES):
        page = await call.links[side].request("context", {"start": start, "wait_s": wait_s})
        report_usage(call, side, page)
        found = page.get("messages")
        messages += [message for message in found if isinstance(message, dict)] if isinstance(found, list) else []
        start = page.get("next")
        if not isinstance(start, int):
            return messages, page.get("is_settled") is not False
    raise PartyFailed("context_too_large", f"the context has over {MAX_PAGES} pages", side=side)
