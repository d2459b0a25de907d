"""A little two-sided domain: a counter on the agent's side, a lamp on the caller's, and a sync between them.

It is not registered, so nothing else sees it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field

from scenarios.domains.base import (
    CallerBrief,
    Domain,
    InitAction,
    NoArguments,
    Refusal,
    ScenarioSpec,
    Tool,
    ToolArguments,
    ToolContext,
    ToolKind,
)
from scenarios.domains.conversation import EndConversationTool
from scenarios.sides import Side
from scenarios.state.overlay import Overlay, Seed

SEED = {
    "agent": Seed({"counters": {"A": {"value": 1, "labels": []}}, "log": []}),
    "user": Seed({"lamp": {"is_on": False, "colour": None}}),
}


class AddTool(Tool):
    """Adds to a counter."""

    description = "Add to a counter."
    kind: ClassVar[ToolKind] = "write"

    class Arguments(ToolArguments):
        """Each kind of argument once."""

        counter: str
        amount: int = Field(ge=0, le=100)
        factor: float = 1.0
        is_noted: bool = False
        colour: Literal["red", "green"] | None = None

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Write first and check afterwards, as a careless author would."""
        key = args.counter.upper()
        if key not in context.db.table("counters"):
            raise Refusal("counter_not_found", f"Counter {args.counter} not found.", "not_found")
        counter = context.db.edit("counters", key)
        if args.amount == 0:
            context.is_noop = True
            return "Already so."
        counter["value"] += args.amount * args.factor
        context.db.insert("log", 0, {"at": context.now, "number": context.counts.get("add", 0) + 1})
        if counter["value"] > 100:
            raise Refusal("too_big", f"{counter['value']} is too big.")
        context.record = {"counter": context.spelling("counter", args.counter, key), "value": counter["value"]}
        return counter


class FindTool(Tool):
    """Gives back whatever it is asked for: also nothing."""

    description = "Find something."

    class Arguments(ToolArguments):
        """What to find."""

        what: Literal["list", "object", "text", "nothing", "zero", "something"]

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return an empty value of the kind asked for."""
        values: dict[str, Any] = {"list": [], "object": {}, "text": "", "nothing": None, "zero": 0, "something": [1]}
        return values[args.what]


class BreakTool(Tool):
    """Fails in the middle of a write."""

    description = "Break."
    kind: ClassVar[ToolKind] = "write"
    Arguments: ClassVar[type[BaseModel]] = NoArguments

    def run(self, args: Any, context: ToolContext) -> Any:
        """Write, then crash."""
        context.db.edit("counters", "A")["value"] = -1
        raise ZeroDivisionError


class SneakTool(Tool):
    """Says that it only reads, and writes."""

    description = "Sneak."
    Arguments: ClassVar[type[BaseModel]] = NoArguments

    def run(self, args: Any, context: ToolContext) -> Any:
        """Write without the right to."""
        return context.db.edit("counters", "A")


class SwitchLampTool(Tool):
    """The caller's tool."""

    description = "Switch the lamp."
    side: ClassVar[Side] = "user"
    kind: ClassVar[ToolKind] = "write"
    Arguments: ClassVar[type[BaseModel]] = NoArguments

    def run(self, args: Any, context: ToolContext) -> Any:
        """Switch."""
        lamp = context.db.edit("lamp")
        lamp["is_on"] = not lamp["is_on"]
        return f"on: {lamp['is_on']}"


def lamp_is_on(db: Overlay, expected: bool) -> bool:
    """Return whether the lamp is as expected."""
    return bool(db.get("lamp")["is_on"] == expected)


class Toy(Domain):
    """The domain."""

    name = "toy"
    title = "Toy"
    now = "2026-01-02"

    def missing_data(self) -> str | None:
        """Return None."""
        return None

    def scenarios(self) -> Sequence[ScenarioSpec]:
        """Return two."""
        return (spec("1"), spec("2", init_actions=(InitAction("set", {"counter": "A", "value": 50}, "agent"),)))

    def seeds(self, spec: ScenarioSpec) -> Mapping[Side, Seed]:
        """Return one a side."""
        return SEED  # type: ignore[return-value]

    def tools(self, side: Side) -> Sequence[Tool]:
        """Return both sides' tools."""
        agents = (AddTool(), FindTool(), BreakTool(), SneakTool(), EndConversationTool())
        return agents if side == "agent" else (SwitchLampTool(),)

    def agent_prompt(self, spec: ScenarioSpec) -> str:
        """Return nothing worth reading."""
        return ""

    def caller_prompt(self, spec: ScenarioSpec) -> str:
        """Return nothing worth reading."""
        return ""

    def predicates(self) -> Mapping[str, Any]:
        """Return the one there is."""
        return {"lamp_is_on": lamp_is_on}

    def initialize(self, action: InitAction, databases: Mapping[Side, Overlay], now: str) -> None:
        """Set a counter."""
        if action.func_name != "set":
            super().initialize(action, databases, now)
        databases["agent"].edit("counters", action.arguments["counter"])["value"] = action.arguments["value"]

    def sync(self, databases: Mapping[Side, Overlay]) -> None:
        """Colour the lamp by the counter."""
        colour = "red" if databases["agent"].get("counters", "A")["value"] >= 50 else None
        databases["user"].edit("lamp")["colour"] = colour


def spec(task_id: str, **fields: Any) -> ScenarioSpec:
    """Return a scenario of the toy domain."""
    return ScenarioSpec(
        **{
            "name": f"toy__{task_id}",
            "domain": "toy",
            "task_id": task_id,
            "caller": CallerBrief(goal="Count."),
            "success_signals": ("db_state_match", "clean_exit"),
            **fields,
        }
    )
