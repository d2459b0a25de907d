"""The tau2 telecom domain: a phone company's technical support, with the caller's phone as a second database."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from scenarios.domains.base import InitAction, ScenarioSpec, Signal, Tool, register
from scenarios.domains.tau2 import Tau2Domain, db_assertion, init_action
from scenarios.domains.tau2_telecom import predicates  # noqa: F401 (registers them)
from scenarios.domains.tau2_telecom.initialization import initialize
from scenarios.domains.tau2_telecom.known_errors import known_errors
from scenarios.domains.tau2_telecom.prompts import agent_text, caller_text
from scenarios.domains.tau2_telecom.sync import delta, sync_sides
from scenarios.domains.tau2_telecom.tools import PHONE_TOOLS, TOOLS
from scenarios.sides import Side
from scenarios.state.overlay import Overlay, Seed

_WORKFLOW = "tau2_telecom_workflow"
_SUPPORT_TEXTS = {"tau2_telecom": "tech_support_manual.md", _WORKFLOW: "tech_support_workflow.md"}
# "[mms_issue]bad_vpn|data_mode_off[PERSONA:Hard]"
_TASK_ID = re.compile(r"\[(?P<category>\w+)\](?P<faults>[\w|]+)\[PERSONA:(?P<persona>\w+)\]")


@register
class Tau2Telecom(Tau2Domain):
    """114 tasks, each once with the support manual and once with the same as a workflow: 228 scenarios.

    The prefix of a scenario's name says which support text its agent has; tools and predicates are the same.
    """

    name = "tau2_telecom"
    title = "Telecom (tau2)"
    description = "A phone without service, data or picture messages: the agent guides, the caller's phone has tools."
    # The policy's own "now".
    now = "2025-02-25T12:08:00"

    def tools(self, side: Side) -> Sequence[Tool]:
        """Return the provider's tools for the agent, the phone's for the caller."""
        return TOOLS if side == "agent" else PHONE_TOOLS

    def agent_prompt(self, spec: ScenarioSpec) -> str:
        """Return policy and support text unchanged, followed by the notes."""
        return self._agent_prompts[_prefix(spec)]

    def caller_prompt(self, spec: ScenarioSpec) -> str:
        """Return the usual brief, with how such a call goes and how to use the phone."""
        return caller_text(spec.caller)

    def initialize(self, action: InitAction, databases: Mapping[Side, Overlay], now: str) -> None:
        """Run one of the 20 steps."""
        initialize(action, databases, now)

    def sync(self, databases: Mapping[Side, Overlay]) -> None:
        """Carry what one side did to the other."""
        sync_sides(databases)

    def sync_delta(
        self, side: Side, changes: Sequence[Mapping[str, Any]], databases: Mapping[Side, Overlay]
    ) -> dict[str, Any]:
        """Return whole fields of the surroundings, or bills by id; the phone searches for a network itself."""
        return delta(changes, databases[side])

    @cached_property
    def _scenarios(self) -> tuple[ScenarioSpec, ...]:
        specs = super()._scenarios
        return tuple(_under(prefix, spec) for prefix in _SUPPORT_TEXTS for spec in specs)

    @cached_property
    def _agent_prompts(self) -> dict[str, str]:
        policy = self._text("main_policy.md")
        return {
            prefix: agent_text(f"{policy}\n\n---\n\n{self._text(name)}", TOOLS, PHONE_TOOLS)
            for prefix, name in _SUPPORT_TEXTS.items()
        }

    def _load_seeds(self) -> Mapping[Side, Seed]:
        return {"agent": Seed(json.loads(self._text("db.json"))), "user": Seed(json.loads(self._text("user_db.json")))}

    def _signals(self, criteria: Mapping[str, Any]) -> tuple[Signal, ...]:
        return ("db_state_assertion", "clean_exit")

    def _scenario_name(self, task_id: str) -> str:
        category, faults, persona = _parts(task_id)
        return "__".join([self.name, category, *faults, *([persona] if persona else [])])

    def _scenario(
        self, task: Mapping[str, Any], persona_name: str, splits: Mapping[str, Sequence[str]]
    ) -> ScenarioSpec:
        spec = super()._scenario(task, persona_name, splits)
        category, faults, persona = _parts(task["id"])
        state, criteria = task.get("initial_state") or {}, task["evaluation_criteria"]
        return replace(
            spec,
            # What callers say first is the same for all tasks of a category; the faults are not.
            title=f"{category}: {', '.join(faults)}".replace("_", " "),
            init_actions=tuple(init_action(action) for action in state.get("initialization_actions") or ()),
            db_assertions=tuple(db_assertion(entry) for entry in criteria.get("env_assertions") or ()),
            # "full" holds every task.
            tags=(*(tag for tag in spec.tags if tag != "full"), category, *([persona] if persona else [])),
        )

    def _extra(self, task: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **super()._extra(task),
            "ticket": task.get("ticket") or "",
            "known_errors": known_errors(task),
        }


def _under(prefix: str, spec: ScenarioSpec) -> ScenarioSpec:
    """Return a scenario for an agent with the support text of this prefix, which its first tag says."""
    variant = "workflow" if prefix == _WORKFLOW else "manual"
    name = f"{prefix}__{spec.name.partition('__')[2]}"
    return replace(spec, name=name, tags=(variant, *spec.tags))


def _prefix(spec: ScenarioSpec) -> str:
    return spec.name.partition("__")[0]


def _parts(task_id: str) -> tuple[str, list[str], str]:
    """Return category, faults and the persona's level ("" for none) of a task id."""
    found = _TASK_ID.fullmatch(task_id)
    if found is None:
        raise ValueError(f"tau2_telecom/tasks.json: {task_id!r} is not of the form [category]fault|...[PERSONA:level]")
    persona = found["persona"].lower()
    return found["category"], found["faults"].split("|"), "" if persona == "none" else persona
