"""What a scripted agent knows of its scenario: the task, its gold replay and the tools that matter."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

from scenarios.domains import load
from scenarios.domains.base import Domain, ScenarioSpec
from scenarios.replay import Gold, gold_replay


class UnknownScenario(Exception):
    """No usable domain here has a scenario of that name."""


@dataclass(frozen=True)
class Cue:
    """A scenario as the scripts read it."""

    domain: Domain
    spec: ScenarioSpec

    @cached_property
    def gold(self) -> Gold:
        """Return the gold replay, shared with everything else in this process."""
        return gold_replay(self.spec)

    @cached_property
    def write_tools(self) -> frozenset[str]:
        """Return the names of the agent's writing tools, hand-overs aside."""
        return frozenset(t.model_name() for t in self.domain.tools("agent") if t.kind == "write" and not t.ends_call)

    @cached_property
    def transfer_tools(self) -> frozenset[str]:
        """Return the names of the tools that hand the caller over."""
        return frozenset(t.model_name() for t in self.domain.tools("agent") if t.ends_call == "transfer")

    @cached_property
    def end_tool(self) -> str:
        """Return the name of the tool that ends the conversation."""
        return next(t.model_name() for t in self.domain.tools("agent") if t.ends_call == "end_tool")

    @cached_property
    def last_write(self) -> int | None:
        """Return the position of the last agent's gold call that changes the database, None when none does."""
        positions = [i for i, call in enumerate(self.gold.calls) if call.changes and call.side == "agent"]
        return positions[-1] if positions else None


@lru_cache(maxsize=1)
def _scenarios() -> dict[str, Cue]:
    domains = [domain for domain in load().values() if domain.missing_data() is None]
    return {spec.name: Cue(domain, spec) for domain in domains for spec in domain.scenarios()}


def cue(scenario: str) -> Cue:
    """Return a scenario's cue; ``UnknownScenario`` names it when there is none."""
    if scenario not in _scenarios():
        _scenarios.cache_clear()  # its files may have been fetched since
    if (found := _scenarios().get(scenario)) is None:
        raise UnknownScenario(
            f"no scenario is called {scenario!r} here; the stand-in's model name must end in :<scenario name>, and the"
            " files of its domain must have been fetched"
        )
    return found
