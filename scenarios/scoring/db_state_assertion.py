"""Database assertions: predicates over the final databases, each with its own verdict."""

from collections.abc import Mapping
from dataclasses import asdict

from scenarios import domains
from scenarios.domains.base import DbAssertion, ScenarioSpec
from scenarios.domains.predicates import Predicate, evaluate
from scenarios.replay import Gold
from scenarios.scoring.config import ScoringConfig
from scenarios.scoring.evidence import Evidence
from scenarios.scoring.results import SignalResult, VerdictResult
from scenarios.sides import Side
from scenarios.state.overlay import Overlay


def score(spec: ScenarioSpec, gold: Gold, evidence: Evidence, config: ScoringConfig) -> SignalResult:
    """Return the signal: passes when every predicate holds; a predicate that raises is a failed verdict.

    Of a side whose database is not known (it keeps it itself) nothing is ruled: undecided, unless another one failed.
    """
    if not spec.db_assertions:
        return SignalResult("db_state_assertion", applicable=False, passed=None, value=None)
    predicates = domains.load()[spec.domain].predicates()
    verdicts = tuple(
        judge(assertion, index, predicates, evidence.databases) for index, assertion in enumerate(spec.db_assertions, 1)
    )
    open_sides = {assertion.side for assertion in spec.db_assertions} & evidence.unread.keys()
    if open_sides:
        return _undecided(spec, verdicts, evidence)
    rate = sum(verdict.passed for verdict in verdicts) / len(verdicts)
    return SignalResult(
        "db_state_assertion",
        applicable=True,
        passed=rate >= 1.0,
        value=rate,
        detail={"passed": sum(verdict.passed for verdict in verdicts), "total": len(verdicts)},
        verdicts=verdicts,
    )


def _undecided(spec: ScenarioSpec, verdicts: tuple[VerdictResult, ...], evidence: Evidence) -> SignalResult:
    """Return the signal where only the predicates over known databases have a verdict."""
    ruled = tuple(
        verdict
        for verdict, assertion in zip(verdicts, spec.db_assertions, strict=True)
        if assertion.side not in evidence.unread
    )
    failed = [verdict for verdict in ruled if not verdict.passed]
    return SignalResult(
        "db_state_assertion",
        applicable=True,
        passed=False if failed else None,
        value=(len(ruled) - len(failed)) / len(ruled) if failed else None,
        detail={
            "passed": len(ruled) - len(failed),
            "total": len(ruled),
            "not_ruled": len(verdicts) - len(ruled),
            "no_state": "; ".join(evidence.unread.values()),
        },
        verdicts=ruled,
        undecided=None if failed else "no_state",
    )


def judge(
    assertion: DbAssertion, index: int, predicates: Mapping[str, Predicate], databases: Mapping[Side, Overlay]
) -> VerdictResult:
    """Return the verdict on one predicate; never raises, so that the others still run."""
    found = evaluate(assertion, predicates, databases)
    return VerdictResult(
        signal="db_state_assertion",
        index=index,
        claim=_claim(assertion),
        passed=found.passed,
        reason=found.error or f"{found.func_name} gave {found.actual!r}, expected {found.expected!r}",
        # A predicate that cannot answer has failed by the reference's rule, so it counts; ``detail`` says why.
        detail={name: value for name, value in asdict(found).items() if name != "passed"},
    )


def _claim(assertion: DbAssertion) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in assertion.arguments.items())
    return f"{assertion.func_name}({arguments}) is {assertion.assert_value!r}"
