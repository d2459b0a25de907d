from dataclasses import replace
from typing import Any

import pytest

from scenarios.formats.reference_metrics import judge_file, metrics
from scenarios.formats.reference_records import SignalRecord, TrialExport, VerdictRecord
from scenarios.formats.reference_summary import Summary
from tests.scenarios.formats.records import HAPPENED, SIGNALS, claim, ended, judged, judging, trial


def lines(*trials: TrialExport) -> dict[str, str]:
    """Return the summary's lines by their titles."""
    summary = Summary()
    for item in trials:
        summary.add(metrics(item), judge_file(item))
    pairs = [line.split(": ", 1) for line in summary.text("Run 1").splitlines() if ": " in line]
    return {title.strip(): value for title, value in pairs}


WRONG = (
    SIGNALS[0],
    SignalRecord("db_state_match", "failed", False, {"expected_hash": "a", "actual_hash": "b"}),
    *SIGNALS[2:],
)


def test_stalled_trials_fail_the_composite_and_leave_the_signals() -> None:
    found = lines(trial(), trial(signals=WRONG, outcome="fail"), trial(signals=WRONG, outcome="stalled"))
    assert found["Overall success"] == "33.3% (1/3)"
    assert found["DB-state match"] == "50.0% (1/2)"
    assert found["Clean exit"] == "100.0% (2/2)"
    assert found["Tokens agent"] == "calls 3, prompt 300, completion 21, total 321"


def test_calls_without_a_composite_are_in_no_rate_but_counted() -> None:
    found = lines(trial(), trial(outcome="infra_error", signals=()), trial(outcome="tainted"))
    assert found["Trials"] == "3"
    assert found["Overall success"] == "100.0% (1/1)"
    assert found["Clean exit"] == "100.0% (1/1)"
    assert found["Left out"] == "infra_error 1, tainted 1"


def test_a_timeout_fails_overall_and_not_the_task() -> None:
    found = lines(trial(happened=ended("time_limit"), outcome="fail"))
    assert (found["Overall success"], found["Task success excluding clean_exit"]) == ("0.0% (0/1)", "100.0% (1/1)")


def test_claims_are_counted_one_by_one_and_scores_averaged() -> None:
    first = judged(claim(1, True), claim(2, True), claim(3, False), judging=judging(score=0.4), outcome="fail")
    second = judged(claim(1, True), judging=judging(score=1.0))
    found = lines(first, second, trial())
    assert found["NL-assertion pass (assertions)"] == "75.0% (3/4)"
    assert found["Judge score mean"] == "0.700 (over 2)"
    assert found["Judge passed"] == "50.0% (1/2)"


def test_predicates_are_counted_one_by_one() -> None:
    verdicts = tuple(VerdictRecord("db_state_assertion", i, "p", i < 3, "", "", {}) for i in (1, 2, 3))
    assert lines(trial(verdicts=verdicts))["DB-state-assertion pass (predicates)"] == "66.7% (2/3)"


def test_two_figures_stand_beside_each_other_where_the_judge_failed() -> None:
    broken = judged(
        claim(1, False, "timeout"), outcome="judge_error", judging=judging(score=None, error="timeout", reply="")
    )
    found = lines(trial(), broken)
    assert found["Overall success"] == "50.0% (1/2)"
    assert found["Pass rate"] == "100.0% (1/1)"
    assert found["Left out"] == "judge_error 1"


def test_latencies_of_all_calls_are_pooled() -> None:
    assert lines(trial(), trial())["Latency ms"].startswith("count 4, mean 350.0, p50 410.0")
    assert lines(trial(happened=HAPPENED[:1], outcome="infra_error"))["Latency ms"].startswith("count 0, mean -1.0")


def test_passes_by_inaction_are_counted() -> None:
    assert lines(replace(trial(), by_inaction=True), trial())["Passed by inaction"] == "1"


@pytest.mark.parametrize(("trials", "shown"), [((), "- (0/0)"), ((trial(outcome="cancelled"),), "- (0/0)")])
def test_a_rate_over_nothing_is_a_dash(trials: Any, shown: str) -> None:
    found = lines(*trials)
    assert found["Overall success"] == found["Pass rate"] == found["Action-list match"] == shown


def test_one_domain_is_not_listed_apart() -> None:
    summary = Summary()
    summary.add(metrics(trial()), None)
    assert "By domain" not in summary.text("Run 1")


def test_several_prefixes_are_listed_apart_with_the_references_five_rates() -> None:
    """reference-system.md 6.5: a run of telecom holds the same tasks under two policies."""
    claims = judged(claim(1, True), claim(2, False), judging=judging(score=0.4), outcome="fail")
    late = trial(scenario="toy_workflow__2", happened=ended("time_limit"), outcome="fail")
    found = lines(claims, trial(), late, trial(scenario="toy_workflow__3", signals=WRONG, outcome="stalled"))
    first, second = found["toy"], found["toy_workflow"]
    assert first == (
        "success 50.0% (1/2), task 50.0% (1/2), DB state 100.0% (2/2), NL assertions 50.0% (1/2), DB assertions - (0/0)"
    )
    assert second == (
        "success 0.0% (0/2), task 50.0% (1/2), DB state 100.0% (1/1), NL assertions - (0/0), DB assertions - (0/0)"
    )
