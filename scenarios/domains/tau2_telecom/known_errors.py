"""What is known to be odd about telecom tasks, for their pages.

Sources: the benchmark's issues (field-reports.md, part B) and a replay of every task (reference-system.md 5 and 9).
"""

from collections.abc import Mapping
from typing import Any

from scenarios.domains.known_errors import KnownError

_TRANSFER = KnownError(
    "Upstream also demands the transfer to a person, which the reference drops: its predicates hold before the call "
    "starts, so doing nothing passes.",
    "too_easy",
    upstream="none",
)
_REFUEL_HINT = KnownError(
    "The caller's instructions give away that data can be refuelled (upstream issues 236, 237).", "too_easy"
)


def known_errors(task: Mapping[str, Any]) -> list[KnownError]:
    """Return the notes on one task of the task file."""
    notes = []
    if "ACTION" in task["evaluation_criteria"]["reward_basis"]:
        notes.append(_TRANSFER)
    if task["id"].startswith("[mms_issue]") and "refuel" in task["user_scenario"]["instructions"]["task_instructions"]:
        notes.append(_REFUEL_HINT)
    return notes
