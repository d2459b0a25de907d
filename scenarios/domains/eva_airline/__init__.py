"""The eva airline domain: disruptions, rebooking and compensation, each scenario with a database of its own."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import yaml

from scenarios.domains.base import ScenarioSpec, Tool, register
from scenarios.domains.eva_airline import prompts
from scenarios.domains.eva_airline.plan import calls_between
from scenarios.domains.eva_airline.tools import TOOLS
from scenarios.domains.pinned import PinnedDomain
from scenarios.domains.titles import shortened
from scenarios.sides import Side
from scenarios.state.canonical import NOT_COMPARED
from scenarios.state.changes import changes_between
from scenarios.state.overlay import Overlay, Seed

# Five scenarios have names; the others are called by their id.
NAMES = {
    "1.1.2": "voluntary_date_change",
    "2.1.1": "irrops_cancellation",
    "3.1.3": "missed_flight_standby",
    "5.1.1": "cancellation_refund",
    "7.2.1": "escalation_edge_case",
}
_NOT_THE_ONLY_WAY = "Read off the expected database: the data set ships no calls, and other calls may lead there too."


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
        return {"agent": self._seed(spec.task_id)}

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
        day: str = self._seed(spec.task_id).data["_current_date"]
        return day

    def expected_databases(self, spec: ScenarioSpec) -> Mapping[Side, Overlay]:
        """Return the database that the data set ships as the right end, over the scenario's own."""
        shipped = self._shipped(spec.task_id)
        seed = self._seed(spec.task_id)
        expected = Overlay(seed)
        wanted = {table: records for table, records in shipped.items() if table not in NOT_COMPARED}
        expected.apply(changes_between(dict(seed.data), wanted))
        return {"agent": expected}

    def _seed(self, task_id: str) -> Seed:
        if task_id not in self._seeds:
            self._seeds[task_id] = Seed(self._read(f"{task_id}.json"))
        return self._seeds[task_id]

    def _shipped(self, task_id: str) -> Mapping[str, Any]:
        shipped: Mapping[str, Any] = self._rows[task_id]["ground_truth"]["expected_scenario_db"]
        return shipped

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
        return tuple(map(self._scenario, self._rows.values()))

    def _scenario(self, row: Mapping[str, Any]) -> ScenarioSpec:
        task_id = row["id"]
        calls = calls_between(self._seed(task_id).data, self._shipped(task_id))
        context = row["scenario_context"]
        return ScenarioSpec(
            name=f"{self.name}__{NAMES.get(task_id, task_id.replace('.', '_'))}",
            domain=self.name,
            task_id=task_id,
            title=shortened(row["user_goal"]["high_level_user_goal"]),
            caller=prompts.brief(row),
            success_signals=("db_state_match", "clean_exit"),
            gold_actions=calls,
            tags=("adversarial",) if context.get("adversarial_vector") else (),
            extra={
                "premise": context["premise"],
                "expected_flow": row["expected_flow"],
                "adversarial_vector": context.get("adversarial_vector", ""),
                "reference_calls": _NOT_THE_ONLY_WAY if calls else "",
            },
        )
