"""Calls with bots that keep their own tools: who plays which side, and what came of it."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any

from bots.call import PartyFailed, Stop, hold_call
from scenarios import domains
from scenarios.domains.base import ScenarioSpec
from scenarios.replay import gold_replay
from scenarios.scoring.config import ScoringConfig
from scenarios.scoring.evidence import gather
from scenarios.scoring.success import Scored, score_trial
from scenarios.sides import Side
from tests.bots.conftest import Held, Stage
from tests.bots.record import ListRecord
from tests.bots.reference_bot import EXIT, ReferenceBot, Step, Use, serving

SETTLE = {"turn_settle_s": 0.15}


def spec_of(domain: str, name: str) -> ScenarioSpec:
    return next(spec for spec in domains.load()[domain].scenarios() if spec.name == name)


def gold_script(spec: ScenarioSpec, side: Side = "agent") -> list[list[Step]]:
    """Return an agent that greets, does what the gold does, and ends."""
    calls = [Use(action.tool, action.arguments) for action in spec.gold_actions if action.side == side]
    return [["Hello, how can I help?"], ["One moment.", *calls, "That is done."], ["Goodbye.", EXIT]]


@dataclass
class Result(Held):
    """A held call and the scenario it was of."""

    spec: ScenarioSpec | None = None

    def scored(self) -> Scored:
        assert self.spec is not None
        evidence = self.evidence or gather(self.spec, self.record.events)
        config = ScoringConfig(min_agent_turns=0)
        return score_trial(self.spec, gold_replay(self.spec), evidence, config, None)

    def signal(self, name: str) -> Any:
        return next(result for result in self.scored().results if result.signal == name)


async def hold(stage: Stage, spec: ScenarioSpec, bots: Sequence[ReferenceBot], **config: Any) -> Result:
    """Hold a call of a scenario; sides without a bot are played by our own party."""
    async with AsyncExitStack() as stack:
        sides: dict[str, Mapping[str, Any]] = {}
        for bot in bots:
            address = await stack.enter_async_context(serving(bot))
            sides[bot.side] = {"address": address, "tools_run": "theirs", "model": "", "parameters": SETTLE}
        return await hold_at(stage, spec, sides, **config)


async def hold_at(stage: Stage, spec: ScenarioSpec, sides: Mapping[str, Mapping[str, Any]], **config: Any) -> Result:
    """Hold a call with what profiles of the sides say beside the usual."""
    held = Result(ListRecord(), spec=spec)
    stage.agent, stage.caller = dict(sides.get("agent", {})), dict(sides.get("user", {}))
    scenarios = [{"name": spec.name, "fingerprint": "f"}]
    claim = stage.claim(domain=spec.domain, scenarios=scenarios, **config)
    try:
        held.evidence = await hold_call(replace(claim, scenario=spec.name), held.record, Stop())
    except PartyFailed as failure:
        held.failure = failure
    return held
