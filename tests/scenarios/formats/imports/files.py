"""Small foreign files, as the tests need them, and the real ones where they are."""

import gzip
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scenarios.formats.imports.detect import open_import
from scenarios.formats.imports.records import ImportedRun, ImportedTrial
from tests.conftest import ROOT, absent

TRAJECTORIES = Path(os.environ.get("TRAJECTORIES_DIR", ROOT.parent / "shared" / "trajectories"))


def real(name: str = "") -> Path:
    """Return a real file; without it the test is skipped, in CI it fails."""
    path = TRAJECTORIES / name
    if not path.exists():
        absent(f"no stored trajectories at {path}", "set TRAJECTORIES_DIR")
    return path


def write(folder: Path, data: Any, name: str = "results.json") -> Path:
    """Write JSON, packed if the name says so."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = data if isinstance(data, bytes) else json.dumps(data).encode()
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return path


def call(tool: str, arguments: Any, call_id: str = "c1", **more: Any) -> dict[str, Any]:
    """Return a message of the agent with one tool call."""
    one = {"id": call_id, "name": tool, "arguments": arguments, "requestor": "assistant", **more}
    return {"role": "assistant", "content": None, "tool_calls": [one]}


def answer(content: str, call_id: str = "c1", **more: Any) -> dict[str, Any]:
    """Return a tool's answer."""
    return {"role": "tool", "id": call_id, "content": content, "error": False, **more}


def simulation(**fields: Any) -> dict[str, Any]:
    """Return a tau2 simulation that passed."""
    base = {
        "id": "s1",
        "task_id": "0",
        "trial": 0,
        "seed": 7,
        "termination_reason": "user_stop",
        "start_time": "2025-08-01T16:00:00.000000",
        "duration": 12.5,
        "reward_info": {"reward": 1.0, "db_check": {"db_match": True, "db_reward": 1.0}, "reward_basis": ["DB"]},
        "messages": [
            {"role": "assistant", "content": "Hi!", "timestamp": "2025-08-01T16:00:01.500000"},
            {"role": "user", "content": "Hello ###STOP###"},
        ],
    }
    return {**base, **fields}


def task(task_id: str = "0", actions: Any = (), **fields: Any) -> dict[str, Any]:
    """Return a tau2 task."""
    criteria = {"actions": list(actions), "communicate_info": [], "reward_basis": ["DB"]}
    base = {"id": task_id, "user_scenario": {"instructions": "Call."}, "evaluation_criteria": criteria}
    return {**base, **fields}


def action(tool: str, arguments: Mapping[str, Any], action_id: str = "0_0", **more: Any) -> dict[str, Any]:
    """Return an expected action."""
    return {"action_id": action_id, "requestor": "assistant", "name": tool, "arguments": dict(arguments), **more}


def results(simulations: Any, tasks: Any = None, domain: str | None = "retail", **info: Any) -> dict[str, Any]:
    """Return the content of a single results file."""
    parties = {
        "agent_info": {"implementation": "llm_agent", "llm": "model-a", "llm_args": {"temperature": 0.0}},
        "user_info": {"implementation": "user_simulator", "llm": "model-b", "llm_args": None},
    }
    environment = {"domain_name": domain, "policy": "Be kind.", "tool_defs": None}
    return {
        "timestamp": "2025-08-01T16:00:00",
        "info": {"git_commit": "abc", "num_trials": 1, "environment_info": environment, **parties, **info},
        "tasks": [task()] if tasks is None else tasks,
        "simulations": simulations,
    }


def imported(folder: Path, data: Any, name: str = "results.json") -> tuple[ImportedRun, list[ImportedTrial]]:
    """Write a file, and read it."""
    run = open_import(write(folder, data, name))
    return run, list(run.trials())
