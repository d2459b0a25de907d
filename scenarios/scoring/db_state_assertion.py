"""Database assertions: predicates over the final databases, each with its own verdict."""

from collections.abc import Mapping
from typing import Any

from scenarios import domains
from scenarios.domains.base import DbAssertion, Predicate, ScenarioSpec
from scenarios.replay import Gold
from scenarios.scoring.config import ScoringConfig
from scenarios.scoring.evidence import Evidence
from scenarios.scoring.results import SignalResult, VerdictResult
from scenarios.sides import Side
from scenarios.state.overlay import Overlay


def score(spec: ScenarioSpec, gold: Gold, evidence: Evidence, config: ScoringConfig) -> SignalResult:
    """Return the signal: passes when every predicate holds; a predicate that raises is a failed verdict."""
    if not spec.db_assertions:
        return SignalResult("db_state_assertion", applicable=False, passed=None, value=None)
    predicates = domains.load()[spec.domain].predicates()
    verdicts = tuple(
        judge(assertion, index, predicates, evidence.databases) for index, assertion in enumerate(spec.db_assertions, 1)
    )
    rate = sum(verdict.passed for verdict in verdicts) / len(verdicts)
    return SignalResult(
        "db_state_assertion",
        applicable=True,
        passed=rate >= 1.0,
        value=rate,
        detail={"passed": sum(verdict.passed for verdict in verdicts), "total": len(verdicts)},
        verdicts=verdicts,
    )


def judge(
    assertion: DbAssertion, index: int, predicates: Mapping[str, Predicate], databases: Mapping[Side, Overlay]
) -> VerdictResult:
    """Return the verdict on one predicate; never raises, so that the others still run."""
    actual, error = None, None
    if assertion.func_name not in predicates:
        error = f"unknown predicate {assertion.func_name!r}; known are {', '.join(sorted(predicates)) or 'none'}"
    elif assertion.side not in databases:
        error = f"the {assertion.side} side has no database"
    else:
        try:
            actual = predicates[assertion.func_name](databases[assertion.side], **assertion.arguments)
        except Exception as problem:  # a predicate is domain code and may fail in any way
            error = f"{type(problem).__name__}: {problem}"
    passed = error is None and actual == assertion.assert_value
    return VerdictResult(
        signal="db_state_assertion",
        index=index,
        claim=_claim(assertion),
        passed=passed,
        reason=error or f"{assertion.func_name} gave {actual!r}, expected {assertion.assert_value!r}",
        # A predicate that cannot answer has failed by the reference's rule, so it counts; ``detail`` says why.
        detail=_detail(assertion, actual, error),
    )


def _claim(assertion: DbAssertion) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in assertion.arguments.items())
    return f"{assertion.func_name}({arguments}) is {assertion.assert_value!r}"


def _detail(assertion: DbAssertion, actual: Any, error: str | None) -> dict[str, Any]:
    return {
        "func_name": assertion.func_name,
        "side": assertion.side,
        "expected": assertion.assert_value,
        "actual": actual,
        "message": assertion.message,
        "error": error,
    }
