"""The eva airline domain: disruptions, rebooking and compensation, each scenario with a database of its own."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from scenarios.domains.base import GoldAction, ScenarioSpec, Tool, register
from scenarios.domains.eva_airline import prompts
from scenarios.domains.eva_airline.tools import TOOLS
from scenarios.domains.pinned import PinnedDomain
from scenarios.domains.titles import shortened
from scenarios.sides import Side
from scenarios.state.canonical import NOT_COMPARED
from scenarios.state.changes import changes_between
from scenarios.state.overlay import Overlay, Seed

# For each scenario one way to its expected database, found by search: the data set ships the database and no calls.
CALLS = Path(__file__).with_name("calls.json")
# Five scenarios have names; the others are called by their id.
NAMES = {
    "1.1.2": "voluntary_date_change",
    "2.1.1": "irrops_cancellation",
    "3.1.3": "missed_flight_standby",
    "5.1.1": "cancellation_refund",
    "7.2.1": "escalation_edge_case",
}
_NOT_THE_ONLY_WAY = (
    "Found by search: the data set ships the expected database only, and other calls may lead there too."
)


@register
class EvaAirline(PinnedDomain):
    """50 scenarios from ``eva_airline_dataset.jsonl``, each over the database in its own file."""

    name = "eva_airline"
    title = "Airline disruptions (eva)"
    description = "Reservations of an airline: rebook, refund and compensate after disruptions."

    def __init__(self) -> None:
        self._seeds: dict[str, Seed] = {}

    def scenarios(self) -> Sequence[ScenarioSpec]:
        """Return the scenarios in the order of the data set."""
        return self._scenarios

    def seeds(self, spec: ScenarioSpec) -> Mapping[Side, Seed]:
        """Return the scenario's own database."""
        if spec.task_id not in self._seeds:
            self._seeds[spec.task_id] = Seed(self._read(f"{spec.task_id}.json"))
        return {"agent": self._seeds[spec.task_id]}

    def tools(self, side: Side) -> Sequence[Tool]:
        """Return the agent's tools; the caller has none."""
        return TOOLS if side == "agent" else ()

    def agent_prompt(self, spec: ScenarioSpec) -> str:
        """Return the role and the policy of the pinned agent, and the notes."""
        agent = self._agent
        return prompts.agent_prompt(agent["role"], agent["instructions"], self._rows[spec.task_id]["current_date_time"])

    def caller_prompt(self, spec: ScenarioSpec) -> str:
        """Return persona, how the caller decides, goal, and what the caller knows."""
        return prompts.caller_prompt(spec.caller)

    def tool_now(self, spec: ScenarioSpec) -> str:
        """Return the scenario's day, ``YYYY-MM-DD``."""
        day: str = self.seeds(spec)["agent"].data["_current_date"]
        return day

    def expected_databases(self, spec: ScenarioSpec) -> Mapping[Side, Overlay]:
        """Return the database that the data set ships as the right end, over the scenario's own."""
        shipped = self._rows[spec.task_id]["ground_truth"]["expected_scenario_db"]
        seed = self.seeds(spec)["agent"]
        expected = Overlay(seed)
        wanted = {table: records for table, records in shipped.items() if table not in NOT_COMPARED}
        expected.apply(changes_between(dict(seed.data), wanted))
        return {"agent": expected}

    @cached_property
    def _rows(self) -> Mapping[str, Mapping[str, Any]]:
        lines = self._text("eva_airline_dataset.jsonl").split("\n")
        return {row["id"]: row for row in map(json.loads, filter(None, lines))}

    @cached_property
    def _agent(self) -> Mapping[str, str]:
        agent: Mapping[str, str] = yaml.safe_load(self._text("airline_agent.yaml"))
        return agent

    @cached_property
    def _scenarios(self) -> tuple[ScenarioSpec, ...]:
        calls = json.loads(CALLS.read_text(encoding="utf-8"))
        return tuple(self._scenario(row, calls[task_id]) for task_id, row in self._rows.items())

    def _scenario(self, row: Mapping[str, Any], calls: Sequence[Mapping[str, Any]]) -> ScenarioSpec:
        task_id = row["id"]
        context = row["scenario_context"]
        return ScenarioSpec(
            name=f"{self.name}__{NAMES.get(task_id, task_id.replace('.', '_'))}",
            domain=self.name,
            task_id=task_id,
            title=shortened(row["user_goal"]["high_level_user_goal"]),
            caller=prompts.brief(row),
            success_signals=("db_state_match", "clean_exit"),
            gold_actions=tuple(GoldAction(tool, arguments) for call in calls for tool, arguments in call.items()),
            tags=("adversarial",) if context.get("adversarial_vector") else (),
            extra={
                "premise": context["premise"],
                "expected_flow": row["expected_flow"],
                "adversarial_vector": context.get("adversarial_vector", ""),
                "reference_calls": _NOT_THE_ONLY_WAY if calls else "",
            },
        )
