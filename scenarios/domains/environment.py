"""The state of one call: both sides' databases, the tools that work on them, and the actions recorded.

Gold replay, the live call, re-scoring and the conformance runner all step through this one class, so a replay cannot
differ from the live call.
"""

import logging
from collections import Counter
from contextlib import ExitStack
from typing import Any

from pydantic import BaseModel

from scenarios.domains.arguments import InvalidArguments, check, parameters_schema
from scenarios.domains.base import Domain, Fidelity, InitAction, Refusal, ScenarioSpec, Tool, ToolContext, ToolResult
from scenarios.sides import SIDES, Side
from scenarios.state.changes import Change
from scenarios.state.overlay import Overlay, Seed

logger = logging.getLogger(__name__)
_LONGEST_MESSAGE = 600


class Environment:
    """One call's databases and tools, started from the scenario's seed with its initialisation and one sync done.

    Raises Refusal, naming the step, when an initialisation action cannot be done.
    """

    def __init__(
        self, domain: Domain, spec: ScenarioSpec, fidelity: Fidelity = "canonical", now: str | None = None
    ) -> None:
        self.spec = spec
        self.fidelity = fidelity
        self.databases: dict[Side, Overlay] = {side: Overlay(seed) for side, seed in domain.seeds(spec).items()}
        # Recorded writes of both sides in order, each with its ``side``.
        self.actions: list[dict[str, Any]] = []
        self._domain = domain
        self._now = now or domain.tool_now(spec)
        self._counts: dict[Side, Counter[str]] = {side: Counter() for side in SIDES}
        self._tools = {side: {tool.model_name(): tool for tool in domain.tools(side)} for side in SIDES}
        # The agent's steps first, each side's in their order.
        for action in sorted(spec.init_actions, key=lambda action: action.side == "user"):
            self._begin(action)
        # What the first synchronisation changed; part of the start, so no event of a call holds it.
        self.start_sync = self.sync()

    def call_tool(self, side: Side, name: str, arguments: Any) -> ToolResult:
        """Run a tool by its model name or class name. Never raises for what a model may send.

        Malformed arguments, an unknown tool, a refusal and a missing database all come back as a result with
        ``ok`` false and a ``for_model`` that says what to do.
        """
        tool = self.find_tool(side, name)
        if tool is None:
            return self._unknown(side, name, arguments)
        context = self._context(side)
        given = dict(arguments) if isinstance(arguments, dict) else {}
        try:
            checked = check(tool.Arguments, arguments)
            value, changes = _run(tool, checked, context)
        except InvalidArguments as error:
            return self._invalid(tool, given, error)
        except Refusal as refusal:
            return _failed(tool.model_name(), tool.side, given, refusal.kind, refusal.error_type, refusal.message)
        except Exception:
            # A fault of the tool, not of the model: nothing was changed, and the call goes on.
            logger.exception("tool %s of %s failed", tool.model_name(), self.spec.name)
            return self._crashed(tool, side, given)
        self._counts[side][tool.model_name()] += 1
        arguments_said = {**checked.model_dump(), **context.recorded_arguments}
        return self._succeeded(tool, given, arguments_said, context, value, changes)

    def sync(self) -> list[dict[str, Any]]:
        """Bring the sides together; return the changes (``{"side", "path", "before", "after", "op"}``)."""
        if type(self._domain).sync is Domain.sync:
            return []
        with ExitStack() as stack:
            changes = {side: stack.enter_context(db.transaction()) for side, db in self.databases.items()}
            self._domain.sync(self.databases)
        return [change for side, made in changes.items() for change in _stored(side, made)]

    def initialize(self, action: InitAction) -> None:
        """Run one initialisation step, all or nothing; the scenario's own are already done."""
        if action.side not in SIDES:
            text = f"{action.func_name} names the side {action.side!r}; the sides are {', '.join(SIDES)}"
            raise Refusal("unknown_side", text)
        with ExitStack() as stack:
            for database in self.databases.values():
                stack.enter_context(database.transaction())
            self._domain.initialize(action, self.databases, self._now)

    def tool_schemas(self, side: Side) -> list[dict[str, Any]]:
        """Return ``{"name", "description", "parameters"}`` of each tool, as shown to a model."""
        return [
            {"name": name, "description": tool.description, "parameters": parameters_schema(tool.Arguments)}
            for name, tool in self._tools[side].items()
        ]

    def find_tool(self, side: Side, name: str) -> Tool | None:
        """Return a side's tool by its model name or class name."""
        tools = self._tools[side]
        return tools.get(name) or next((tool for tool in tools.values() if type(tool).__name__ == name), None)

    def _begin(self, action: InitAction) -> None:
        try:
            self.initialize(action)
        except Refusal as refusal:
            if action.func_name in refusal.message:
                raise
            raise Refusal(refusal.kind, f"{action.func_name}: {refusal.message}") from refusal
        except Exception as error:  # a domain's code, on arguments that a file brought
            text = f"{action.func_name} fails with {type(error).__name__}: {error}"
            raise Refusal("initialisation_failed", text) from error

    def _context(self, side: Side) -> ToolContext:
        database = self.databases.get(side) or Overlay(Seed({}))
        return ToolContext(
            db=database, side=side, fidelity=self.fidelity, now=self._now, counts=dict(self._counts[side])
        )

    def _succeeded(
        self,
        tool: Tool,
        given: dict[str, Any],
        arguments: dict[str, Any],
        context: ToolContext,
        value: Any,
        changes: list[Change],
    ) -> ToolResult:
        action = None
        if tool.kind == "write" and not context.is_noop:
            record = tool.action(arguments, context, value)
            action = None if record is None else {**record, "side": context.side}
        if action is not None:
            self.actions.append(action)
        return ToolResult(
            tool=tool.model_name(),
            side=context.side,
            ok=True,
            value=value,
            for_model=value or _wrapped(value),
            is_noop=context.is_noop,
            is_empty=not value,
            changes=tuple(_stored(context.side, changes)),
            action=action,
            ends_call=tool.ends_call,
            arguments=given,
        )

    def _crashed(self, tool: Tool, side: Side, given: dict[str, Any]) -> ToolResult:
        kind, error_type, text = "tool_failed", "internal_error", "The tool failed. Nothing changed."
        if side not in self.databases:
            kind = error_type = "db_not_initialized"
            text = f"The {side} side of {self.spec.name} has no database, and {tool.model_name()} needs one."
        return _failed(tool.model_name(), tool.side, given, kind, error_type, text)

    def _unknown(self, side: Side, name: str, arguments: Any) -> ToolResult:
        given = dict(arguments) if isinstance(arguments, dict) else {}
        shown = str(name)[:80]
        available = sorted(self._tools[side])
        text = f"There is no tool called {shown!r}. Use one of the available tools."
        return _failed(shown, side, given, "unknown_tool", "unknown_tool", text, available_tools=available)

    @staticmethod
    def _invalid(tool: Tool, given: dict[str, Any], error: InvalidArguments) -> ToolResult:
        text = f"The arguments of {tool.model_name()} are not valid: {error}. Correct them and call it again."
        return _failed(
            tool.model_name(),
            tool.side,
            given,
            "invalid_arguments",
            tool.invalid_type(error.fields),
            text,
            fields=error.fields,
            **({"details": error.details} if tool.lists_faults else {}),
        )


def _run(tool: Tool, arguments: BaseModel, context: ToolContext) -> tuple[Any, list[Change]]:
    if tool.kind == "read":
        return tool.run(arguments, context), []
    with context.db.transaction() as changes:
        value = tool.run(arguments, context)
    return value, changes


def _failed(
    name: str,
    side: Side,
    given: dict[str, Any],
    kind: str,
    error_type: str,
    message: str,
    *,
    fields: tuple[tuple[str, str], ...] = (),
    **more: Any,
) -> ToolResult:
    text = message if len(message) <= _LONGEST_MESSAGE else message[:_LONGEST_MESSAGE] + "..."
    return ToolResult(
        tool=name,
        side=side,
        ok=False,
        value=None,
        for_model={"status": "error", "error_type": error_type, "message": text, **more},
        error=kind,
        error_type=error_type,
        invalid_fields=fields,
        arguments=given,
    )


def _stored(side: Side, changes: list[Change]) -> list[dict[str, Any]]:
    return [{"side": side, **change.to_json()} for change in changes]


def _wrapped(value: Any) -> dict[str, Any]:
    """Return an empty result in an object that cannot be taken for "done"."""
    message = "Nothing was found."
    if isinstance(value, list):
        return {"status": "success", "results": [], "count": 0, "message": message}
    if isinstance(value, dict):
        return {"status": "success", "results": {}, "message": message}
    return {"status": "success", "result": value, "message": message}
