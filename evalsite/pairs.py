"""Two calls side by side: what was said and done, aligned by tool calls; verdicts and end states."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evalsite import transcript
from scenarios.analysis.alignment import State, Stretch, ToolUse, stretches
from scenarios.domains.base import SIGNALS
from scenarios.models import SignalResult, Trial, TrialEvent, Verdict
from scenarios.newest import newest

SHOWN = ("turn.ended", "tool.called", "tool.returned")
# Rows that a page shows; a call of thousands of turns is read on its own page.
MOST_EVENTS = 2_000


@dataclass(frozen=True)
class Line:
    """A turn or a tool call of one side. ``changed`` are the arguments that the aligned call does not share."""

    anchor: str
    at_ms: int
    side: str
    said: Any = None  # transcript.Folded
    tool: str = ""
    arguments: Sequence[tuple[str, Any, bool]] = ()  # name, folded value, is it different over there
    ok: bool | None = None  # None: there was no answer
    result: Any = None
    writes: int = 0


@dataclass(frozen=True)
class Aligned:
    """One row of the page. ``state`` None: what was said between tool calls."""

    state: State | None
    left: Sequence[Line]
    right: Sequence[Line]
    results_differ: bool = False


@dataclass(frozen=True)
class Pair:
    """Two calls and all that differs between them."""

    left: Trial
    right: Trial
    rows: Sequence[Aligned]
    cut: bool
    signals: Sequence[tuple[str, str, str]]
    claims: Sequence[Mapping[str, Any]]
    fields: Sequence[Mapping[str, Any]]
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_same_scenario(self) -> bool:
        """Return whether both calls are of one scenario; others can be read side by side, but not compared."""
        return self.left.scenario_id == self.right.scenario_id


@dataclass(frozen=True)
class _Event:
    event: TrialEvent
    answer: TrialEvent | None = None

    @property
    def use(self) -> ToolUse | None:
        data = self.event.data
        if self.event.kind != "tool.called":
            return None
        return ToolUse(self.event.side, data["tool"], data["arguments"])


def pair_of(left: Trial, right: Trial) -> Pair:
    """Read two calls and align them."""
    sides = [_events(trial) for trial in (left, right)]
    found = stretches(sides[0][0], sides[1][0], lambda event: event.use)
    rows = [_row(stretch) for stretch in found]
    return Pair(
        left,
        right,
        rows,
        sides[0][1] or sides[1][1],
        _signals(left, right),
        _claims(left, right),
        _fields(left, right),
        {state: sum(row.state == state for row in rows) for state in ("alike", "changed", "only_left", "only_right")},
    )


def _events(trial: Trial) -> tuple[list[_Event], bool]:
    """Return turns and tool calls of the attempt that counts, and whether there were too many to show."""
    started = trial.events.filter(kind="attempt.started").values_list("seq", flat=True).last() or 0
    events = list(trial.events.filter(kind__in=SHOWN, seq__gte=started)[: MOST_EVENTS + 1])
    answers = {event.data["call"]: event for event in events if event.kind == "tool.returned"}
    shown = [event for event in events[:MOST_EVENTS] if event.kind != "tool.returned"]
    return [
        _Event(event, answers.get(event.data["call"]) if event.kind == "tool.called" else None) for event in shown
    ], len(events) > MOST_EVENTS


def _row(stretch: Stretch[_Event]) -> Aligned:
    if stretch.state is None:
        return Aligned(None, [_said(one.event) for one in stretch.left], [_said(one.event) for one in stretch.right])
    left, right = (side[0] if side else None for side in (stretch.left, stretch.right))
    return Aligned(
        stretch.state,
        [_called(left, right)] if left else [],
        [_called(right, left)] if right else [],
        bool(left and right and _answer(left) != _answer(right)),
    )


def _said(event: TrialEvent) -> Line:
    return Line(transcript.anchor(event), event.at_ms, event.side, said=transcript.fold(event.data["said"]))


def _called(one: _Event, other: _Event | None) -> Line:
    data = one.event.data
    there = other.event.data["arguments"] if other else None
    answer = one.answer.data if one.answer else None
    return Line(
        transcript.anchor(one.event),
        one.event.at_ms,
        one.event.side,
        tool=data["tool"],
        arguments=[
            (name, transcript.fold(value), there is not None and _text(there.get(name)) != _text(value))
            for name, value in data["arguments"].items()
        ],
        ok=answer["ok"] if answer else None,
        result=transcript.fold(answer["result"]) if answer else None,
        writes=len(answer.get("changes") or ()) if answer else 0,
    )


def _answer(one: _Event) -> tuple[Any, str] | None:
    return (one.answer.data["ok"], _text(one.answer.data["result"])) if one.answer else None


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _signals(left: Trial, right: Trial) -> list[tuple[str, str, str]]:
    """Return signal and its state on either side, "" where it was not scored; what applies to neither is left out."""
    sides = [{row.signal: row.state for row in newest(trial.signals.all())} for trial in (left, right)]
    named = [(name, *(side.get(name, "") for side in sides)) for name in SIGNALS]
    return [(name, a, b) for name, a, b in named if {a, b} - {"", "not_applicable"}]


def _claims(left: Trial, right: Trial) -> list[dict[str, Any]]:
    """Return claims and predicates with the ruling of either side, those that differ first."""
    sides = [{(v.signal, v.claim): v for v in newest(trial.verdicts.all())} for trial in (left, right)]
    rows: list[dict[str, Any]] = [
        {"signal": signal, "claim": claim, "rulings": [_ruling(side.get(key)) for side in sides]}
        for key in dict.fromkeys([*sides[0], *sides[1]])
        for signal, claim in [key]
    ]
    for row in rows:
        states = {ruling[0] for ruling in row["rulings"] if ruling}
        row["differs"] = len(states) > 1
    return sorted(rows, key=lambda row: not row["differs"])


def _ruling(verdict: Verdict | None) -> tuple[str, str] | None:
    if verdict is None:
        return None
    return ("judge_error" if verdict.error else "passed" if verdict.passed else "failed", verdict.reason)


def _fields(left: Trial, right: Trial) -> list[dict[str, Any]]:
    """Return the fields of the end state that are not right on some side, with what either side has there."""
    signals = [trial.signals.filter(signal="db_state_match").order_by("-scoring").first() for trial in (left, right)]
    sides = [_diff(signal) for signal in signals]
    rows = []
    for key in dict.fromkeys([*sides[0], *sides[1]]):
        found = [side.get(key) for side in sides]
        known = found[0] or found[1] or {}
        ends = [_end(row, known, signal is not None) for row, signal in zip(found, signals, strict=True)]
        if any(end["state"] not in ("right", "") for end in ends):
            differs = ends[0]["state"] != ends[1]["state"] or ends[0]["text"] != ends[1]["text"]
            expected = _value(known, "expected")
            rows.append({"database": key[0], "place": key[1], "expected": expected, "ends": ends, "differs": differs})
    return sorted(rows, key=lambda row: not row["differs"])


def _diff(signal: SignalResult | None) -> dict[tuple[str, str], Mapping[str, Any]]:
    if signal is None:
        return {}
    names = (("", "diff"), ("caller's", "user_diff"))
    return {(word, transcript.place(row["path"])): row for word, name in names for row in signal.detail.get(name) or ()}


def _end(row: Mapping[str, Any] | None, known: Mapping[str, Any], is_scored: bool) -> dict[str, Any]:
    """Return state and value of a field on one side; what its diff does not have is as it was, and right."""
    if not is_scored:
        return {"state": "", "value": None, "text": ""}
    if row is None:
        return {"state": "right", "value": _value(known, "seed"), "text": _text(known.get("seed"))}
    return {"state": row["state"], "value": _value(row, "actual"), "text": _text(row["actual"])}


def _value(row: Mapping[str, Any], name: str) -> Any:
    """Return a value ready to be shown; None where the record has no such field."""
    return None if name in row.get("absent", ()) else transcript.fold(row[name])
