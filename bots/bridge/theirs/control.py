"""The six control messages of a bot that keeps its own tools and database; what it answers is checked here."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bots.bridge.contract import PartyFailed
from bots.bridge.link import Link
from bots.bridge.theirs.literals import NotALiteral, read_literal
from scenarios.domains.base import InitAction
from scenarios.sides import Side

VERSION = "1.1.0"  # of RTVI, as the reference's bridge says it
# The reference's bots take frames of 1 MiB, the default of their socket library.
MAX_SEND_BYTES = 2**20
ANSWER_S = 15.0
MAX_ERRORS = 5
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Summary:
    """What a bot says of its end state; ``db`` is None where it was not asked for or not given."""

    actions: list[dict[str, Any]]
    db_hash: str | None
    db: dict[str, Any] | None


async def reset(link: Link) -> None:
    """Have the bot forget its last conversation. Raises PartyFailed."""
    if await link.ask("reset", {}, ANSWER_S) is False:
        raise PartyFailed("reset_refused", f"the {link.side} party could not be reset", side=link.side)


async def update_system_prompt(link: Link, prompt: str, offers: Sequence[Sequence[str]], domain: str) -> None:
    """Give the bot its prompt and the names of its tools; this also empties its state. Raises PartyFailed.

    ``offers`` are the same tools under different names, tried in turn: a bot answers false for a name it does not know.
    """
    for names in offers:
        tools = json.dumps({name: {} for name in names})
        data = {"prompt": prompt, "tools": tools, "add_suffix": False, "tool_domain": domain}
        if await link.ask("update_system_prompt", data, ANSWER_S) is True:
            return
    listed = ", ".join(offers[0])
    text = f"the {link.side} party did not take its prompt and tools; has it all of {domain}'s: {listed}?"
    raise PartyFailed("prompt_refused", text[:2000], retry=False, side=link.side)


async def apply_initialization(
    link: Link, domain: str, state: Mapping[str, Any], actions: Sequence[InitAction]
) -> None:
    """Give the bot the state it starts from. Raises PartyFailed."""
    steps = [
        {"func_name": action.func_name, "arguments": dict(action.arguments), "side": action.side} for action in actions
    ]
    data = {"domain": domain, "shared_state_init": json.dumps(state), "actions": steps}
    _check_success(link.side, "apply_initialization", await link.ask("apply_initialization", data, ANSWER_S))


async def apply_sync_delta(link: Link, domain: str, delta: Mapping[str, Any]) -> None:
    """Tell the bot what the other side changed in its database; it must acknowledge. Raises PartyFailed."""
    data = {"domain": domain, "delta": delta}
    _check_success(link.side, "apply_sync_delta", await link.ask("apply_sync_delta", data, ANSWER_S))


async def scenario_summary(link: Link, *, include_db: bool) -> Summary:
    """Ask for actions, hash and, where wanted, the whole database. Raises PartyFailed."""
    answer = await link.ask("get_scenario_summary", {"include_db": include_db}, ANSWER_S)
    if not isinstance(answer, dict):
        raise _bad(link.side, f"it is no object but {_shown(answer)}")
    actions, db_hash, db = answer.get("actions"), answer.get("db_hash"), answer.get("db")
    if not isinstance(actions, list) or not all(isinstance(action, dict) for action in actions):
        raise _bad(link.side, f"'actions' must be a list of objects, not {_shown(actions)}")
    if db_hash is not None and not (isinstance(db_hash, str) and _HASH.fullmatch(db_hash)):
        raise _bad(link.side, f"'db_hash' must be a SHA-256 as 64 small hex digits or null, not {_shown(db_hash)}")
    if db is not None and not isinstance(db, dict):
        raise _bad(link.side, f"'db' must be an object, not {_shown(db)}")
    return Summary(actions, db_hash, db if include_db else None)


async def context_history(link: Link) -> list[dict[str, Any]]:
    """Ask for the messages as the bot's model saw them, JSON or the text of Python literals. Raises PartyFailed."""
    answer = await link.ask("get_context_history", {}, ANSWER_S)
    context = answer.get("context") if isinstance(answer, dict) else answer
    if isinstance(context, str):
        try:
            context = read_literal(context)
        except NotALiteral as error:
            raise PartyFailed("bad_history", f"the history is not readable: {error}", side=link.side) from error
    if not isinstance(context, list):
        raise PartyFailed("bad_history", f"the history is no list but {_shown(context)}", side=link.side)
    return [message for message in context if isinstance(message, dict)]


def _check_success(side: Side, kind: str, answer: Any) -> None:
    if isinstance(answer, dict) and answer.get("success") is True and not answer.get("errors"):
        return
    errors = answer.get("errors") if isinstance(answer, dict) else None
    if isinstance(errors, list) and errors:
        why = "; ".join(str(error)[:300] for error in errors[:MAX_ERRORS])
    else:
        why = f"it answered {_shown(answer)}"
    raise PartyFailed(f"{kind}_failed", f"the {side} party could not do {kind!r}: {why}", retry=False, side=side)


def _bad(side: Side, why: str) -> PartyFailed:
    return PartyFailed("bad_summary", f"the {side} party's summary is not usable: {why}", side=side)


def _shown(value: Any) -> str:
    return repr(value)[:80]
