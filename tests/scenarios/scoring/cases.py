"""Small calls to score: a toy scenario with two orders, and events as a recorder writes them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from scenarios import events
from scenarios.domains.base import CallerBrief, GoldAction, ScenarioSpec, ToolResult
from scenarios.replay import Gold, Health
from scenarios.scoring.config import ScoringConfig
from scenarios.scoring.evidence import Evidence, ToolUse, Turn
from scenarios.sides import SIDES, Side
from scenarios.state.overlay import Overlay, Seed

DATA = {"orders": {"W1": {"id": "W1", "status": "pending"}, "W2": {"id": "W2", "status": "delivered"}}}
CANCEL = {
    "action_type": "cancel",
    "name": "cancel",
    "arguments": {"order_id": "W1"},
    "result": {"status": "cancelled"},
    "side": "agent",
}
CHANGE = {"side": "agent", "path": ["orders", "W1", "status"], "before": "pending", "after": "cancelled", "op": "set"}
CONFIG = ScoringConfig()


def database(*changes: Mapping[str, Any]) -> Overlay:
    """Return the toy database with changes made."""
    from scenarios.state.changes import Change

    overlay = Overlay(Seed(DATA))
    overlay.apply([Change.from_json(change) for change in changes])
    return overlay


def spec(**fields: Any) -> ScenarioSpec:
    """Return a scenario that is gated by the database and a clean exit."""
    base = ScenarioSpec(
        name="toy__1",
        domain="toy",
        task_id="1",
        caller=CallerBrief(goal="Cancel my order W1."),
        success_signals=("db_state_match", "clean_exit"),
        gold_actions=(GoldAction("cancel", {"order_id": "W1"}),),
    )
    return replace(base, **fields)


HEALTH = Health((), (), gold_equals_seed=False, passes_by_inaction=False, duplicate_of=None)
DO_NOTHING = replace(HEALTH, gold_equals_seed=True, passes_by_inaction=True)


def gold(
    *actions: Mapping[str, Any], changes: Sequence[Mapping[str, Any]] = (CHANGE,), health: Health = HEALTH
) -> Gold:
    """Return a replay of one call that recorded these actions and made these changes."""
    end = database(*changes)
    recorded = [dict(action) for action in actions or (CANCEL,)]
    calls = tuple(
        ToolResult(
            tool=str(action["name"]),
            side="agent",
            ok=True,
            value={},
            for_model={},
            changes=tuple(dict(change) for change in changes) if i == 0 else (),
            action=action,
        )
        for i, action in enumerate(recorded)
    )
    return Gold({"agent": end}, {"agent": database().hash}, {"agent": end.hash}, calls, tuple(recorded), health)


def no_gold() -> Gold:
    """Return the replay of a scenario that expects nothing to change."""
    start = database()
    return Gold({"agent": start}, {"agent": start.hash}, {"agent": start.hash}, (), (), DO_NOTHING)


def turns(*texts: str) -> tuple[Turn, ...]:
    """Return turns that begin with the caller and alternate; ``seq`` is ten times the turn's number."""
    return tuple(
        Turn(10 * i, i, SIDES[(i + 1) % 2], text, None, 1000 * i, 1000 * i + 500, interrupted=False)
        for i, text in enumerate(texts, 1)
    )


TALK = turns("Cancel W1 please.", "Is that right?", "Yes.", "Order W1 is cancelled.", "Thanks.", "Goodbye.")


def use(call: int = 1, tool: str = "cancel", **fields: Any) -> ToolUse:
    """Return a successful cancellation; ``seq`` is a hundred times the call's number."""
    base = ToolUse(100 * call, call, "agent", tool, {"order_id": "W1"}, True, {"ok": True}, None, (CHANGE,), CANCEL)
    return replace(base, **fields)


END = use(9, "end_conversation", arguments={}, changes=(), action=None, ends_call=True)


def evidence(**fields: Any) -> Evidence:
    """Return the record of a call in which the agent cancelled the order and hung up."""
    tools: tuple[ToolUse, ...] = fields.pop("tools", (use(), END))
    base = Evidence(
        turns=TALK,
        tools=tools,
        actions=tuple(item.action for item in tools if item.action is not None),
        databases={"agent": database(*(change for item in tools for change in item.changes))},
        end_reason="end_tool",
        duration_ms=60_000,
        agent_turns=3,
        intervened_by=None,
        usage={side: {"n_calls": 0, "prompt": 0, "completion": 0} for side in SIDES},
        response_ms={side: () for side in SIDES},
    )
    return replace(base, **fields)


def idle(**fields: Any) -> Evidence:
    """Return the record of a call in which the agent talked, did nothing, and hung up."""
    return evidence(**{"tools": (END,), **fields})


@dataclass(frozen=True)
class Row:
    """An event as it is stored."""

    seq: int
    at_ms: int
    kind: str
    side: str
    data: Mapping[str, Any]


def rows(*happened: events.Event, start: int = 1) -> list[Row]:
    """Number events as a recorder does, a second apart."""
    return [
        Row(seq, 1000 * seq, event.kind, getattr(event, "side", None) or "", asdict(event))
        for seq, event in enumerate(happened, start)
    ]


def said(side: Side, turn: int, text: str, **fields: Any) -> events.TurnEnded:
    """Return the event of one turn."""
    return events.TurnEnded(side, turn, text, fields.pop("heard", None), fields.pop("started_ms", 0), **fields)
