"""A small in-process loop: two stand-ins talk over the wire format and an Environment, without sockets or lanes."""

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from bots.standins.cue import Cue, cue
from bots.standins.scripts import answer
from bots.standins.wire import ChatRequest, Reply, completion, read_request
from scenarios import events as facts
from scenarios.domains.environment import Environment
from scenarios.scoring import judge_reply, judge_request
from scenarios.scoring.config import ScoringConfig
from scenarios.scoring.evidence import Evidence, gather
from scenarios.scoring.results import Decision
from scenarios.scoring.success import score_trial
from scenarios.sides import Side
from tests.bots.record import ListRecord

MAX_TURNS = 60  # the longest faithful call has 53


def ask(model: str, messages: list[dict[str, Any]], **fields: Any) -> tuple[ChatRequest, Reply]:
    """Send messages to a stand-in, through the parser that the endpoint uses."""
    request = read_request(json.dumps({"model": model, "messages": messages, **fields}).encode())
    return request, answer(request)


@dataclass
class Conversation:
    """One call between two stand-ins and its record."""

    scenario: str
    agent: str = "standin-faithful"
    caller: str = "standin-caller"
    joins_text_and_call: bool = False  # one message for a reply with text and a tool call, or two
    record: ListRecord = field(default_factory=ListRecord)
    turns: int = 0
    calls: int = 0
    end_reason: str = ""

    def __post_init__(self) -> None:
        self.scene: Cue = cue(self.scenario)
        self.environment = Environment(self.scene.domain, self.scene.spec)
        self.contexts: dict[Side, list[dict[str, Any]]] = {
            "agent": [{"role": "system", "content": "You are an agent."}],
            "user": [{"role": "system", "content": "You are a caller."}],
        }

    def hold(self) -> "Conversation":
        """Talk until the agent ends the call or the limit is reached; the agent speaks first."""
        self.record(facts.AttemptStarted(attempt=1, lane="test"))
        self.record(facts.CallStarted(channel="text"))
        while not self.end_reason and self.turns < MAX_TURNS:
            said = self._turn("agent")
            if not self.end_reason and said:
                self.contexts["user"].append({"role": "user", "content": said})
                self.contexts["agent"].append({"role": "user", "content": self._turn("user")})
            elif not said and not self.end_reason:
                self.end_reason = "silence"
        self.end_reason = self.end_reason or "turn_limit"
        by: Side | None = "agent" if self.end_reason in facts.CLEAN_ENDS else None
        self.record(facts.CallEnded(reason=self.end_reason, by=by, duration_ms=1000))  # type: ignore[arg-type]
        return self

    @cached_property
    def evidence(self) -> Evidence:
        """Return what scoring reads."""
        return gather(self.scene.spec, self.record.events)

    @property
    def said(self) -> list[str]:
        """Return the agent's texts."""
        return [
            event.data["said"] for event in self.record.events if event.kind == "turn.ended" and event.side == "agent"
        ]

    @property
    def tools(self) -> list[str]:
        """Return the names of the tools called."""
        return [use.tool for use in self.evidence.tools]

    @property
    def is_as_expected(self) -> bool:
        """Return whether every final database is the gold's."""
        hashes = {side: database.hash for side, database in self.environment.databases.items()}
        return hashes == dict(self.scene.gold.expected_hashes)

    def verdicts(self, judge: str = "standin-judge") -> judge_reply.JudgeReply:
        """Have a stand-in judge rule on the claims, over the same request that a model would get."""
        spec, evidence = self.scene.spec, self.evidence
        request = judge_request.build(spec, self.scene.gold, evidence)
        messages = [
            {"role": "system", "content": request.system_prompt},
            {"role": "user", "content": request.user_content},
        ]
        return judge_reply.read(ask(judge, messages)[1].text, spec.nl_assertions, evidence)

    def decision(self, judge: str = "standin-judge") -> Decision:
        """Return the outcome of the call, scored as a lane scores it."""
        spec, evidence = self.scene.spec, self.evidence
        reply = self.verdicts(judge) if judge_request.needs_judge(spec) else None
        return score_trial(spec, self.scene.gold, evidence, ScoringConfig(), reply).decision

    def _turn(self, side: Side) -> str:
        said = []
        model = f"{self.agent if side == 'agent' else self.caller}:{self.scenario}"
        while True:
            request, reply = ask(model, self.contexts[side])
            said += [reply.text] if reply.text.strip() else []
            message = completion(request, reply)["choices"][0]["message"]
            self._remember(side, message)
            if not reply.tool_calls:
                break
            for call in message["tool_calls"]:
                self._use(side, call)
            if self.end_reason:
                break
        if said:
            self.turns += 1
            self.record(facts.TurnEnded(side, self.turns, " ".join(said), None, 0))
        return " ".join(said)

    def _remember(self, side: Side, message: dict[str, Any]) -> None:
        context = self.contexts[side]
        if message.get("tool_calls") and message["content"] and not self.joins_text_and_call:
            context.append({"role": "assistant", "content": message["content"]})
            message = {**message, "content": ""}
        if message["content"] or message.get("tool_calls"):
            context.append(message)

    def _use(self, side: Side, call: dict[str, Any]) -> None:
        self.calls += 1
        name, text = call["function"]["name"], call["function"]["arguments"]
        try:
            arguments, raw = json.loads(text), None
        except ValueError:
            arguments, raw = {}, text
        self.record(facts.ToolCalled(side, self.calls, name, arguments, call["id"], raw))
        result = self.environment.call_tool(side, name, arguments if raw is None else raw)
        self.record(
            facts.ToolReturned(
                side=side,
                call=self.calls,
                tool=name,
                ok=result.ok,
                result=result.for_model,
                duration_ms=1.0,
                error=result.error,
                changes=list(result.changes),
                action=result.action,
                ends_call=bool(result.ends_call),
            )
        )
        if changes := self.environment.sync():
            self.record(facts.StateSynced(changes, after_call=self.calls))
        content = json.dumps(result.for_model)
        self.contexts[side].append({"role": "tool", "tool_call_id": call["id"], "content": content})
        self.end_reason = result.ends_call or self.end_reason
