"""What in a call's record points to whose fault it is that the call failed, or to whose doing it is that it passed.

Plain readings of the record, one small rule each. A clue decides only where the record alone shows it; words
that were said, and facts that only seem made up, are for a person to confirm.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scenarios.analysis.fault import Clue
from scenarios.analysis.speech.identifiers import speech_fault, talked
from scenarios.domains.base import ScenarioSpec
from scenarios.domains.known_errors import known_errors_of
from scenarios.replay import Gold
from scenarios.scoring.consent import asked, early_stop
from scenarios.scoring.evidence import CallRecord, ToolUse, Turn
from scenarios.scoring.invented import MAX_CHARS, invented
from scenarios.scoring.numbers import identifiers
from scenarios.scoring.results import Outcome, VerdictResult

JUDGED: frozenset[str] = frozenset({"nl_assertion", "judge_passed"})
# Signals that are about what was done.
DONE: frozenset[str] = frozenset({"db_state_match", "db_state_assertion", "is_action_match"})


@dataclass(frozen=True)
class ScoredCall:
    """A rated call with what its clues are read from. ``failed``: the gating signals that failed; none for a pass.

    ``verdicts`` are those on its gating claims; ``is_quarantined``: the judge's batch failed its canaries.
    """

    outcome: Outcome
    failed: frozenset[str]
    record: CallRecord
    spec: ScenarioSpec
    gold: Gold
    verdicts: Sequence[VerdictResult] = ()
    strictness: str = "reference"
    is_quarantined: bool = False


def clues(call: ScoredCall) -> list[Clue]:
    """Return what points to a side; nothing for a call that is not rated.

    Of a failed or stalled call: why it failed. Of a pass: what else than the agent may have brought it about.
    """
    if call.outcome == "pass":
        return [*_easy_task(call), *_judge(call)]
    if call.outcome not in ("fail", "stalled"):
        return []
    rules = (_agent, _idle, _caller, _withheld, _speech, _harness, _judge, _task)
    return [clue for rule in rules for clue in rule(call)]


def _agent(call: ScoredCall) -> Iterator[Clue]:
    record = call.record
    if record.end_reason == "silence" and "agent" in record.end_message:
        yield Clue("agent", "silent", f"the call ended in silence: {record.end_message}", decides=True)
    if record.end_reason == "loop" and record.ended_by == "agent":
        yield Clue("agent", "loop", f"the agent went round in circles: {record.end_message}", decides=True)
    if call.outcome == "stalled" and record.ended_by == "agent":
        yield Clue("agent", "hung_up", "the agent ended the call before there was a conversation", decides=True)
    if call.failed & DONE:
        for item in asked(record):
            if item.consent is None:
                text = f"the agent called {item.use.tool} without a plain yes of the caller before it"
                yield Clue("agent", "unasked", text, seq=item.use.seq)


def _idle(call: ScoredCall) -> Iterator[Clue]:
    """Yield a clue where something had to be done and the agent ended the call without any tool call for it."""
    acted = any(use.side == "agent" and not use.ends_call for use in call.record.tools.values())
    due = any(action.get("side") == "agent" for action in call.gold.reference_actions)
    if due and call.failed & DONE and not acted and call.record.ended_by == "agent":
        yield Clue("agent", "idle", "the agent ended the call without a single tool call for the task", decides=True)


def _caller(call: ScoredCall) -> Iterator[Clue]:
    record = call.record
    stopped = early_stop(record) if call.failed & DONE else None
    if stopped is not None:
        by_caller = record.ended_by == "user"
        text = f"the call ended right after the caller's yes in turn {stopped.turn}, before anything was written"
        yield Clue("caller", "early_stop", text, decides=by_caller, seq=stopped.seq)
    for turn, found in invented(record):
        text = f"the caller made up {', '.join(found)} in turn {turn.turn}"
        yield Clue("caller", "invented", text, seq=turn.seq)


def _withheld(call: ScoredCall) -> Iterator[Clue]:
    """Yield a clue where the caller was told an identifier that the task needs, and never said it."""
    if not call.failed & DONE:
        return
    brief = call.spec.caller
    told = _ids(" ".join((brief.goal, brief.known_info, brief.background, *brief.instructions)))
    needed = set().union(*(_ids_of(action.get("arguments")) for action in call.gold.reference_actions))
    said = _ids(" ".join(turn.said[:MAX_CHARS] for turn in _turns(call.record, "user")))
    used = set().union(*(_ids_of(use.arguments) for use in _agent_tools(call.record)))
    missing = sorted((told & needed) - said - used)
    if missing:
        yield Clue("caller", "withheld", f"the caller never said {', '.join(missing)}, which it was told to know")


def _speech(call: ScoredCall) -> Iterator[Clue]:
    """Yield a clue for each turn of the caller whose identifiers were heard as others.

    It decides when the agent used what it had heard and never what was said. Spelled identifiers ("double seven",
    "B as in bravo") are followed by ``analysis.speech.identifiers`` from the caller's task to the tool.
    """
    if any(turn.heard is not None and turn.heard != turn.said for turn in _turns(call.record, "user")):
        spelled = speech_fault(talked(call.record), call.spec)
        if spelled is not None:
            yield Clue("speech", "misheard_identifier", spelled, decides=bool(call.failed & DONE))
    for turn in _turns(call.record, "user"):
        if turn.heard is None or turn.heard == turn.said:
            continue
        said, heard = _ids(turn.said), _ids(turn.heard)
        misheard, lost = heard - said, said - heard
        if not misheard and not lost:
            continue
        used = set().union(*(_ids_of(use.arguments) for use in _agent_tools(call.record) if use.seq > turn.seq))
        decides = bool(used & misheard) and not used & lost and bool(call.failed & DONE)
        what = f"{', '.join(sorted(lost)) or 'nothing'} was heard as {', '.join(sorted(misheard)) or 'nothing'}"
        then = " and the agent used it" if decides else ""
        yield Clue("speech", "misheard", f"in turn {turn.turn} {what}{then}", decides=decides, seq=turn.seq)


def _harness(call: ScoredCall) -> Iterator[Clue]:
    last = max((turn.seq for turn in call.record.turns.values()), default=0)
    for use in call.record.tools.values():
        if use.ok is None and use.seq < last:
            text = f"{use.tool} (call {use.call}) never got an answer, and the talk went on"
            yield Clue("harness", "no_answer", text, decides=True, seq=use.seq)


def _judge(call: ScoredCall) -> Iterator[Clue]:
    """Yield clues against the judge; they decide where nothing but the judge failed the call."""
    alone = bool(call.failed) and call.failed <= JUDGED
    if call.is_quarantined and (alone or call.outcome == "pass"):
        yield Clue("judge", "quarantined", "the judge's batch failed its canaries", decides=True)
    wanted = call.outcome == "pass"
    rulings = [verdict for verdict in call.verdicts if verdict.error is None and verdict.passed == wanted]
    odd = [verdict for verdict in rulings if verdict.detail.get("contradiction")]
    all_odd = len(odd) == len(rulings) and call.failed == {"nl_assertion"}
    for verdict in odd:
        text = f"the judge's reason contradicts its ruling on claim {verdict.index}"
        yield Clue("judge", "contradiction", text, decides=all_odd)


def _task(call: ScoredCall) -> Iterator[Clue]:
    """Yield clues against the task.

    A known error decides where it by itself explains every signal that failed, and no more than one claim did.
    """
    known = known_errors_of(call.spec)
    if call.gold.health.failing_writes and not known and call.failed & DONE:
        yield Clue("task", "broken_gold", "reference actions of this task are refused by its own tools")
    claims = sum(not verdict.passed for verdict in call.verdicts if verdict.signal == "nl_assertion")
    for error in known:
        effect = error.effect_by(call.strictness)
        if effect in ("too_hard", "either"):
            explains = bool(call.failed) and call.failed <= set(error.signals) and claims <= 1
            yield Clue("task", "known_error", error.text, decides=effect == "too_hard" and explains)


def _easy_task(call: ScoredCall) -> Iterator[Clue]:
    for error in known_errors_of(call.spec):
        if error.effect_by(call.strictness) in ("too_easy", "either"):
            yield Clue("task", "known_error", error.text)


def _turns(record: CallRecord, side: str) -> list[Turn]:
    return [turn for turn in record.turns.values() if turn.side == side]


def _agent_tools(record: CallRecord) -> list[ToolUse]:
    return [use for use in record.tools.values() if use.side == "agent"]


def _ids(text: str) -> set[str]:
    return set(identifiers(text[:MAX_CHARS]))


def _ids_of(arguments: Mapping[str, Any] | Collection[Any] | None) -> set[str]:
    return _ids(json.dumps(arguments, ensure_ascii=False, default=str)) if arguments else set()
