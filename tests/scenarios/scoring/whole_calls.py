"""Whole calls on a real domain: actions run through the live environment, told as the events of a recorder."""

import json
from collections.abc import Sequence
from typing import Any

from scenarios import domains, events
from scenarios.domains.base import GoldAction, ScenarioSpec
from scenarios.domains.environment import Environment
from scenarios.replay import gold_replay
from scenarios.scoring.config import ScoringConfig
from scenarios.scoring.evidence import gather
from scenarios.scoring.judge_reply import read
from scenarios.scoring.judge_request import needs_judge
from scenarios.scoring.success import Scored, score_trial
from tests.scenarios.scoring.cases import Row, rows, said


def play(spec: ScenarioSpec, actions: Sequence[GoldAction]) -> list[Row]:
    """Hold a call in which these actions are made and the agent then ends it."""
    environment = Environment(domains.load()[spec.domain], spec)
    happened: list[events.Event] = [events.AttemptStarted(1, "l")]
    happened += [said("agent" if turn % 2 else "user", turn, f"Line {turn}.") for turn in range(1, 7)]
    reason: events.EndReason = "end_tool"
    for call, action in enumerate(actions, 1):
        result = environment.call_tool(action.side, action.tool, dict(action.arguments))
        happened.append(events.ToolCalled(action.side, call, action.tool, dict(action.arguments), f"id-{call}"))
        happened.append(
            events.ToolReturned(
                action.side,
                call,
                action.tool,
                result.ok,
                result.for_model,
                1.0,
                error=result.error,
                changes=list(result.changes),
                action=result.action,
                ends_call=result.ends_call is not None,
            )
        )
        happened.append(events.StateSynced(environment.sync(), call))
        reason = result.ends_call or reason
    happened.append(events.CallEnded(reason, "agent", 9000))
    # As a database gives it back.
    return [Row(row.seq, row.at_ms, row.kind, row.side, json.loads(json.dumps(row.data))) for row in rows(*happened)]


def score(spec: ScenarioSpec, actions: Sequence[GoldAction], *, claims_hold: bool = True) -> Scored:
    """Play a call, gather it from its events and score it; the judge rules alike on all claims."""
    evidence = gather(spec, play(spec, actions))
    verdicts = [{"index": i, "reason": "", "passed": claims_hold} for i in range(1, len(spec.nl_assertions) + 1)]
    ruling: dict[str, Any] = {"reason": "", "score": float(claims_hold), "nl_assertion_verdicts": verdicts}
    reply = read(json.dumps(ruling), spec.nl_assertions, evidence) if needs_judge(spec) else None
    return score_trial(spec, gold_replay(spec), evidence, ScoringConfig(), reply)
