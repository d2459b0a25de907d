"""What our own export puts into an Inspect sample beyond Inspect's fields: outcome, times of turns, claims."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.records import ForeignVerdict, ImportedMessage, ImportedToolCall, ImportedTurn
from scenarios.formats.imports.redaction import scrub, scrubbed
from scenarios.formats.imports.reference_verdict import by_outcome
from scenarios.sides import SIDES, Side

_LETTERS = {"C": True, "I": False}


def is_ours(entry: Fields) -> bool:
    """Return whether a sample is of our own export."""
    metadata = entry.data.get("metadata")
    return isinstance(metadata, Mapping) and {"scenario_fingerprint", "outcome"} <= metadata.keys()


def our_verdict(entry: Fields, scores: Mapping[str, Any]) -> ForeignVerdict | None:
    """Return the verdict by the outcome that stands in the metadata; None when it is none of ours."""
    metadata = entry.under("metadata")
    found = by_outcome(metadata.text("outcome"))
    if found is None:
        return None
    mapped, why = found
    claims = [
        {"nl_assertion": item.data.get("claim"), "met": _met(score), "justification": score.data.get("explanation")}
        for name, score, item in _scores(entry, scores)
        if name.startswith("nl_assertion.")
    ]
    database = next((_met(score) for name, score, _ in _scores(entry, scores) if name == "db_state_match"), None)
    return ForeignVerdict(
        mapped=mapped,
        why=why,
        reward=None,
        written=scrubbed({"outcome": metadata.data["outcome"], "scores": scores}),
        db_match=database,
        nl_assertions=tuple(scrubbed(claims)),
        db_sides=_sides(metadata.data.get("db_sides")),
    )


def _sides(named: Any) -> tuple[Side, ...]:
    return SIDES if isinstance(named, list) and set(SIDES) <= set(map(str, named)) else ("agent",)


def with_times(turns: Sequence[ImportedTurn], messages: Sequence[Fields]) -> tuple[ImportedTurn, ...]:
    """Return turns with what was heard and when, which our export keeps in each message's metadata."""
    timed = []
    for turn in turns:
        noted = messages[turn.first_message or 0].under("metadata")
        heard = noted.text("heard")
        if heard is not None and heard != turn.spoken:
            turn = replace(turn, said=turn.spoken, spoken=scrub(heard))
        timed.append(replace(turn, started_ms=noted.integer("start_ms"), ended_ms=noted.integer("end_ms")))
    return tuple(timed)


def with_callers_calls(
    entry: Fields, messages: Sequence[ImportedMessage], calls: Sequence[ImportedToolCall]
) -> tuple[tuple[ImportedMessage, ...], tuple[ImportedToolCall, ...]]:
    """Return messages and calls with those of the caller, which Inspect has no place for, put back where they were."""
    told = list(entry.under("metadata").each("caller_tool_calls"))
    places = [one.integer("after_message") for one in told]
    if None in places:
        entry.remark("the caller's tool calls stand apart, without their places: they are not among the calls here")
        told, places = [], []
    theirs = [_callers_call(one, (place or 0) - 1) for one, place in zip(told, places, strict=True)]
    ordered = sorted([*calls, *theirs], key=lambda one: (one.message or 0, one.side == "user"))
    moved = {one.position: place for place, one in enumerate(ordered) if one.side == "agent"}
    put = [
        replace(one, calls=tuple(moved[call] for call in one.calls), answers=moved.get(one.answers or 0))
        if one.answers is not None
        else replace(one, calls=tuple(moved[call] for call in one.calls))
        for one in messages
    ]
    return tuple(put), tuple(replace(one, position=place) for place, one in enumerate(ordered))


def _callers_call(told: Fields, message: int) -> ImportedToolCall:
    ok, result = told.boolean("ok"), told.data.get("result")
    text = result if result is None or isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str)
    return ImportedToolCall(
        position=0,
        id=None,
        side="user",
        tool=told.text("tool") or "",
        arguments=scrubbed(told.object("arguments")),
        result=None if ok is None or text is None else scrub(text),
        is_error=None if ok is None else not ok,
        paired_by="position",
        message=max(0, message),
    )


def _scores(entry: Fields, scores: Mapping[str, Any]) -> list[tuple[str, Fields, Fields]]:
    under = entry.under("scores")
    found = [(str(name), under.under(name)) for name, score in scores.items() if isinstance(score, Mapping)]
    return [(name, score, score.under("metadata")) for name, score in found]


def _met(score: Fields) -> bool | None:
    value = score.data.get("value")
    return _LETTERS.get(value) if isinstance(value, str) else None
