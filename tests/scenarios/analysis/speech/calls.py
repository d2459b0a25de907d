"""Small spoken calls: turns with what was said and heard, tool calls, and a scenario whose caller is told an id."""

from collections.abc import Mapping, Sequence
from typing import Any

from scenarios.domains.base import CallerBrief, GoldAction, ScenarioSpec
from scenarios.scoring.evidence import Evidence, ToolUse, Turn
from scenarios.sides import Side


def turn(number: int, side: Side, said: str, heard: str | None = None, **fields: Any) -> Turn:
    """Return a turn of 1 s whose event is ten times its number."""
    times = {"started_ms": number * 2000, "ended_ms": number * 2000 + 1000}
    return Turn(**{"seq": number * 10, "turn": number, "side": side, "said": said, "heard": heard, **times,
                   "interrupted": False, **fields})  # fmt: skip


def use(call: int, arguments: Mapping[str, Any], result: Any = "done", side: Side = "agent") -> ToolUse:
    """Return an answered tool call whose event is 100 plus its number."""
    return ToolUse(100 + call, call, side, "find", arguments, True, result, None, (), None)


def evidence(turns: Sequence[Turn] = (), tools: Sequence[ToolUse] = ()) -> Evidence:
    """Return a call that ended well."""
    return Evidence(tuple(turns), tuple(tools), (), {}, "end_tool", 60_000, 3, None, {}, {})


def scenario(known_info: str, **arguments: Any) -> ScenarioSpec:
    """Return a scenario whose one gold action has these arguments."""
    return ScenarioSpec(
        name="toy__1",
        domain="toy",
        task_id="1",
        caller=CallerBrief(goal="Find my order.", known_info=known_info),
        success_signals=("clean_exit",),
        gold_actions=(GoldAction("find", arguments),) if arguments else (),
    )
