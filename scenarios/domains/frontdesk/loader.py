"""The front desk's scenarios, read from ``scenarios.json``."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scenarios.domains.base import CallerBrief, DbAssertion, GoldAction, ScenarioSpec

FOLDER = Path(__file__).parent


def read_scenarios(path: Path = FOLDER / "scenarios.json") -> tuple[ScenarioSpec, ...]:
    """Return the scenarios of the file in its order."""
    return tuple(read_scenario(task) for task in json.loads(path.read_text()))


def read_scenario(task: Mapping[str, Any]) -> ScenarioSpec:
    """Return one scenario; fields that the file leaves out keep the contract's defaults."""
    return ScenarioSpec(
        name=f"frontdesk__{task['task_id']}",
        domain="frontdesk",
        task_id=task["task_id"],
        title=task["title"],
        caller=CallerBrief(**task["caller"]),
        success_signals=tuple(task["success_signals"]),
        gold_actions=tuple(GoldAction(**action) for action in task["gold_actions"]),
        nl_assertions=tuple(task.get("nl_assertions", ())),
        db_assertions=tuple(DbAssertion(side="agent", **entry) for entry in task.get("db_assertions", ())),
        max_duration_s=task.get("max_duration_s", 300),
        tags=tuple(task.get("tags", ())),
    )
