"""What a run decides about scoring, taken from its frozen configuration."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

# What a pass needs: the signals as the reference gates them, or also what upstream's reward demands beside them.
Strictness = Literal["reference", "upstream"]
STRICTNESSES: tuple[Strictness, ...] = get_args(Strictness)


@dataclass(frozen=True)
class ScoringConfig:
    """The scoring part of a run's configuration (``Run.config``): scoring again uses the run's own, never today's."""

    min_agent_turns: int = 3  # fewer agent turns: stalled; 0 disables
    strict_match: bool = False
    strictness: Strictness = "reference"

    @classmethod
    def from_run(cls, config: Mapping[str, Any]) -> Self:
        """Read the scoring part of ``Run.config``; KeyError names a field that a stored run must have."""
        return cls(
            min_agent_turns=int(config["min_agent_turns"]),
            strict_match=bool(config["strict_match"]),
            strictness=config["strictness"],
        )
