"""The run of a tau2 file: ``info`` (``spec/trajectories.md`` 3.2)."""

from typing import Any

from scenarios.formats.reference_records import RunExport, redacted

_STEPS = 100


def info(run: RunExport, domain: str, policy: str) -> dict[str, Any]:
    """Return the run; for one that came from another tool as far as its file told."""
    limits, told = run.config.get("limits") or {}, run.config.get("imported") or {}
    steps = limits.get("max_turns") or limits.get("max_steps") or _STEPS
    return {
        "git_commit": told.get("git_commit") or (run.config.get("versions") or {}).get("git") or "unknown",
        "num_trials": told.get("num_trials") or run.config.get("trials") or 1,
        "max_steps": steps,
        # Calls held here have no limit on failed tool calls: none but that on turns.
        "max_errors": limits.get("max_errors") or steps,
        "user_info": {**_party(run, "caller"), "global_simulation_guidelines": _guidelines(run)},
        "agent_info": _party(run, "agent"),
        "environment_info": {"domain_name": domain, "policy": policy, "tool_defs": None},
        "seed": told.get("seed"),
    }


def _party(run: RunExport, role: str) -> dict[str, Any]:
    party = run.party(role)
    kind = (
        " (stand-in: a rehearsal)" if party.get("is_standin") else " (external party)" if party.get("address") else ""
    )
    parameters = party.get("parameters") or {}
    return {
        "implementation": party.get("implementation") or f"callboard {party.get('slug') or 'unknown'}{kind}",
        "llm": party.get("model") or None,
        "llm_args": redacted(parameters.get("llm_args", parameters) if run.imported_from else parameters),
    }


def _guidelines(run: RunExport) -> str | None:
    found = (run.party("caller").get("parameters") or {}).get("global_simulation_guidelines")
    return found if isinstance(found, str) else None
