"""The configuration that an imported run is kept with: what its file says, None where it says nothing."""

import hashlib
import json
import re
from typing import Any

from scenarios.formats.imports.records import ImportedParty, ImportedRun
from scenarios.storable import storable

UNKNOWN = "unknown"
_NO_SLUG = re.compile(r"[^A-Za-z0-9._-]+")


def config_of(run: ImportedRun, domain: str, scenarios: dict[str, str], trials: int) -> dict[str, Any]:
    """Return ``Run.config``; ``scenarios`` are fingerprints by name, of the file's own task definitions."""
    return storable(  # type: ignore[no-any-return]
        {
            "domain": domain,
            "scenarios": [{"name": name, "fingerprint": fingerprint} for name, fingerprint in scenarios.items()],
            "trials": max(1, trials),
            "agent": _profile(run.agent, "agent"),
            "caller": _profile(run.user, "caller"),
            "judge": None,
            "channel": "voice" if run.facts.get("audio_native_config") else "text",
            "fidelity": "canonical",
            "limits": {"max_steps": run.max_steps, "max_errors": run.max_errors},
            "pace_s": 0,
            "min_agent_turns": 0,
            "strict_match": False,
            "strictness": "upstream",
            "persona": False,
            "versions": {},
            "imported": {
                "format": run.format,
                "version": run.version,
                "domain": run.domain_name,
                "timestamp": run.timestamp,
                "git_commit": run.git_commit,
                "num_trials": run.num_trials,
                "seed": run.seed,
                "facts": {name: value for name, value in run.facts.items() if name != "tool_defs"},
            },
        }
    )


def fingerprint_of(config: dict[str, Any]) -> str:
    """Return the SHA-256 of a configuration."""
    return hashlib.sha256(json.dumps(config, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def slug(text: str | None, longest: int = 64) -> str:
    """Return a name that fits addresses and columns; "unknown" for nothing."""
    return _NO_SLUG.sub("-", text or "").strip("-.")[:longest] or UNKNOWN


def _profile(party: ImportedParty, kind: str) -> dict[str, Any]:
    return {
        "slug": slug(party.model or party.implementation),
        "kind": kind,
        "model": party.model or "",
        "implementation": party.implementation,
        "base_url": "",
        "key_env": "",
        "parameters": dict(party.settings),
        "address": "",
        "tools_run": "ours",
        "prompt_price": None,
        "completion_price": None,
        "is_standin": False,
    }
