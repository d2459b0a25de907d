"""An imported call as events of our own kinds, so that pages show it like a call that was held here.

What the file does not say stays None: texts have no duration, most files no times.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from scenarios.events import StateSynced, ToolCalled, ToolReturned, TurnEnded
from scenarios.formats.imports.records import ImportedToolCall, ImportedTrial, ImportedTurn
from scenarios.formats.imports.replay import Replay, ReplayedCall, failed_as_recorded
from scenarios.sides import Side


@dataclass(frozen=True)
class ImportedEvent:
    """One event: ``data`` as ``scenarios.events`` describes the kind; ``at_ms`` None: the file gives no time."""

    kind: str
    side: Side | None
    at_ms: int | None
    data: Mapping[str, Any]


def events_of(trial: ImportedTrial, replay: Replay | None = None) -> Iterator[ImportedEvent]:
    """Yield turns, tool calls and answers in the order of the file; with a replay, the changes that calls made.

    An answer is the recorded one. ``ok`` is what the file says of it; ``error``, ``changes`` and ``action`` are the
    replay's, and None or empty where the call was not run.
    """
    replayed = {call.recorded.position: call for call in replay.calls} if replay else {}
    number = 0
    for what in _in_order(trial):
        if isinstance(what, ImportedTurn):
            number += 1
            yield _turn(what, number, trial)
        else:
            yield from _call(what, replayed.get(what.position), _call_ms(what, trial))


_Happening = ImportedTurn | ImportedToolCall


def _in_order(trial: ImportedTrial) -> list[_Happening]:
    """Return turns and calls by tick or message, failing those by the calls' times, failing those by their places."""
    calls = trial.tool_calls
    moments: list[tuple[int, int, _Happening]]
    last = len(trial.turns)
    if not calls or any(turn.first_tick is not None or turn.first_message is not None for turn in trial.turns):
        moments = [(_place(turn.first_tick, turn.first_message), 0, turn) for turn in trial.turns]
        moments += [(_place(call.tick, call.message), 1, call) for call in calls]
    elif all(call.at_ms is not None for call in calls) and all(turn.started_ms is not None for turn in trial.turns):
        moments = [(_when(turn), 0, turn) for turn in trial.turns]
        moments += [(call.at_ms or 0, 1, call) for call in calls]
    else:
        moments = [(number, 0, turn) for number, turn in enumerate(trial.turns, 1)]
        moments += [(call.after_turn if call.after_turn is not None else last, 1, call) for call in calls]
    return [what for _, _, what in sorted(moments, key=lambda moment: moment[:2])]


def _when(turn: ImportedTurn) -> int:
    return turn.ended_ms if turn.ended_ms is not None else turn.started_ms or 0


def _place(tick: int | None, message: int | None) -> int:
    return tick if tick is not None else message or 0


def _turn(turn: ImportedTurn, number: int, trial: ImportedTrial) -> ImportedEvent:
    started = turn.started_ms if turn.started_ms is not None else _since_start(turn.started_at, trial)
    said = turn.said if turn.said is not None else turn.spoken
    heard = turn.spoken if turn.said is not None and turn.said != turn.spoken else None
    data = {"side": turn.side, "turn": number, "said": said, "heard": heard, "started_ms": started}
    at_ms = turn.ended_ms if turn.ended_ms is not None else started
    return ImportedEvent(TurnEnded.kind, turn.side, at_ms, {**data, "interrupted": False, "raw": None})


def _call(call: ImportedToolCall, run: ReplayedCall | None, at_ms: int | None) -> Iterator[ImportedEvent]:
    number = call.position + 1
    called: dict[str, Any] = {
        "side": call.side,
        "call": number,
        "tool": call.tool,
        "arguments": dict(call.arguments or {}),
    }
    called |= {"call_id": call.id or "", "raw_arguments": call.raw_arguments}
    yield ImportedEvent(ToolCalled.kind, call.side, at_ms, called)
    result = run.result if run else None
    own = result.changes if result else ()
    if call.result is not None or result is not None:
        returned: dict[str, Any] = {
            "side": call.side,
            "call": number,
            "tool": call.tool,
            "duration_ms": None,
            "result": call.result,
        }
        returned |= {"ok": not failed_as_recorded(call), "error": result.error if result else None}
        returned |= {"changes": list(own), "action": result.action if result else None, "ends_call": False}
        yield ImportedEvent(ToolReturned.kind, call.side, at_ms, returned)
    if run and (synced := run.changes[len(own) :]):
        yield ImportedEvent(StateSynced.kind, None, at_ms, {"changes": list(synced), "after_call": number})


def _call_ms(call: ImportedToolCall, trial: ImportedTrial) -> int | None:
    if call.at_ms is not None:
        return call.at_ms
    if call.message is not None and call.message < len(trial.messages):
        return _since_start(trial.messages[call.message].timestamp, trial)
    if call.tick is not None and all(tick.duration_ms is not None for tick in trial.ticks[: call.tick]):
        return round(sum(tick.duration_ms or 0.0 for tick in trial.ticks[: call.tick]))
    return None


def _since_start(moment: str | None, trial: ImportedTrial) -> int | None:
    """Return the milliseconds from the trial's start to a moment; None when either is unknown or they do not fit."""
    if moment is None or trial.started_at is None:
        return None
    try:
        passed = datetime.fromisoformat(moment) - datetime.fromisoformat(trial.started_at)
    except (ValueError, TypeError):  # no ISO time, or only one of them has a zone
        return None
    milliseconds = round(passed.total_seconds() * 1000)
    return milliseconds if milliseconds >= 0 else None
