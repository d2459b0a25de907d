"""Clean exit: did the agent end the call itself, by its end tool or by a transfer?"""

from typing import Any

from scenarios.domains.base import ScenarioSpec
from scenarios.events import CLEAN_ENDS
from scenarios.replay import Gold
from scenarios.scoring.config import ScoringConfig
from scenarios.scoring.evidence import Evidence
from scenarios.scoring.results import SignalResult


def score(spec: ScenarioSpec, gold: Gold, evidence: Evidence, config: ScoringConfig) -> SignalResult:
    """Return the signal; always applicable."""
    passed = evidence.end_reason in CLEAN_ENDS
    detail: dict[str, Any] = {"end_reason": evidence.end_reason}
    if evidence.end_message:
        detail["end_message"] = evidence.end_message
    if evidence.goodbye_turn is not None:
        detail["goodbye_turn"] = evidence.goodbye_turn
    return SignalResult("clean_exit", applicable=True, passed=passed, value=passed, detail=detail)
