"""One imported call as rows: trial, events, signals, verdicts and the foreign result beside them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone

from scenarios import lifecycle
from scenarios.analysis.speech.interaction import measure
from scenarios.domains.base import Signal
from scenarios.events import CallEnded, CallStarted, Noted, TrialFinished
from scenarios.formats.imports.comparison import Rescored
from scenarios.formats.imports.events import ImportedEvent, events_of
from scenarios.formats.imports.records import ForeignVerdict, ImportedTrial, MappedVerdict
from scenarios.formats.imports.replay import Check, Replay
from scenarios.importing.recordings import choose
from scenarios.models import ForeignResult, Run, SignalResult, Trial, TrialEvent, Verdict
from scenarios.scoring.db_state_match import MAX_ROWS
from scenarios.scoring.results import Outcome
from scenarios.sides import Side
from scenarios.storable import storable

OUTCOME_OF: Mapping[MappedVerdict, Outcome] = {
    "pass": "pass",
    "fail": "fail",
    "judge_error": "judge_error",
    "not_scored": "unscored",
    "excluded": "infra_error",
}
# Which part of upstream's reward is which of our signals.
_SIGNAL_OF_BASIS: Mapping[str, Signal] = {
    "DB": "db_state_match",
    "ENV_ASSERTION": "db_state_assertion",
    "NL_ASSERTION": "nl_assertion",
}
_LONGEST_VALUE = 2_000_000
# What a column of milliseconds holds: 24 days. Longer and negative times are nonsense, which the lint names.
MOST_MS = 2**31 - 1


@dataclass
class TrialRows:
    """The rows of one call; all but the trial itself still lack its key."""

    trial: Trial
    foreign: ForeignResult
    events: list[TrialEvent] = field(default_factory=list)
    signals: list[SignalResult] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)


def rows_of(
    run: Run, scenario_id: int, number: int, position: int, call: ImportedTrial, replayed: Rescored | str
) -> TrialRows:
    """Return the rows of a call; ``replayed`` is the replay, or why there is none."""
    rescored = replayed if isinstance(replayed, Rescored) else None
    replay = rescored.replay if rescored else None
    events = list(events_of(call, replay))
    times = [event.at_ms for event in events if event.at_ms is not None]
    signals = list(_signals(call.verdict, rescored))
    stored = list(_events(call, events, is_timed=bool(times)))
    trial = _trial(
        run,
        scenario_id,
        number,
        position,
        call,
        is_timed=bool(times),
        breakdown=_breakdown(signals),
        last_seq=len(stored),
    )
    verdicts = [*_claims(call.verdict), *_upstream(call, replay), *_predicates(call.verdict, replay)]
    return TrialRows(trial, _foreign(trial, call, replayed), stored, signals, verdicts)


def _trial(
    run: Run,
    scenario_id: int,
    number: int,
    position: int,
    call: ImportedTrial,
    *,
    is_timed: bool,
    breakdown: dict[str, list[str]],
    last_seq: int,
) -> Trial:
    outcome = OUTCOME_OF[call.verdict.mapped]
    costs = [cost for cost in (call.agent_cost, call.user_cost) if cost is not None]
    return lifecycle.held_elsewhere(
        run,
        scenario_id,
        number,
        outcome,
        storable(call.verdict.why),
        position=position,
        error_kind=storable(call.termination_reason or "")[:60] if outcome == "infra_error" else "",
        started_at=moment(call.started_at),
        ended_at=moment(call.ended_at),
        is_timed=is_timed,
        duration_ms=_milliseconds(call.duration_s),
        turn_count=len(call.turns),
        cost=sum(costs) if costs else None,
        last_seq=last_seq,
        breakdown=breakdown,
    )


def _milliseconds(seconds: float | None) -> int | None:
    """Return a duration in whole milliseconds; None for one that no call has."""
    return round(1000 * seconds) if seconds is not None and 0 <= 1000 * seconds <= MOST_MS else None


def moment(text: str | None) -> datetime | None:
    """Return a moment that a file names; None where it names none, says no zone, or lies where no database can.

    PostgreSQL takes the first hours of the year 1 in a zone of the east for a time before our era, and cannot give it
    back.
    """
    try:
        found = datetime.fromisoformat(text) if text else None
        return found.astimezone(UTC) if found is not None and found.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def _events(call: ImportedTrial, events: Iterable[ImportedEvent], *, is_timed: bool) -> Iterator[TrialEvent]:
    now, at_ms = timezone.now(), 0
    outcome, ending = OUTCOME_OF[call.verdict.mapped], _ending(call)
    own = [
        ImportedEvent(CallStarted.kind, None, 0, {"channel": "voice" if call.ticks or call.audio else "text"}),
        *(ImportedEvent(Noted.kind, None, 0, _note(remark.severity, remark.text)) for remark in call.remarks),
        *events,
        ImportedEvent(CallEnded.kind, None, ending["duration_ms"] if is_timed else None, ending),
        ImportedEvent(TrialFinished.kind, None, None, {"outcome": outcome, "reason": call.verdict.why}),
    ]
    for seq, event in enumerate(own, 1):
        # Times never run backwards in a record, whatever the file's clocks did; the lint names skewed ones.
        at_ms = min(max(at_ms, event.at_ms or 0), MOST_MS)
        data = dict(event.data)
        if event.kind == "turn.ended":
            # Voice files may know when a side spoke and not what it said.
            data |= {"started_ms": at_ms if data["started_ms"] is None else min(max(0, data["started_ms"]), at_ms)}
            data |= {"has_no_words": True} if call.ticks and not data["said"] else {}
        yield TrialEvent(
            seq=seq,
            at_ms=at_ms,
            kind=event.kind,
            side=event.side or "",
            data=storable(_shortened(data)),
            created_at=now,
        )


def _note(level: str, text: str) -> dict[str, Any]:
    return {"level": level, "text": text, "side": None}


def _ending(call: ImportedTrial) -> dict[str, Any]:
    duration_ms = _milliseconds(call.duration_s)
    reason = call.termination_reason or "unknown"
    return {"reason": reason[:100], "by": None, "duration_ms": duration_ms, "message": ""}


def _shortened(value: Any) -> Any:
    """Return a value with monstrous texts cut; each says how much is gone."""
    if isinstance(value, str) and len(value) > _LONGEST_VALUE:
        return f"{value[:_LONGEST_VALUE]} [... {len(value) - _LONGEST_VALUE} more characters in the file]"
    if isinstance(value, dict):
        return {name: _shortened(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_shortened(item) for item in value]
    return value


def _signals(verdict: ForeignVerdict, rescored: Rescored | None) -> Iterator[SignalResult]:
    """Yield what the file's verdict decides signal by signal; our own replay only where the file is silent."""
    basis = verdict.reward_basis
    gating: set[Signal] = {"db_state_match"}
    if basis:
        gating = {_SIGNAL_OF_BASIS[part] for part in basis if part in _SIGNAL_OF_BASIS}
    replay, ours = (rescored.replay, rescored.ours) if rescored else (None, None)
    matched = verdict.db_match if verdict.db_match is not None else ours
    if matched is not None:
        detail = _database(replay) | {"stored": verdict.db_match, "ours": ours}
        yield _signal("db_state_match", matched, gating, detail)
    predicates = [bool(check.get("met")) for check in verdict.env_assertions]
    predicates = predicates or [ruling.passed for ruling in replay.predicates] if replay else predicates
    if predicates:
        counts = {"passed": sum(predicates), "failed": len(predicates) - sum(predicates), "total": len(predicates)}
        yield _signal("db_state_assertion", all(predicates), gating, counts)
    claims = [bool(check.get("met")) for check in verdict.nl_assertions]
    if claims:
        counts = {"passed": sum(claims), "failed": len(claims) - sum(claims), "total": len(claims)}
        yield _signal("nl_assertion", all(claims), gating, counts)


def _signal(signal: Signal, passed: bool, gating: set[Signal], detail: dict[str, Any]) -> SignalResult:
    is_gating = signal in gating
    state = ("passed" if passed else "failed") if is_gating else "excluded"
    return SignalResult(signal=signal, state=state, is_gating=is_gating, value=passed, detail=storable(detail))


def _breakdown(signals: Iterable[SignalResult]) -> dict[str, list[str]]:
    states: dict[str, list[str]] = {}
    for signal in signals:
        states.setdefault(signal.state, []).append(signal.signal)
    return states


def _database(replay: Replay | None) -> dict[str, Any]:
    """Return the diff of a replay in the form that ``db_state_match`` stores."""
    if replay is None:
        return {"expected_hash": None, "actual_hash": None}
    detail: dict[str, Any] = {}
    for side, prefix in (("agent", ""), ("user", "user_")):
        if side in replay.databases:
            detail |= _diff(replay, side, prefix)  # type: ignore[arg-type]
    return detail


def _diff(replay: Replay, side: Side, prefix: str) -> dict[str, Any]:
    rows = [diff.to_json() | {"seq": None} for diff in replay.fields[side]]
    return {
        f"{prefix}expected_hash": replay.expected[side].hash,
        f"{prefix}actual_hash": replay.databases[side].hash,
        f"{prefix}diff": rows[:MAX_ROWS],
        f"{prefix}diff_total": len(rows),
    }


def _claims(verdict: ForeignVerdict) -> Iterator[Verdict]:
    for index, check in enumerate(verdict.nl_assertions, 1):
        claim = check.get("nl_assertion")
        yield _verdict("nl_assertion", index, claim, check.get("met"), check.get("justification"))


def _upstream(call: ImportedTrial, replay: Replay | None) -> Iterator[Verdict]:
    ours = replay.communicate_checks if replay else ()
    for index, check in enumerate(call.verdict.communicate_checks, 1):
        mine = next((one for one in ours if one.expected == check.get("info")), None)
        yield _verdict("communicate", index, check.get("info"), check.get("met"), check.get("justification"), mine)
    actions = replay.action_checks if replay else ()
    for index, check in enumerate(call.verdict.action_checks, 1):
        action = check.get("action")
        name = action.get("name") if isinstance(action, Mapping) else action
        mine = actions[index - 1] if index <= len(actions) and actions[index - 1].expected == name else None
        yield _verdict("action", index, name, check.get("action_match"), None, mine)


def _predicates(verdict: ForeignVerdict, replay: Replay | None) -> Iterator[Verdict]:
    rulings = replay.predicates if replay else ()
    for index, check in enumerate(verdict.env_assertions, 1):
        asked = check.get("env_assertion")
        name = asked.get("func_name") if isinstance(asked, Mapping) else asked
        row = _verdict("db_state_assertion", index, name, check.get("met"), None)
        if index <= len(rulings):
            row.detail = storable(asdict(rulings[index - 1]) | {"ours": rulings[index - 1].passed})
        yield row


def _verdict(signal: str, index: int, claim: Any, met: Any, reason: Any, mine: Check | None = None) -> Verdict:
    detail = {} if mine is None else {"ours": mine.met, "where": mine.where}
    return Verdict(
        signal=signal,
        index=index,
        claim=storable(str(claim if claim is not None else "not named in the file")),
        passed=met is True,
        reason=storable(str(reason or "")),
        error="" if isinstance(met, bool) else "no_ruling",
        detail=storable(detail),
    )


def _foreign(trial: Trial, call: ImportedTrial, replayed: Rescored | str) -> ForeignResult:
    rescored = replayed if isinstance(replayed, Rescored) else None
    return ForeignResult(
        trial=trial,
        place=storable(call.place)[:300],
        foreign_id=storable(call.id or "")[:300],
        task_id=storable(call.task_id or "")[:300],
        termination_reason=storable(call.termination_reason or "")[:100],
        mapped=call.verdict.mapped,
        why=storable(call.verdict.why),
        reward=call.verdict.reward,
        written=storable(call.verdict.written) if call.verdict.written is not None else None,
        task=storable(dict(call.task.definition)) if call.task else None,
        facts=storable(
            {
                **call.facts,
                "trial": call.trial,
                "seed": call.seed,
                "mode": call.mode,
                "started_at": call.started_at,
                "ended_at": call.ended_at,
                "agent_cost": call.agent_cost,
                "user_cost": call.user_cost,
                **_heard(call),
            }
        ),
        remarks=storable([asdict(remark) for remark in call.remarks]),
        stored_db_match=call.verdict.db_match,
        our_db_match=rescored.ours if rescored else None,
        today_db_match=rescored.today.db_match if rescored and rescored.today else None,
        agrees=rescored.agrees if rescored else None,
        reasons=[asdict(reason) for reason in rescored.reasons] if rescored else [],
        why_not_replayed="" if rescored else storable(str(replayed)),
        replay=storable(_replay(rescored)) if rescored else {},
    )


def _heard(call: ImportedTrial) -> dict[str, Any]:
    """Return the figures that only the ticks of a voice call give, and which of its recordings is kept.

    The ticks themselves are not: they are most of such a file.
    """
    found: dict[str, Any] = {}
    if call.ticks:
        try:
            found["interaction"] = measure(call.ticks).figures()
        except ValueError as problem:
            found["no_interaction"] = str(problem)
    choice = choose(call.audio)
    return found | ({"recording": choice.words} if choice else {})


def _replay(rescored: Rescored) -> dict[str, Any]:
    replay = rescored.replay
    return {
        "task_source": replay.task.source,
        "notes": list(replay.task.notes),
        "quirks": sorted(replay.quirks),
        "calls": len(replay.calls),
        "not_run": [{"call": call.call, "why": call.why_not} for call in replay.calls if call.result is None],
        "different": [{"call": call.call, "how": call.difference} for call in replay.calls if call.difference],
        "actions": [asdict(check) for check in replay.action_checks],
        "communicate": [asdict(check) for check in replay.communicate_checks],
        "predicates": [ruling.passed for ruling in replay.predicates],
        "same_end": dict(rescored.same_end),
        "today_why_not": rescored.today_why_not,
        "today_reasons": [asdict(reason) for reason in rescored.today_reasons],
    }
