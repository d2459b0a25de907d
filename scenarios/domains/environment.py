"""The state of one call: both sides' databases, the tools that work on them, and the actions recorded.

Gold replay, the live call, re-scoring and the conformance runner all step through this one class, so a replay cannot
differ from the live call.
"""

from collections.abc import Mapping
from typing import Any

from scenarios.domains.base import Domain, Fidelity, ScenarioSpec, ToolResult
from scenarios.sides import Side
from scenarios.state.overlay import Overlay


class Environment:
    """One call's databases and tools, started from the scenario's seed with its initialisation and one sync done."""

    def __init__(self, domain: Domain, spec: ScenarioSpec, fidelity: Fidelity = "canonical") -> None:
        raise NotImplementedError

    databases: Mapping[Side, Overlay]
    actions: list[dict[str, Any]]

    def call_tool(self, side: Side, name: str, arguments: Any) -> ToolResult:
        """Run a tool by its model name or class name. Never raises for what a model may send.

        Malformed arguments, an unknown tool, a refusal and a missing database all come back as a result with
        ``ok`` false and a ``for_model`` that says what to do.
        """
        raise NotImplementedError

    def sync(self) -> list[dict[str, Any]]:
        """Bring the sides together; return the changes (``{"side", "path", "before", "after", "op"}``)."""
        raise NotImplementedError

    def tool_schemas(self, side: Side) -> list[dict[str, Any]]:
        """Return ``{"name", "description", "parameters"}`` of each tool, as shown to a model."""
        raise NotImplementedError
