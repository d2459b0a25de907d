"""Judge score: does the judge's mark for the whole call reach the scenario's threshold?"""

from typing import Any

from scenarios.domains.base import ScenarioSpec
from scenarios.scoring.judge_reply import JudgeReply
from scenarios.scoring.results import SignalResult


def score(spec: ScenarioSpec, reply: JudgeReply | None) -> SignalResult:
    """Return the signal; a score equal to the threshold passes. ``reply`` None: the run has no judge.

    Outside the whitelist the score is information, so a missing one is then not applicable rather than undecided.
    """
    is_gating = "judge_passed" in spec.success_signals
    if reply is not None and reply.score is not None:
        passed = reply.score >= spec.judge_threshold
        detail: dict[str, Any] = {"threshold": spec.judge_threshold, "score": reply.score, "reason": reply.reason}
        return SignalResult("judge_passed", applicable=True, passed=passed, value=passed, detail=detail)
    detail = {"threshold": spec.judge_threshold, "score": None}
    if reply is not None:
        detail |= {"judge_error": reply.error, "judge_message": reply.message}
    return SignalResult(
        "judge_passed",
        applicable=is_gating,
        passed=None,
        value=None,
        detail=detail,
        undecided=None if not is_gating else "no_judge" if reply is None else "judge_error",
    )
