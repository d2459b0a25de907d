"""Runs whose parties are all stand-ins: what the demo and the benchmarks launch."""

from typing import Any

from scenarios import catalogue
from scenarios.domains import load
from scenarios.launch import FrozenProfile, RunConfig, expand
from scenarios.models import Profile


def rehearsal(domain: str, agent: str, names: list[str] | None = None, **fields: Any) -> RunConfig:
    """Return the configuration of a sweep of ``domain`` (or of ``names`` in it) with built-in stand-ins.

    ``agent`` is the slug of a stand-in agent; ``fields`` are other fields of RunConfig.
    """
    chosen = names or [spec.name for spec in catalogue.specs(domain)]
    return RunConfig(
        **{
            "domain": domain,
            "scenarios": expand(domain, chosen),
            "trials": 1,
            "agent": standin("agent", agent),
            "caller": standin("caller", "standin-caller"),
            "judge": standin("judge", "standin-judge"),
            **fields,
        }
    )


def standin(kind: str, slug: str) -> FrozenProfile:
    """Return a built-in stand-in as a run keeps it."""
    return FrozenProfile(**Profile.objects.get(kind=kind, slug=slug, is_standin=True).frozen())


def usable_domain(preferred: str, fallback: str = "frontdesk") -> tuple[str, str]:
    """Return the preferred domain, or the built-in one with the reason why."""
    reason = load()[preferred].missing_data()
    return (fallback, reason) if reason else (preferred, "")
