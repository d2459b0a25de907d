"""The tables: one module a subject."""

from scenarios.models.event import TrialEvent
from scenarios.models.judge import JudgeVersion, Judging
from scenarios.models.lane import Lane
from scenarios.models.preflight import Preflight
from scenarios.models.profile import Profile
from scenarios.models.run import Run
from scenarios.models.scenario import Scenario
from scenarios.models.trial import Trial
from scenarios.models.verdict import SignalResult, Verdict

__all__ = [
    "JudgeVersion",
    "Judging",
    "Lane",
    "Preflight",
    "Profile",
    "Run",
    "Scenario",
    "SignalResult",
    "Trial",
    "TrialEvent",
    "Verdict",
]
