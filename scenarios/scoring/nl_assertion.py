"""Natural-language assertions: claims that the judge has ruled on."""

from scenarios.domains.base import ScenarioSpec
from scenarios.scoring.evidence import Evidence
from scenarios.scoring.judge_reply import JudgeReply
from scenarios.scoring.judge_request import suspicious_turns
from scenarios.scoring.results import SignalResult


def score(spec: ScenarioSpec, evidence: Evidence, reply: JudgeReply | None) -> SignalResult:
    """Return the signal: one decided failure fails it; otherwise a claim without a ruling leaves it undecided.

    ``reply`` None: the run has no judge. A scenario without claims has nothing to decide, which is never a pass.
    """
    if not spec.nl_assertions:
        return SignalResult("nl_assertion", applicable=False, passed=None, value=None)
    if reply is None:
        detail = {"why": "the run has no judge", "total": len(spec.nl_assertions)}
        return SignalResult("nl_assertion", True, None, None, detail=detail, undecided="no_judge")
    verdicts = reply.verdicts
    ruled = [verdict for verdict in verdicts if verdict.error is None]
    # One row a claim is the parser's promise; a reply that breaks it decides nothing.
    complete = len(verdicts) == len(spec.nl_assertions) and len(ruled) == len(verdicts)
    failed = any(not verdict.passed for verdict in ruled)
    passed = False if failed else (True if complete else None)
    detail = {
        "passed": sum(verdict.passed for verdict in ruled),
        "failed": sum(not verdict.passed for verdict in ruled),
        "without_ruling": len(spec.nl_assertions) - len(ruled),
        "total": len(spec.nl_assertions),
        "judge_error": reply.error,
        "judge_message": reply.message,
        "suspicious_turns": suspicious_turns(evidence),
    }
    return SignalResult(
        "nl_assertion",
        applicable=True,
        passed=passed,
        value=sum(verdict.passed for verdict in ruled) / len(verdicts) if complete else None,
        detail=detail,
        verdicts=verdicts,
        undecided="judge_error" if passed is None else None,
    )
