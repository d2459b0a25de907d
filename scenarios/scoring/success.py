"""From signals to the outcome of a trial (DESIGN 7), and the one entry that scores a call."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from scenarios.domains.base import ScenarioSpec, Signal
from scenarios.replay import Gold
from scenarios.scoring import (
    action_match,
    clean_exit,
    db_state_assertion,
    db_state_match,
    judge_passed,
    nl_assertion,
    upstream,
)
from scenarios.scoring.config import ScoringConfig
from scenarios.scoring.evidence import Evidence
from scenarios.scoring.judge_reply import JudgeReply
from scenarios.scoring.results import Decision, Outcome, SignalResult, SignalState, VerdictResult

Scorer = Callable[[ScenarioSpec, Gold, Evidence, ScoringConfig], SignalResult]
SCORERS: tuple[Scorer, ...] = (
    action_match.score,
    db_state_match.score,
    db_state_assertion.score,
    clean_exit.score,
)
# What a trial's row holds of the reason; results and events have the whole story.
MAX_REASON = 300
_ENDINGS = {
    "hang_up": "a person hung up",
    "time_limit": "the time limit was reached",
    "turn_limit": "the turn limit was reached",
    "silence": "there was silence",
    "loop": "both sides said the same again and again",
}
_FAILURES: dict[Signal, str] = {
    "is_action_match": "the recorded actions are not the expected ones",
    "db_state_match": "the final database is not the expected one",
    "db_state_assertion": "{failed} of {total} database assertions do not hold",
    "nl_assertion": "{failed} of {total} claims failed",
    "judge_passed": "the judge's score {score} is below {threshold}",
    "clean_exit": "the agent did not end the call: {ending}",
}


class Scored(NamedTuple):
    """All six signals of a trial and the decision."""

    results: tuple[SignalResult, ...]
    decision: Decision


def score_trial(
    spec: ScenarioSpec, gold: Gold, evidence: Evidence, config: ScoringConfig, reply: JudgeReply | None
) -> Scored:
    """Score one call. ``reply`` None: no judge was asked, because the run has none or the scenario needs none."""
    results = (
        *(scorer(spec, gold, evidence, config) for scorer in SCORERS),
        nl_assertion.score(spec, evidence, reply),
        judge_passed.score(spec, reply),
    )
    checks = upstream.checks(spec, evidence)

    def decided(demands: Sequence[VerdictResult]) -> Decision:
        return decide(spec, results, evidence, gold, min_agent_turns=config.min_agent_turns, demands=demands)

    reference, strict = decided(()), decided(checks)
    one, other = (strict, reference) if config.strictness == "upstream" else (reference, strict)
    return Scored(results, replace(one, other_outcome=other.outcome, upstream_checks=checks))


def decide(
    spec: ScenarioSpec,
    results: Sequence[SignalResult],
    evidence: Evidence,
    gold: Gold,
    *,
    min_agent_turns: int = 3,
    demands: Sequence[VerdictResult] = (),
) -> Decision:
    """Return the outcome: what kept the call from being scored, else what failed, else what is undecided, else pass.

    ``demands`` are rulings that gate beside the signals (``scenarios.scoring.upstream``).
    """
    unknown = set(spec.success_signals) - {result.signal for result in results}
    if unknown:
        raise ValueError(f"{spec.name} is gated by signals that were not scored: {', '.join(sorted(unknown))}")
    gating = [result for result in results if result.signal in spec.success_signals]
    is_stalled = bool(min_agent_turns) and evidence.agent_turns < min_agent_turns
    outcome, reason = (
        _not_rated(evidence)
        or _stalled(evidence, min_agent_turns, is_stalled)
        or _failed(gating, evidence, demands)
        or _undecided(gating)
        or _nothing_asserted(spec, gating, demands)
        or ("pass", "every gating signal passed")
    )
    # Undecided signals stay undecided: the reference's own figure, which calls them failed, is made at export.
    failed = any(result.passed is False for result in gating if result.signal != "clean_exit")
    task_failed = is_stalled or failed or not all(demand.passed for demand in demands)
    return Decision(
        outcome=outcome,
        reason=reason if len(reason) <= MAX_REASON else reason[: MAX_REASON - 1] + "\u2026",
        success_breakdown=breakdown(spec, results),
        is_successful={"pass": True, "fail": False, "stalled": False}.get(outcome),
        is_task_successful=False if task_failed else None if _undecided(gating) else True,
        by_inaction=outcome == "pass" and gold.health.passes_by_inaction and not _acted(evidence),
        insufficient_agent_turns=is_stalled,
    )


def asserts_nothing(spec: ScenarioSpec, gold: Gold) -> bool:
    """Return whether no gating signal of a scenario can have anything to decide, so that no call of it is scored."""
    decides: dict[Signal, bool] = {
        "is_action_match": bool(gold.reference_actions),
        "db_state_match": "agent" in gold.expected_hashes,
        "db_state_assertion": bool(spec.db_assertions),
        "nl_assertion": bool(spec.nl_assertions),
        "judge_passed": True,
        "clean_exit": set(spec.success_signals) == {"clean_exit"},
    }
    return not any(decides[signal] for signal in spec.success_signals)


def state_of(spec: ScenarioSpec, result: SignalResult) -> SignalState:
    """Return which bucket of the breakdown a signal belongs to."""
    if result.signal not in spec.success_signals:
        return "excluded" if result.passed is not None else "not_applicable"
    if not result.applicable:
        return "not_applicable"
    if result.passed is None:
        return "undecided"
    return "passed" if result.passed else "failed"


def breakdown(spec: ScenarioSpec, results: Sequence[SignalResult]) -> dict[str, list[str]]:
    """Return ``success_breakdown``: the whitelisted signals by state, and others that have a value as excluded."""
    buckets: dict[str, list[str]] = {
        "passed": [],
        "failed": [],
        "not_applicable": [],
        "excluded": [],
        "undecided": [],
    }
    for result in results:
        state = state_of(spec, result)
        if state != "not_applicable" or result.signal in spec.success_signals:
            buckets[state].append(result.signal)
    return buckets


_Ruling = tuple[Outcome, str]


def _not_rated(evidence: Evidence) -> _Ruling | None:
    if evidence.intervened_by is not None:
        return "tainted", f"{evidence.intervened_by} intervened in the call"
    if evidence.end_reason == "cancelled":
        return "cancelled", "the call was cancelled"
    if evidence.end_reason == "over_budget":
        return "over_budget", "the run's budget was used up"
    if evidence.infra_error is not None:
        kind, message = evidence.infra_error
        return "infra_error", f"{kind}: {message}"
    if evidence.end_reason == "site_stopping":
        return "infra_error", "site_stopping: the site stopped during the call"
    if evidence.end_reason is None:
        return "infra_error", "no_end: the record has no end of the call"
    return None


def _stalled(evidence: Evidence, minimum: int, is_stalled: bool) -> _Ruling | None:
    if not is_stalled:
        return None
    turns = "1 turn" if evidence.agent_turns == 1 else f"{evidence.agent_turns} turns"
    return "stalled", f"the agent had {turns}, fewer than the {minimum} that a scored call needs"


def _failed(gating: Sequence[SignalResult], evidence: Evidence, demands: Sequence[VerdictResult]) -> _Ruling | None:
    reasons = [_why_failed(result, evidence) for result in gating if result.passed is False]
    reasons += [f"upstream also demands: {demand.claim} ({demand.reason})" for demand in demands if not demand.passed]
    return ("fail", "; ".join(reasons)) if reasons else None


def _why_failed(result: SignalResult, evidence: Evidence) -> str:
    values = dict(result.detail) | {"ending": _ending(evidence)}
    if "failed" not in values and "total" in values:
        values["failed"] = values["total"] - values["passed"]
    return _FAILURES[result.signal].format(**values)


def _ending(evidence: Evidence) -> str:
    ending = _ENDINGS.get(evidence.end_reason or "", str(evidence.end_reason))
    return f"{ending} ({evidence.end_message})" if evidence.end_message else ending


def _undecided(gating: Sequence[SignalResult]) -> _Ruling | None:
    open_ones = [result for result in gating if result.applicable and result.passed is None]
    names = ", ".join(result.signal for result in open_ones)
    if reasons := {str(result.detail.get("no_state")) for result in open_ones if result.undecided == "no_state"}:
        return "infra_error", f"state_unknown: {names} is undecided: {'; '.join(sorted(reasons))}"
    if any(result.undecided == "judge_error" for result in open_ones):
        messages = {str(result.detail.get("judge_message") or "a claim has no ruling") for result in open_ones}
        return "judge_error", f"the judge failed, so {names} is undecided: {'; '.join(sorted(messages))}"
    return ("unscored", f"{names} needs a judge and the run has none") if open_ones else None


def _nothing_asserted(
    spec: ScenarioSpec, gating: Sequence[SignalResult], demands: Sequence[VerdictResult]
) -> _Ruling | None:
    if demands:
        return None
    decided = {result.signal for result in gating if result.passed is not None}
    # A whitelist of clean_exit alone is its author's choice; one whose other signals have nothing to decide is a gap.
    if decided - {"clean_exit"} or (decided and set(spec.success_signals) == {"clean_exit"}):
        return None
    return "unscored", "nothing is asserted: no gating signal of this scenario has anything to decide"


def _acted(evidence: Evidence) -> bool:
    """Return whether the agent called any tool but the one that ended the conversation."""
    return any(
        use.side == "agent" and not (use.ends_call and evidence.end_reason == "end_tool") for use in evidence.tools
    )
