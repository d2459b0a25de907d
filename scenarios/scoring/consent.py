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

_GO = r"yes|yeah|yep|yup|please do|go ahead|proceed|confirm(?:ed)?|do it|absolutely"
# A word to go on, and those that may as well only acknowledge.
_GO_AHEAD = re.compile(rf"\b(?:{_GO})\b")
_YES = re.compile(rf"\b(?:{_GO}|sure|ok|okay|correct|that(?:'|’)?s right|sounds good|of course|agreed?)\b")
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
            yield Asked(use, offer, next((turn for turn in reversed(answers) if _agrees(turn.said, use)), None))


def early_stop(record: CallRecord) -> Turn | None:
    """Return the caller's last turn when it is a yes, and the call was ended by other than the agent with no write."""
    turns = [turn for turn in record.turns.values() if not turn.is_blank]
    if record.end_reason in (None, "party_failed") or record.ended_by == "agent" or not turns:
        return None
    last = max(turns, key=lambda turn: turn.seq)
    written = any(
        use.side == "agent" and use.seq > last.seq and use.action is not None for use in record.tools.values()
    )
    goes_ahead = last.side == "user" and is_yes(last.said) and _GO_AHEAD.search(plain(last.said))
    return last if goes_ahead and not written else None


def _agrees(text: str, use: ToolUse) -> bool:
    """Return whether a turn of the caller is a yes, or itself asks for what a tool does."""
    return is_yes(text) or (_names(text, use.tool.split("_")[:1]) and not _NO.search(plain(text).strip()))


def _speaks_of(text: str, use: ToolUse) -> bool:
    """Return whether a turn names what a tool does, or asks about its object or a record that its arguments name."""
    verb, *rest = use.tool.split("_")
    if _names(text, [verb]):
        return True
    is_about = _names(text, rest) or not set(_named(use.arguments)).isdisjoint(identifiers(text))
    return "?" in text and is_about


def _names(text: str, names: Iterable[str]) -> bool:
    """Return whether one of the words of a tool's name stands in a text, in any of its forms."""
    said = plain(text)
    stems = [re.escape(name.rstrip("sey") if len(name) > 4 else name) for name in names if len(name) > 3]
    return any(re.search(rf"\b{stem}", said) for stem in stems)


def _named(value: Any) -> Iterable[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return [name for item in value for name in _named(item)]
    return identifiers(value) if isinstance(value, str) else []
