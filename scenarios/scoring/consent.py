"""Was the caller asked before something was written, and was there time to write after the last yes?

Read from words, so for people to look at; it decides nothing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scenarios.scoring.evidence import CallRecord, ToolUse, Turn
from scenarios.scoring.farewell import GOODBYE, gist
from scenarios.scoring.numbers import identifiers, plain

_YES = re.compile(
    r"\b(?:yes|yeah|yep|yup|sure|ok|okay|please do|go ahead|proceed|confirm(?:ed)?|correct|that(?:'|’)?s right|do it|"
    r"sounds good|absolutely|of course|agreed?)\b"
)
_NO = re.compile(r"^(?:no|nope|not|don(?:'|’)?t|wait|stop)\b(?! problem| worries)")


@dataclass(frozen=True)
class Asked:
    """One write of the agent: the turn that spoke of it first, and the caller's yes between that turn and the write."""

    use: ToolUse
    offer: Turn | None
    consent: Turn | None


def is_yes(text: str) -> bool:
    """Return whether a text reads as a plain consent (English)."""
    said = plain(text).strip()
    return bool(_YES.search(said)) and not _NO.search(said) and gist(text) != GOODBYE


def asked(record: CallRecord) -> Iterator[Asked]:
    """Yield each successful write of the agent with the turns that came before it."""
    for use in record.tools.values():
        if use.side == "agent" and use.action is not None and not use.ends_call:
            before = [turn for turn in record.turns.values() if turn.seq < use.seq]
            offer = next((turn for turn in before if turn.side == "agent" and _speaks_of(turn.said, use)), None)
            answers = [turn for turn in before if turn.side == "user" and offer and turn.seq > offer.seq]
            yield Asked(use, offer, next((turn for turn in reversed(answers) if is_yes(turn.said)), None))


def early_stop(record: CallRecord) -> Turn | None:
    """Return the caller's last turn when it is a yes, and the call was ended by other than the agent with no write."""
    turns = [turn for turn in record.turns.values() if not turn.is_blank]
    if record.end_reason in (None, "party_failed") or record.ended_by == "agent" or not turns:
        return None
    last = max(turns, key=lambda turn: turn.seq)
    written = any(
        use.side == "agent" and use.seq > last.seq and use.action is not None for use in record.tools.values()
    )
    return last if last.side == "user" and is_yes(last.said) and not written else None


def _speaks_of(text: str, use: ToolUse) -> bool:
    """Return whether a turn names what a tool does, or asks about a record that its arguments name."""
    said = plain(text)
    verb = use.tool.partition("_")[0]
    stem = verb[:-1] if verb.endswith(("e", "y")) else verb
    if re.search(rf"\b{re.escape(stem)}", said):
        return True
    return "?" in said and not set(_named(use.arguments)).isdisjoint(identifiers(text))


def _named(value: Any) -> Iterable[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return [name for item in value for name in _named(item)]
    return identifiers(value) if isinstance(value, str) else []
