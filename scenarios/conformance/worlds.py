"""From the ``seed`` of a vector to the environment it is run in."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from scenarios import domains
from scenarios.domains.base import Domain, InitAction, ScenarioSpec, ToolResult
from scenarios.domains.environment import Environment


class NotBuilt(Exception):
    """The domain of a vector is not there, or not its data."""


def domain_named(name: str) -> Domain:
    """Return a usable domain or raise NotBuilt."""
    domain = domains.load().get(name)
    if domain is None:
        raise NotBuilt(f"domain {name} is not built")
    if missing := domain.missing_data():
        raise NotBuilt(f"domain {name} has no data: {missing}")
    return domain


def scenario_named(domain: Domain, name: str) -> ScenarioSpec:
    """Return a scenario by its name, its name without the domain, or its task id."""
    for spec in domain.scenarios():
        if name in (spec.name, spec.name.removeprefix(f"{domain.name}__"), spec.task_id):
            return spec
    raise NotBuilt(f"domain {domain.name} has no scenario {name}")


def environment(seed: str, today: str | None) -> Environment:
    """Return a fresh environment: ``<domain>:db`` is the untouched database, else the scenario's own start."""
    name, _, rest = seed.partition(":")
    domain = domain_named(name)
    spec = replace(domain.scenarios()[0], init_actions=()) if rest == "db" else scenario_named(domain, rest)
    return Environment(domain, spec, "reference", now=today)


def take(world: Environment, steps: Sequence[Mapping[str, Any]]) -> None:
    """Make the earlier calls of a vector, one sync after each, whether it succeeded or not."""
    for step in steps:
        name = step.get("tool") or step["name"]
        side = step.get("side", "agent")
        if step.get("kind") == "init":
            world.initialize(InitAction(name, step["args"], side))
        else:
            world.call_tool(side, name, step["args"])
        world.sync()


def hashes(world: Environment) -> dict[str, str]:
    """Return the canonical hash of each side's database."""
    return {side: database.hash for side, database in world.databases.items()}


def failure_kind(result: ToolResult) -> str | None:
    """Return the short failure kind of a call, None when it succeeded."""
    return None if result.ok else result.error
