"""What scoring reads: the record of one call, gathered from its events and nothing else.

The live call and a stored one are scored through the same function, so scoring again cannot differ from scoring first.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from scenarios.domains.base import Fidelity, ScenarioSpec
from scenarios.events import EndReason
from scenarios.sides import Side
from scenarios.state.overlay import Overlay


class StoredEvent(Protocol):
    """An event as it was recorded: a database row or what the recorder keeps in memory."""

    @property
    def seq(self) -> int: ...
    @property
    def at_ms(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def side(self) -> str: ...  # "" when the event belongs to neither
    @property
    def data(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True)
class Turn:
    """One utterance; ``seq`` is the event that holds it."""

    seq: int
    turn: int
    side: Side
    said: str
    heard: str | None
    started_ms: int
    ended_ms: int
    interrupted: bool


@dataclass(frozen=True)
class ToolUse:
    """One tool call with its answer (``ok`` None: never answered)."""

    seq: int  # of tool.called
    call: int
    side: Side
    tool: str
    arguments: Mapping[str, Any]
    ok: bool | None
    result: Any
    error: str | None
    changes: tuple[Mapping[str, Any], ...]
    action: Mapping[str, Any] | None


@dataclass(frozen=True)
class Evidence:
    """The record of the last attempt of one trial."""

    turns: tuple[Turn, ...]
    tools: tuple[ToolUse, ...]
    actions: tuple[Mapping[str, Any], ...]  # recorded writes, agent's and user's, in order
    databases: Mapping[Side, Overlay]  # final state, rebuilt from seed and changes
    end_reason: EndReason | None  # None: the call never ended, so nothing can be scored
    duration_ms: int
    agent_turns: int
    intervened_by: str | None
    usage: Mapping[Side, Mapping[str, int]]  # n_calls, prompt, completion
    response_ms: Mapping[Side, tuple[float, ...]]
    # Set when the record itself broke (a bot, socket or model endpoint failed): short kind and message.
    infra_error: tuple[str, str] | None = None


def gather(spec: ScenarioSpec, events: Iterable[StoredEvent], fidelity: Fidelity = "canonical") -> Evidence:
    """Build the evidence from a trial's events; only those after the last ``attempt.started`` count."""
    raise NotImplementedError
