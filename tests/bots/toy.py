"""A tiny domain, so that calls can be tested without any real one: a box office with two tickets."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from scenarios.domains.base import CallerBrief, Domain, Refusal, ScenarioSpec, Tool, ToolContext, register
from scenarios.sides import Side
from scenarios.state.overlay import Seed

DOMAIN = "toy_calls"
SCENARIO = "toy_calls__sell"


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Ticket(_Arguments):
    ticket_id: str


class LookUpTool(Tool):
    description = "Look a ticket up."
    Arguments = _Ticket

    @classmethod
    def model_name(cls) -> str:
        return "look_up"

    def run(self, args: _Ticket, context: ToolContext) -> Any:
        try:
            return context.db.get("tickets", args.ticket_id)
        except KeyError:
            raise Refusal("not_found", f"no ticket {args.ticket_id}") from None


class SellTool(Tool):
    kind = "write"
    description = "Sell a ticket."
    Arguments = _Ticket

    @classmethod
    def model_name(cls) -> str:
        return "sell"

    def run(self, args: _Ticket, context: ToolContext) -> Any:
        ticket = context.db.edit("tickets", args.ticket_id)
        if ticket["sold"]:
            raise Refusal("sold_out", "that ticket is sold")
        ticket["sold"] = True
        return {"sold": args.ticket_id}


class ListAllTool(Tool):
    description = "List a very long programme."
    Arguments = _Arguments

    @classmethod
    def model_name(cls) -> str:
        return "list_all"

    def run(self, args: _Arguments, context: ToolContext) -> Any:
        return [{"show": number, "title": "x" * 90} for number in range(2000)]


class EndTool(Tool):
    description = "End the conversation."
    Arguments = _Arguments
    ends_call: ClassVar[Literal["end_tool", "transfer"] | None] = "end_tool"

    @classmethod
    def model_name(cls) -> str:
        return "end_conversation"

    def run(self, args: _Arguments, context: ToolContext) -> Any:
        return {"status": "ended"}


class TransferTool(EndTool):
    description = "Hand over to a person."
    ends_call = "transfer"

    @classmethod
    def model_name(cls) -> str:
        return "transfer"


class CheckSeatTool(LookUpTool):
    description = "The caller looks at the ticket."
    side = "user"


@register
class ToyCalls(Domain):
    name = DOMAIN
    title = "Toy calls"
    now = "2024-05-15T15:00:00"
    _spec = ScenarioSpec(
        name=SCENARIO,
        domain=DOMAIN,
        task_id="sell",
        caller=CallerBrief(goal="Buy ticket A1."),
        persona="You are in a hurry.",
        success_signals=("db_state_match",),
        max_duration_s=60,
    )
    _seed = Seed({"tickets": {"A1": {"id": "A1", "sold": False}, "A2": {"id": "A2", "sold": True}}})

    def missing_data(self) -> str | None:
        return None

    def scenarios(self) -> Sequence[ScenarioSpec]:
        return [self._spec]

    def seeds(self, spec: ScenarioSpec) -> Mapping[Side, Seed]:
        return {"agent": self._seed, "user": self._seed}

    def tools(self, side: Side) -> Sequence[Tool]:
        if side == "user":
            return [CheckSeatTool()]
        return [LookUpTool(), SellTool(), ListAllTool(), EndTool(), TransferTool()]

    def agent_prompt(self, spec: ScenarioSpec) -> str:
        return "You sell tickets."

    def caller_prompt(self, spec: ScenarioSpec) -> str:
        return f"You are a caller. {spec.caller.goal} {spec.caller.personality}"
