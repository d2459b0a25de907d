"""The two logs of the reference's run folder, made from the record: a line an event, and a line a trial."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scenarios.events import ContextPulled, LatencyMeasured, PartyPrepared, TurnEnded, UsageReported
from scenarios.formats.reference_records import TrialExport, redacted
from scenarios.scoring.evidence import StoredEvent

_METRICS = frozenset({LatencyMeasured.kind, UsageReported.kind})
# What has files of its own in the folder: prompts and tools in scenario_config/, messages in bot_logs_*/.
_ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    PartyPrepared.kind: ("prompt", "tools"),
    ContextPulled.kind: ("messages",),
}


def bridge_log(events: Iterable[StoredEvent]) -> Iterator[str]:
    """Yield ``bridge_log.txt``: each event of all attempts with its number, its time in its attempt, side and data.

    What a side's recognition made of a turn has a line of its own, tagged STT, after the turn of the other side.
    """
    for event in events:
        tag = "METRICS" if event.kind in _METRICS else "EVENT"
        side = f"[{event.side}] " if event.side else ""
        data = {name: value for name, value in event.data.items() if name not in _ELSEWHERE.get(event.kind, ())}
        yield f"#{event.seq} {event.at_ms / 1000:.3f}s {side}{tag} {event.kind} {_line(redacted(data))}\n"
        if event.kind == TurnEnded.kind and event.data.get("heard") is not None:
            listener = "agent" if event.side == "user" else "user"
            heard = {"turn": event.data["turn"], "text": event.data["heard"]}
            yield f"#{event.seq} {event.at_ms / 1000:.3f}s [{listener}] STT {_line(redacted(heard))}\n"


def evaluation_line(trial: TrialExport) -> str:
    """Return the trial's line of ``evaluation_log.txt``; the time is UTC."""
    ended = f"{trial.ended_at:%Y-%m-%d %H:%M:%S}Z" if trial.ended_at else "-"
    reason = " ".join(trial.outcome_reason.split())
    return f"{ended} {trial.scenario} trial {trial.number}: {trial.outcome or 'no outcome'} ({reason})\n"


def _line(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)
