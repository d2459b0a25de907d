"""A script: the steps one party takes, and the reply that takes the next of them.

A step is one text or one tool call, since that is what a request's messages can be counted in
(``ChatRequest.position``). What the other party said is never a key: speech recognition changes it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bots.standins.wire import Reply, ToolCall


@dataclass(frozen=True)
class Say:
    """Speak. The turn ends here unless ``goes_on``: the next step's tool call is then in the same reply."""

    text: str
    goes_on: bool = False


@dataclass(frozen=True)
class Use:
    """Call a tool; ``raw`` replaces the JSON of the arguments."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    raw: str | None = None

    @property
    def call(self) -> ToolCall:
        """Return the call as it goes over the wire."""
        return ToolCall(self.tool, json.dumps(self.arguments) if self.raw is None else self.raw)


Step = Say | Use


@dataclass(frozen=True)
class Script:
    """Steps, then for ever the ``tail``; ``tail`` is empty text for a party that falls silent."""

    steps: list[Step]
    tail: str = "Goodbye."

    def reply(self, position: int) -> Reply:
        """Return the reply at a position: a text, a tool call, or a text that goes on with one."""
        if position >= len(self.steps):
            return Reply(self.tail)
        step = self.steps[position]
        if isinstance(step, Use):
            return Reply(tool_calls=(step.call,))
        following = self.steps[position + 1] if step.goes_on else None
        return Reply(step.text, (following.call,) if isinstance(following, Use) else ())

    @property
    def tools(self) -> list[Use]:
        """Return the tool calls in order."""
        return [step for step in self.steps if isinstance(step, Use)]
