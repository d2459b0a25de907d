"""The built-in domain: a small hotel's front desk. Worked example of ``docs/authoring-a-domain.md``."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar

from scenarios.domains.base import Domain, ScenarioSpec, Tool, register
from scenarios.domains.frontdesk import predicates  # noqa: F401 (registers them)
from scenarios.domains.frontdesk.loader import FOLDER, read_scenarios
from scenarios.domains.frontdesk.prompts import POLICY, caller_prompt
from scenarios.domains.frontdesk.tools import TOOLS
from scenarios.sides import Side
from scenarios.state.overlay import Seed


@register
class FrontDesk(Domain):
    """Twelve calls to a hotel, using every kind of signal; needs no download."""

    name: ClassVar[str] = "frontdesk"
    title: ClassVar[str] = "Hotel front desk"
    description: ClassVar[str] = (
        "A small hotel's front desk: dates, rooms, breakfast, late check-outs and disputed bills."
    )
    now: ClassVar[str] = "2026-03-14T09:00:00"

    def missing_data(self) -> str | None:
        """Return None: everything is in the package."""
        return None

    def scenarios(self) -> Sequence[ScenarioSpec]:
        """Return the scenarios of ``scenarios.json``."""
        return self._scenarios

    def seeds(self, spec: ScenarioSpec) -> Mapping[Side, Seed]:
        """Return the hotel's one database; the caller has none."""
        return {"agent": self._seed}

    def tools(self, side: Side) -> Sequence[Tool]:
        """Return the agent's tools; the caller has none."""
        return self._tools if side == "agent" else ()

    def agent_prompt(self, spec: ScenarioSpec) -> str:
        """Return the policy, the same for every scenario."""
        return POLICY

    def caller_prompt(self, spec: ScenarioSpec) -> str:
        """Return the brief of the scenario's guest."""
        return caller_prompt(spec.caller)

    @cached_property
    def _scenarios(self) -> tuple[ScenarioSpec, ...]:
        return read_scenarios()

    @cached_property
    def _seed(self) -> Seed:
        return Seed(json.loads((FOLDER / "database.json").read_text()))

    @cached_property
    def _tools(self) -> tuple[Tool, ...]:
        return tuple(tool() for tool in TOOLS)
