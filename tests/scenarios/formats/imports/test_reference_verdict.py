"""How the reference system's verdicts count here: a judge or a bot that broke down is no failure of the agent."""

from typing import Any

import pytest

from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.records import ForeignVerdict, Remark
from scenarios.formats.imports.reference_verdict import reference_verdict
from tests.scenarios.formats.imports.folders import reference_metrics


def verdict(judge: Any = None, **metrics: Any) -> ForeignVerdict:
    remarks: list[Remark] = []
    fields = [Fields(data, "", remarks) for data in (reference_metrics(**metrics), judge or {}, {})]
    return reference_verdict(*fields)


def failed(*signals: str, **more: Any) -> dict[str, Any]:
    breakdown = {"passed": [], "failed": list(signals), "not_applicable": [], "excluded": []}
    return {"is_successful": False, "success_breakdown": breakdown, **more}


def claims(*reasons: str) -> dict[str, Any]:
    rows = [{"index": 1, "assertion": "a", "passed": not reason, "reason": reason} for reason in reasons]
    return {"score": 0.0, "reason": "weighed", "nl_assertion_verdicts": rows}


def skipped(*signals: str) -> dict[str, Any]:
    return {"success_breakdown": {"passed": ["clean_exit"], "failed": [], "not_applicable": list(signals)}}


@pytest.mark.parametrize(
    ("metrics", "judge", "mapped", "why"),
    [
        ({}, None, "pass", ""),
        (failed("db_state_match"), None, "fail", ""),
        (failed("clean_exit", "nl_assertion"), claims("Judge error: timeout"), "fail", ""),
        (failed("nl_assertion"), claims("he did not"), "fail", ""),
        (failed("nl_assertion"), claims("", "Judge error: timeout"), "judge_error", "the judge itself failed"),
        (failed("nl_assertion"), claims("he did not", "Judge error: timeout"), "fail", ""),
        (failed("nl_assertion"), claims("Missing verdict for assertion"), "judge_error", "the judge itself failed"),
        (failed("judge_passed"), {"reason": "Error: 500"}, "judge_error", "the judge itself failed"),
        (failed("judge_passed"), {"reason": "No judge evidence was provided."}, "judge_error", "itself failed"),
        (failed("judge_passed"), {"reason": "Errors were made by the agent"}, "fail", ""),
        (skipped("nl_assertion"), None, "not_scored", "no judge ruled on nl_assertion"),
        (skipped("db_state_assertion"), None, "pass", ""),
        (failed("db_state_match", insufficient_agent_turns=True), None, "fail", "stalled"),
        (failed("db_state_match", db_state_match=False, db_state_actual_hash=None), None, "excluded", "no hash"),
        (failed("db_state_match", "clean_exit", db_state_match=False, db_state_actual_hash=None), None, "fail", ""),
        ({"is_successful": "N/A"}, None, "not_scored", "neither true nor false"),
        ({"is_successful": None}, None, "not_scored", "no verdict"),
        ({"callboard": {"outcome": "tainted"}}, None, "excluded", "outcome tainted"),
        ({"callboard": {"outcome": "unscored"}}, None, "not_scored", "outcome unscored"),
        ({"callboard": {"outcome": "stalled"}}, None, "fail", "outcome stalled"),
        ({"callboard": {"outcome": "judge_error"}}, None, "judge_error", "outcome judge_error"),
        ({"callboard": {"outcome": "nonsense"}}, None, "pass", ""),
    ],
)
def test_what_a_verdict_counts_as(metrics: Any, judge: Any, mapped: str, why: str) -> None:
    found = verdict(judge, **metrics)

    assert found.mapped == mapped
    assert why in found.why if why else found.why == ""
    assert found.written is not None
    assert found.reward is None


def test_a_database_that_was_never_compared_has_no_verdict() -> None:
    assert verdict().db_match is True
    assert verdict(db_state_match=False).db_match is False
    assert verdict(db_state_match=False, db_state_actual_hash=None).db_match is None
    assert verdict(db_state_match=None).db_match is None
    assert verdict().db_sides == ("agent",)
