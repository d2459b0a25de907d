import json

import pytest

from scenarios import events
from scenarios.formats.reference_metrics import judge_file, latency_stats, metrics
from scenarios.formats.reference_records import SignalRecord, VerdictRecord
from tests.scenarios.formats.records import HAPPENED, SIGNALS, claim, ended, judged, judging, trial
from tests.scenarios.scoring.cases import said


def test_a_passing_trial_has_the_references_fields() -> None:
    found = metrics(trial())
    assert found["total_turns"] == 4
    assert found["duration_seconds"] == 9.5
    assert found["turns"][0] == {"timestamp": 0.1, "role": "user", "text": "Cancel W1."}
    assert found["turns"][2]["text"] == "[INTERRUPTED]"
    assert found["latencies"] == [
        {"user_transcript": "Cancel W1.", "agent_transcript": "=Done.", "latency_ms": 410.04},
        {"user_transcript": "[INTERRUPTED]", "agent_transcript": "Goodbye.", "latency_ms": 290.0},
    ]
    assert found["latency_stats"] == {
        "count": 2,
        "mean_ms": pytest.approx(350.02),
        "p50_ms": 410.04,
        "p95_ms": 410.04,
        "min_ms": 290.0,
        "max_ms": 410.04,
    }
    assert (found["stop_reason"], found["clean_exit"], found["is_action_match"]) == ("[EXIT]", True, True)
    assert found["token_usage"] == {
        "agent": {"n_calls": 1, "prompt": 100, "completion": 7},
        "user": {"n_calls": 0, "prompt": 0, "completion": 0},
    }
    assert (found["db_state_expected_hash"], found["db_state_match"], found["db_state_actual_hash"]) == (
        "aa",
        True,
        "aa",
    )
    assert found["success_breakdown"] == {
        "passed": ["db_state_match", "clean_exit"],
        "failed": [],
        "not_applicable": [],
        "excluded": ["is_action_match"],
    }
    assert (found["is_successful"], found["is_task_successful"]) == (True, True)
    assert found["callboard"]["outcome"] == "pass"
    assert not {"judge_score", "judge_passed", "nl_assertion_pass_rate", "insufficient_agent_turns"} & set(found)


def test_a_timeout_fails_the_composite_and_can_leave_the_task_true() -> None:
    found = metrics(trial(happened=ended("time_limit"), outcome="fail"))
    assert (found["stop_reason"], found["is_successful"], found["is_task_successful"]) == ("[TIMEOUT]", False, True)


def test_a_stalled_trial_is_false_twice_and_marked() -> None:
    found = metrics(trial(outcome="stalled"))
    assert found["insufficient_agent_turns"] is True
    assert (found["is_successful"], found["is_task_successful"]) == (False, False)


@pytest.mark.parametrize("outcome", ["tainted", "cancelled", "infra_error", "over_budget"])
def test_a_trial_that_the_reference_would_not_have_scored_has_no_composite(outcome: str) -> None:
    found = metrics(trial(outcome=outcome))
    assert (found["is_successful"], found["is_task_successful"]) == ("N/A", "N/A")
    assert found["callboard"]["outcome"] == outcome


def test_a_trial_that_broke_before_its_first_turn_still_has_metrics() -> None:
    found = metrics(trial(happened=HAPPENED[:1], outcome="infra_error", signals=()))
    assert (found["total_turns"], found["latency_stats"]["count"], found["stop_reason"]) == (0, 0, "[TIMEOUT]")


def test_a_failed_judge_is_the_references_failure_and_our_judge_error() -> None:
    error = "http_429"
    broken = judging(reply="", score=None, reason="Judge error: HTTP 429: slow down", error=error)
    export = judged(claim(1, False, error), claim(2, False, error), outcome="judge_error", judging=broken)
    found, judge = metrics(export), judge_file(export)
    assert (found["judge_score"], found["judge_passed"], found["nl_assertion_pass_rate"]) == (0.0, False, 0.0)
    assert found["is_successful"] is False
    assert found["success_breakdown"]["failed"] == ["nl_assertion"]
    assert found["callboard"]["outcome"] == "judge_error"
    assert judge is not None
    assert judge["reason"] == "Error: HTTP 429: slow down"
    assert judge["nl_assertion_verdicts"][0] == {
        "index": 1,
        "assertion": "claim 1",
        "passed": False,
        "reason": "Judge error: HTTP 429: slow down",
    }


def test_a_malformed_reply_is_read_by_the_references_rules() -> None:
    rows = [{"index": 1, "passed": True, "reason": "x"}, {"index": 1, "passed": True, "reason": "last"}]
    reply = json.dumps({"score": 0.95, "reason": "r", "nl_assertion_verdicts": rows})
    broken = judging(reply=reply, score=None, error="duplicate")
    export = judged(claim(1, False, "duplicate"), outcome="judge_error", judging=broken)
    found = metrics(export)
    assert (found["judge_score"], found["judge_passed"], found["nl_assertion_pass_rate"]) == (0.95, True, 1.0)
    assert found["is_successful"] is True
    assert found["callboard"]["outcome"] == "judge_error"


def test_without_a_judge_its_signal_does_not_apply_by_the_references_rule() -> None:
    found = metrics(judged(outcome="unscored", judging=None))
    assert found["success_breakdown"]["not_applicable"] == ["nl_assertion"]
    assert found["is_successful"] is True
    assert judge_file(judged(judging=None)) is None


def test_a_judge_that_could_not_be_asked_is_the_references_failure() -> None:
    export = judged(claim(1, False, "no_key", "Judge error: JUDGE_KEY is not set"), outcome="judge_error", judging=None)
    judge = judge_file(export)
    assert judge is not None
    assert (judge["score"], judge["reason"]) == (0.0, "Error: JUDGE_KEY is not set")
    assert metrics(export)["is_successful"] is False


def test_a_good_judgement_carries_rows_counts_and_its_input() -> None:
    judge = judge_file(judged(claim(2, False), claim(1, True)))
    assert judge is not None
    assert [row["index"] for row in judge["nl_assertion_verdicts"]] == [1, 2]
    assert (judge["nl_assertion_pass_count"], judge["nl_assertion_total"], judge["nl_assertion_pass_rate"]) == (
        1,
        2,
        0.5,
    )
    assert judge["judge_input"] == {"system_prompt": "system", "user_content": "content"}
    assert (judge["score"], judge["reason"]) == (0.95, "well done")


def test_predicates_carry_their_verdicts_in_the_references_form() -> None:
    detail = {"func_name": "f", "side": "user", "expected": True, "actual": None, "message": "m", "error": "boom"}
    verdict = VerdictRecord("db_state_assertion", 1, "f() is True", False, "boom", "", detail)
    found = metrics(trial(verdicts=(verdict,), success_signals=("db_state_assertion", "clean_exit"), outcome="fail"))
    assert found["db_state_assertion_verdicts"] == [{**detail, "passed": False}]
    assert found["db_state_assertion_pass_rate"] == 0.0
    assert found["success_breakdown"]["failed"] == ["db_state_assertion"]


def test_the_references_action_figure_is_kept_where_ours_differs() -> None:
    ours = SignalRecord("is_action_match", "failed", False, {"reference_match": True, "strict": True})
    found = metrics(
        trial(signals=(ours, *SIGNALS[1:]), success_signals=("is_action_match", "clean_exit"), outcome="fail")
    )
    assert found["is_action_match"] is True
    assert found["is_successful"] is True
    assert found["callboard"]["outcome"] == "fail"


def test_percentiles_are_the_references_without_interpolation() -> None:
    stats = latency_stats([float(value) for value in range(100, 0, -1)])
    assert (stats["p50_ms"], stats["p95_ms"]) == (51.0, 96.0)
    assert latency_stats([])["mean_ms"] == 0


def test_figures_stay_the_references_when_the_run_goes_by_upstream() -> None:
    """A call that upstream fails for what was not said: the reference's own success is untouched."""
    demand = VerdictRecord("communicate", 1, "The agent says '4'.", False, "not said", "")
    found = metrics(trial(outcome="fail", other_outcome="pass", verdicts=(demand,)))
    assert (found["is_successful"], found["is_task_successful"]) == (True, True)
    assert found["success_breakdown"]["failed"] == []
    assert (found["callboard"]["outcome"], found["callboard"]["other_outcome"]) == ("fail", "pass")
    assert "nl_assertion_pass_rate" not in found


def test_the_greeting_answers_nobody_and_has_no_response_time() -> None:
    greeting = (said("agent", 1, "Hello."), events.LatencyMeasured("agent", 1, 1348.8))
    asked = (said("user", 2, "Hi.", started_ms=2000), said("agent", 3, "Yes?", started_ms=4000))
    happened = (
        *greeting,
        *asked,
        events.LatencyMeasured("agent", 3, 900.0),
        events.CallEnded("end_tool", "agent", 9500),
    )
    found = metrics(trial(happened=happened))
    assert found["latencies"] == [{"user_transcript": "Hi.", "agent_transcript": "Yes?", "latency_ms": 900.0}]
    assert found["latency_stats"]["count"] == 1
