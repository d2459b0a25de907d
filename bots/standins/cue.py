"""What a scripted agent knows of its scenario: the task, its gold replay and the tools that matter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from scenarios.domains import load
from scenarios.domains.base import Domain, GoldAction, ScenarioSpec, ToolResult
from scenarios.domains.environment import Environment
from scenarios.domains.predicates import evaluate
from scenarios.replay import Gold, gold_replay
from scenarios.sides import Side
from scenarios.state.overlay import Overlay


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
    def writes(self) -> list[int]:
        """Return the positions of the gold calls, of either side, that change a database."""
        return [position for position, call in enumerate(self.gold.calls) if call.changes]

    @cached_property
    def last_write(self) -> int | None:
        """Return the position of the last gold write that the end state cannot do without, None when there is none."""
        actions = self.spec.gold_actions
        return next((i for i in reversed(self.writes) if not self.play([*actions[:i], *actions[i + 1 :]])[0]), None)

    def play(self, actions: Sequence[GoldAction]) -> tuple[bool, list[ToolResult]]:
        """Make calls on a fresh database; return whether the end state passes, and the results."""
        environment = Environment(self.domain, self.spec)
        results = []
        for action in actions:
            results.append(environment.call_tool(action.side, action.tool, dict(action.arguments)))
            environment.sync()
        return self._passes(environment.databases), results

    def _passes(self, databases: Mapping[Side, Overlay]) -> bool:
        """Return whether the signals over the end state that gate the scenario hold; by the hashes where none gates."""
        gating = self.spec.success_signals
        predicates = self.domain.predicates()
        if "db_state_assertion" in gating:
            if not all(evaluate(each, predicates, databases).passed for each in self.spec.db_assertions):
                return False
            if "db_state_match" not in gating:
                return True
        return {side: database.hash for side, database in databases.items()} == dict(self.gold.expected_hashes)


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
