"""The way of each identifier through a call: told to the caller, said, heard by the agent, passed to a tool.

No model is asked: shapes find the identifiers (``shapes``), readings of words find them in speech (``spoken``), and
the first link that does not hold is named. Only a call that was transcribed can break at ``heard``.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from rapidfuzz.distance import Levenshtein

from scenarios.analysis.speech import shapes
from scenarios.analysis.speech.shapes import Identifier
from scenarios.analysis.speech.spoken import Reading, compact, find
from scenarios.domains.base import CallerBrief, ScenarioSpec
from scenarios.scoring.evidence import CallRecord, ToolUse, Turn

Place = Literal["told", "said", "heard", "passed"]
State = Literal["whole", "wrong", "absent", "not_measured"]
Break = Literal["never_told", "not_said", "said_wrong", "heard_wrong", "passed_wrong", "not_passed"]
# An argument that differs in more of its characters is another value, no wrong form of this one.
_MAX_WRONG = 0.4


class Conversation(Protocol):
    """What a chain is read from: the evidence of a call, or its plain record (``talked``)."""

    @property
    def turns(self) -> Sequence[Turn]: ...
    @property
    def tools(self) -> Sequence[ToolUse]: ...


@dataclass(frozen=True)
class Talked:
    """The turns and tool calls of a record, for which no database need be rebuilt."""

    turns: tuple[Turn, ...]
    tools: tuple[ToolUse, ...]


@dataclass(frozen=True)
class Link:
    """One station: ``text`` is the identifier as it stands there, ``turn``/``call`` and ``seq`` say where."""

    place: Place
    state: State
    text: str = ""
    turn: int | None = None
    call: int | None = None
    seq: int | None = None
    argument: str = ""  # path of a tool's argument


@dataclass(frozen=True)
class Chain:
    """One identifier and its four links. ``broken`` is the first link that does not hold; None: it arrived whole.

    ``never_told`` is no fault where ``passed`` is whole: the agent looked the value up. ``not_passed`` is none where
    ``is_expected`` is False: no reference action needs the value.
    """

    identifier: Identifier
    told: Link
    said: Link
    heard: Link
    passed: Link
    broken: Break | None
    is_expected: bool

    @property
    def links(self) -> tuple[Link, Link, Link, Link]:
        """Return the links in the order of the way."""
        return self.told, self.said, self.heard, self.passed

    @property
    def is_spoken(self) -> bool:
        """Return whether the caller was to say it or did: only then speech can have broken it."""
        return self.told.state == "whole" or self.said.state in {"whole", "wrong"}


def talked(record: CallRecord) -> Talked:
    """Return what of a record its chains are read from."""
    return Talked(tuple(record.turns.values()), tuple(record.tools.values()))


def chains(evidence: Conversation, spec: ScenarioSpec) -> list[Chain]:
    """Return the chain of every identifier: first those the caller is told, then those of gold actions."""
    text = told_text(spec.caller)
    expected = {found.text: found for found in _of_gold(spec)}
    wanted = {found.text: found for found in shapes.in_text(text)} | expected
    known = {compact(name) for name in wanted}
    return [_chain(found, text, evidence, found.text in expected, known) for found in wanted.values()]


def speech_fault(evidence: Conversation, spec: ScenarioSpec) -> str | None:
    """Return why a failed call is speech's fault, or None when no wrong argument came from a wrong transcript.

    The rule: an identifier was said as it is, the agent's transcript has it otherwise, no tool was ever given the
    right one, and what a tool was given is nearer to the transcript than to the truth.
    """
    for chain in chains(evidence, spec):
        if chain.broken != "heard_wrong" or chain.passed.state != "wrong":
            continue
        truth, passed, heard = compact(chain.identifier.text), compact(chain.passed.text), compact(chain.heard.text)
        if Levenshtein.distance(passed, heard) < Levenshtein.distance(passed, truth):
            return (
                f"{chain.identifier.text} was said (turn {chain.said.turn}, event {chain.said.seq}) and heard as "
                f"{chain.heard.text} (turn {chain.heard.turn}, event {chain.heard.seq}); {chain.passed.argument} of "
                f"call {chain.passed.call} (event {chain.passed.seq}) was then {chain.passed.text}"
            )
    return None


def told_text(caller: CallerBrief) -> str:
    """Return all that a caller is told of its task."""
    fields = (caller.goal, caller.personality, caller.known_info, caller.unknown_info, caller.background, caller.name)
    return "\n".join([*fields, *caller.instructions])


def _of_gold(spec: ScenarioSpec) -> Iterable[Identifier]:
    for action in spec.gold_actions:
        for _, value in shapes.leaves(action.arguments) if action.side == "agent" else ():
            found = shapes.of_value(value)
            if found is not None:
                yield found


def _chain(found: Identifier, text: str, evidence: Conversation, is_expected: bool, known: set[str]) -> Chain:
    turns = [turn for turn in evidence.turns if turn.side == "user" and not turn.is_blank]
    told = _told(found, text)
    said = _spoken("said", found, [(turn, turn.said) for turn in turns])
    heard = _heard(found, turns)
    passed = _passed(found, evidence.tools, known)
    return Chain(found, told, said, heard, passed, _first_break(told, said, heard, passed), is_expected)


def _first_break(told: Link, said: Link, heard: Link, passed: Link) -> Break | None:
    is_known = told.state == "whole" or said.state == "whole"
    if not is_known:
        return "never_told"
    if passed.state == "whole":
        return None
    if said.state != "whole":
        return "not_said" if said.state == "absent" else "said_wrong"
    if heard.state in {"wrong", "absent"}:
        return "heard_wrong"
    return "passed_wrong" if passed.state == "wrong" else "not_passed"


def _told(found: Identifier, text: str) -> Link:
    if found.text in text or (found.kind in {"date", "phone"} and _is_told_otherwise(found, text)):
        return Link("told", "whole", found.text)
    # A leading sign may be left out ("order W2378156").
    bare = found.text.lstrip("#")
    return Link("told", "whole", bare) if bare and bare in text else Link("told", "absent")


def _is_told_otherwise(found: Identifier, text: str) -> bool:
    readings = (find(sentence, form) for sentence in text.splitlines() for form in shapes.spoken_forms(found))
    return any(reading is not None and reading.is_exact for reading in readings)


def _heard(found: Identifier, turns: Sequence[Turn]) -> Link:
    transcribed = [(turn, turn.heard) for turn in turns if turn.heard is not None]
    return _spoken("heard", found, transcribed) if transcribed else Link("heard", "not_measured")


def _spoken(place: Place, found: Identifier, texts: Sequence[tuple[Turn, str]]) -> Link:
    """Return where an identifier stands in speech: the first turn that has it as it is, else the nearest."""
    best: tuple[Turn, Reading] | None = None
    for turn, text in texts:
        for form in shapes.spoken_forms(found):
            reading = find(text, form)
            if reading is not None and (best is None or reading.distance < best[1].distance):
                best = turn, reading
        if best is not None and best[1].is_exact:
            break
    if best is None:
        return Link(place, "absent")
    turn, reading = best
    state: State = "whole" if reading.is_exact else "wrong"
    shown = found.text if reading.is_exact else reading.text.upper()
    return Link(place, state, shown, turn=turn.turn, seq=turn.seq)


def _passed(found: Identifier, tools: Sequence[ToolUse], known: set[str]) -> Link:
    """Return the first tool call of the agent that has the value, else the one with the nearest wrong form of it."""
    target, near = compact(found.text), None
    looked_up = ""
    for use in tools:
        if use.side != "agent":
            continue
        for path, value in shapes.leaves(use.arguments):
            if isinstance(value, bool) or not isinstance(value, str | int):
                continue
            given = compact(str(value))
            link = Link("passed", "whole", str(value), call=use.call, seq=use.seq, argument=path)
            if given == target:
                return link
            if given and given not in known and given not in looked_up:
                distance = Levenshtein.distance(given, target)
                if distance <= _MAX_WRONG * len(target) and (near is None or distance < near[0]):
                    near = distance, link
        looked_up += compact(json.dumps(use.result, ensure_ascii=False, default=str)) if use.result is not None else ""
    if near is None:
        return Link("passed", "absent")
    link = near[1]
    return Link("passed", "wrong", link.text, call=link.call, seq=link.seq, argument=link.argument)


def summary(found: Iterable[Chain]) -> Mapping[str, int]:
    """Return how many spoken identifiers arrived whole and how many broke at which link."""
    counts: dict[str, int] = {}
    for chain in found:
        if chain.is_spoken:
            counts[chain.broken or "whole"] = counts.get(chain.broken or "whole", 0) + 1
    return counts
