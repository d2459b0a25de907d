"""What our own export puts into an Inspect sample beyond Inspect's fields: outcome, times of turns, claims."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.records import ForeignVerdict, ImportedTurn
from scenarios.formats.imports.redaction import scrub, scrubbed
from scenarios.formats.imports.reference_verdict import by_outcome

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
        db_sides=("agent",),
    )


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


def _scores(entry: Fields, scores: Mapping[str, Any]) -> list[tuple[str, Fields, Fields]]:
    under = entry.under("scores")
    found = [(str(name), under.under(name)) for name, score in scores.items() if isinstance(score, Mapping)]
    return [(name, score, score.under("metadata")) for name, score in found]


def _met(score: Fields) -> bool | None:
    value = score.data.get("value")
    return _LETTERS.get(value) if isinstance(value, str) else None
