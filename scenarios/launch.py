"""From a filled launch form to a run with its trials, in one transaction."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from scenarios.models import Run


class FrozenProfile(BaseModel):
    """A profile as a run keeps it (``Profile.frozen``)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    slug: str
    kind: Literal["agent", "caller", "judge"]
    model: str = ""
    base_url: str = ""
    key_env: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    address: str = ""
    tools_run: Literal["ours", "theirs"] = "ours"
    prompt_price: float | None = None
    completion_price: float | None = None
    is_standin: bool = False


class Limits(BaseModel):
    """Where a call or a run is stopped. Times in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_turns: int = Field(default=100, ge=1, le=1000)  # turns of both sides
    max_duration_s: int | None = Field(default=None, ge=1)  # None: the scenario's own
    silence_s: float = Field(default=30, gt=0)  # nobody owes or says anything
    repeated_turns: int = Field(default=3, ge=2)  # the same exchange this many times in a row is a loop
    concurrency: int | None = Field(default=None, ge=1)  # calls of this run at once; None: what the lanes hold
    max_cost: float | None = Field(default=None, gt=0)  # dollars; refused when a price is unknown


class ScenarioRef(BaseModel):
    """A scenario as it was when the run was launched."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    fingerprint: str


class RunConfig(BaseModel):
    """The whole frozen configuration of a run: ``Run.config`` is its JSON, ``Run.fingerprint`` its SHA-256."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    domain: str
    scenarios: list[ScenarioRef]
    trials: int = Field(ge=1, le=100)
    agent: FrozenProfile
    caller: FrozenProfile
    judge: FrozenProfile | None
    channel: Literal["text", "voice"] = "text"
    fidelity: Literal["canonical", "reference"] = "canonical"
    limits: Limits = Limits()
    pace_s: float = Field(default=0, ge=0, le=60)  # seconds that a turn takes at least, so that people can watch
    min_agent_turns: int = Field(default=3, ge=0)
    strict_match: bool = False
    versions: dict[str, str] = Field(default_factory=dict)


def launch(config: RunConfig, *, person: Any, title: str = "", launch_key: str | None = None) -> Run:
    """Write a run and its trials in one transaction; the same ``launch_key`` returns the run it already made.

    The caller wakes the lanes (``bots.wake.wake_lanes``) after the transaction.
    """
    raise NotImplementedError


def expand(domain: str, names: Sequence[str]) -> list[ScenarioRef]:
    """Return the registered scenarios called ``names`` with their fingerprints; ValueError names the unknown ones."""
    raise NotImplementedError
