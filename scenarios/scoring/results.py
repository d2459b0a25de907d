"""The shapes that scoring gives back: signals, verdicts, the decision on a trial."""

from dataclasses import dataclass, field
from typing import Any, Literal

from scenarios.domains.base import Signal

Outcome = Literal[
    "pass", "fail", "stalled", "judge_error", "infra_error", "unscored", "tainted", "cancelled", "over_budget"
]
OUTCOMES: tuple[Outcome, ...] = (
    "pass",
    "fail",
    "stalled",
    "judge_error",
    "infra_error",
    "unscored",
    "tainted",
    "cancelled",
    "over_budget",
)
# The outcomes that a pass rate counts: pass / (pass + fail + stalled).
RATED: frozenset[Outcome] = frozenset({"pass", "fail", "stalled"})
# Trials that may be held again. A stalled call is rated, yet nothing was tried in it (the reference resumes it too).
REPEATABLE: frozenset[Outcome] = frozenset(OUTCOMES) - {"pass", "fail"}
# What a verdict is about: a claim or predicate of a signal, or what upstream demands beside the signals.
Subject = Signal | Literal["communicate", "action"]
# passed, failed, not_applicable: whitelisted signals; excluded: not whitelisted but has a value;
# undecided: whitelisted and applicable, but a judge is missing or failed.
SignalState = Literal["passed", "failed", "not_applicable", "excluded", "undecided"]


@dataclass(frozen=True)
class Quote:
    """Evidence that a judge quoted: checked against the record; ``seq`` is the event it was found in."""

    text: str
    turn: int | None = None
    seq: int | None = None
    found: bool = False


@dataclass(frozen=True)
class VerdictResult:
    """The ruling on one assertion or predicate; ``index`` counts from 1 in the scenario's order."""

    signal: Subject
    index: int
    claim: str
    passed: bool
    reason: str
    evidence: tuple[Quote, ...] = ()
    # Short kind when there is no ruling ("missing", "outage", "unparseable", "predicate_raised"...).
    error: str | None = None
    # Of a predicate: func_name, side, expected, actual, message.
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SignalResult:
    """One signal's value. ``passed`` None: it could not be decided; ``applicable`` False: nothing to decide."""

    signal: Signal
    applicable: bool
    passed: bool | None
    value: bool | float | None
    detail: dict[str, Any] = field(default_factory=dict)
    verdicts: tuple[VerdictResult, ...] = ()
    # Why an applicable signal is undecided; "no_state": a side kept its database, and it is not known.
    undecided: Literal["no_judge", "judge_error", "no_state"] | None = None


@dataclass(frozen=True)
class Decision:
    """The outcome of a trial and how it came about; field names as in the reference's metrics.json."""

    outcome: Outcome
    reason: str
    success_breakdown: dict[str, list[str]]  # passed, failed, not_applicable, excluded, undecided
    is_successful: bool | None
    is_task_successful: bool | None
    by_inaction: bool
    insufficient_agent_turns: bool
    # The outcome by the other strictness than the run's; None: the same.
    other_outcome: Outcome | None = None
    # Rulings on what upstream demands beside the signals; they gate under strictness "upstream" only.
    upstream_checks: tuple[VerdictResult, ...] = ()
