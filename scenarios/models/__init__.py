"""The tables: one module a subject."""

from scenarios.models.event import TrialEvent
from scenarios.models.imported import Finding, ForeignResult, ImportedFile
from scenarios.models.judge import BatchItem, JudgeBatch, JudgePrompt, JudgeVersion, Judging
from scenarios.models.lane import Lane
from scenarios.models.preflight import Preflight
from scenarios.models.profile import Profile
from scenarios.models.review import (
    EffectiveVerdict,
    FaultRuling,
    Review,
    ReviewDraft,
    ReviewItem,
    ReviewQueue,
    ReviewSlot,
)
from scenarios.models.run import Run
from scenarios.models.scenario import Scenario
from scenarios.models.trial import Trial
from scenarios.models.verdict import SignalResult, Verdict

__all__ = [
    "BatchItem",
    "EffectiveVerdict",
    "FaultRuling",
    "Finding",
    "ForeignResult",
    "ImportedFile",
    "JudgeBatch",
    "JudgePrompt",
    "JudgeVersion",
    "Judging",
    "Lane",
    "Preflight",
    "Profile",
    "Review",
    "ReviewDraft",
    "ReviewItem",
    "ReviewQueue",
    "ReviewSlot",
    "Run",
    "Scenario",
    "SignalResult",
    "Trial",
    "TrialEvent",
    "Verdict",
]
