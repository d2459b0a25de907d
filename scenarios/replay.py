"""Gold replay: reference actions run on a fresh database, giving expected state and recorded actions in one pass."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scenarios.domains.base import ScenarioSpec, ToolResult
from scenarios.sides import Side
from scenarios.state.overlay import Overlay


@dataclass(frozen=True)
class Health:
    """What is odd about a scenario itself, shown on its page and never hidden from a rate."""

    failing_reads: tuple[int, ...]  # positions of gold calls that fail: harmless
    failing_writes: tuple[int, ...]  # positions of gold calls that fail: the gold may be broken
    gold_equals_seed: bool  # doing nothing reaches the expected state
    passes_by_inaction: bool  # ... and nothing else would stop a do-nothing agent that exits cleanly
    duplicate_of: str | None  # another scenario with the same caller brief and gold


@dataclass(frozen=True)
class Gold:
    """The result of one replay; cached per process, so the overlays must not be written."""

    databases: Mapping[Side, Overlay]
    start_hashes: Mapping[Side, str]
    expected_hashes: Mapping[Side, str]
    calls: tuple[ToolResult, ...]  # every gold call in order, reads included; ``changes`` name what each wrote
    reference_actions: tuple[dict[str, Any], ...]
    health: Health


def gold_replay(spec: ScenarioSpec) -> Gold:
    """Replay a scenario's gold actions (once per process and fidelity)."""
    raise NotImplementedError
