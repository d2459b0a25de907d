from typing import Any

import pytest

from scenarios.domains.base import Signal
from scenarios.scoring.config import ScoringConfig
from scenarios.scoring.judge_reply import JudgeReply, failed, read
from scenarios.scoring.results import Decision
from scenarios.scoring.success import MAX_REASON, asserts_nothing, decide, score_trial
from tests.scenarios.scoring.cases import (
    CONFIG,
    END,
    evidence,
    gold,
    idle,
    no_gold,
    spec,
    use,
)

CLAIM = ("The agent says goodbye.",)
CLAIMS: tuple[Signal, ...] = ("db_state_match", "nl_assertion", "clean_exit")
WITH_CLAIM = spec(nl_assertions=CLAIM, success_signals=CLAIMS)
YES = read('{"score": 1, "nl_assertion_verdicts": [{"index": 1, "passed": true}]}', CLAIM, evidence())
NO = read('{"score": 0, "nl_assertion_verdicts": [{"index": 1, "passed": false}]}', CLAIM, evidence())
BROKEN = failed(CLAIM, "http_429", "slow down")
WRONG_STATE = {"tools": (END,)}


def outcome(call: Any = None, scenario: Any = None, reply: JudgeReply | None = None, **config: Any) -> Decision:
    chosen = scenario or spec()
    return score_trial(chosen, gold(), call or evidence(), ScoringConfig(**config), reply).decision


def test_all_six_signals_are_scored_and_sorted_into_the_breakdown() -> None:
    scored = score_trial(spec(), gold(), evidence(), CONFIG, None)
    assert [result.signal for result in scored.results] == [
        "is_action_match",
        "db_state_match",
        "db_state_assertion",
        "clean_exit",
        "nl_assertion",
        "judge_passed",
    ]
    assert scored.decision.success_breakdown == {
        "passed": ["db_state_match", "clean_exit"],
        "failed": [],
        "not_applicable": [],
        "excluded": ["is_action_match"],
        "undecided": [],
    }
    assert (scored.decision.outcome, scored.decision.is_successful, scored.decision.by_inaction) == (
        "pass",
        True,
        False,
    )


def test_a_whitelisted_signal_with_nothing_to_decide_is_named_not_applicable() -> None:
    decision = outcome(scenario=spec(success_signals=CLAIMS))
    assert decision.outcome == "pass"
    assert decision.success_breakdown["not_applicable"] == ["nl_assertion"]


@pytest.mark.parametrize(
    ("call", "reply", "expected"),
    [
        (evidence(), YES, "pass"),
        (evidence(), NO, "fail"),
        (evidence(), BROKEN, "judge_error"),
        (evidence(), None, "unscored"),
        (evidence(**WRONG_STATE), YES, "fail"),
        (evidence(**WRONG_STATE), BROKEN, "fail"),
        (evidence(**WRONG_STATE), None, "fail"),
        (evidence(end_reason="time_limit"), BROKEN, "fail"),
        (evidence(end_reason="silence"), YES, "fail"),
    ],
)
def test_a_decided_failure_wins_and_only_then_the_judges_absence(call: Any, reply: Any, expected: str) -> None:
    assert outcome(call, WITH_CLAIM, reply).outcome == expected


def test_one_failed_claim_fails_though_another_has_no_ruling() -> None:
    claims = ("a", "b")
    text = '{"score": 1, "nl_assertion_verdicts": [{"index": 1, "passed": false}, {"index": 2, "passed": "yes"}]}'
    scenario = spec(nl_assertions=claims, success_signals=("nl_assertion",))
    assert outcome(scenario=scenario, reply=read(text, claims, evidence())).outcome == "fail"
    text = text.replace("false", "true")
    assert outcome(scenario=scenario, reply=read(text, claims, evidence())).outcome == "judge_error"


def test_a_judge_that_fails_where_nothing_gates_on_it_does_not_matter() -> None:
    assert outcome(reply=BROKEN).outcome == "pass"


@pytest.mark.parametrize(
    ("fields", "expected", "reason"),
    [
        ({"intervened_by": "mia"}, "tainted", "mia intervened"),
        ({"intervened_by": "mia", "end_reason": "hang_up"}, "tainted", "mia"),
        ({"end_reason": "cancelled"}, "cancelled", "cancelled"),
        ({"end_reason": "over_budget"}, "over_budget", "budget"),
        ({"end_reason": "party_failed", "infra_error": ("llm_http_500", "oops")}, "infra_error", "llm_http_500: oops"),
        ({"end_reason": "site_stopping"}, "infra_error", "site"),
        ({"end_reason": None}, "infra_error", "no end"),
    ],
)
def test_calls_that_cannot_be_rated_are_never_a_pass_nor_a_fail(
    fields: dict[str, Any], expected: str, reason: str
) -> None:
    decision = outcome(evidence(agent_turns=0, **fields))
    assert (decision.outcome, decision.is_successful) == (expected, None)
    assert reason in decision.reason


@pytest.mark.parametrize(
    ("turns", "minimum", "expected"), [(2, 3, "stalled"), (3, 3, "pass"), (0, 0, "pass"), (0, 1, "stalled")]
)
def test_too_few_agent_turns_stall_a_call(turns: int, minimum: int, expected: str) -> None:
    decision = outcome(evidence(agent_turns=turns), min_agent_turns=minimum)
    assert decision.outcome == expected
    assert decision.insufficient_agent_turns is (expected == "stalled")
    assert decision.is_successful is (expected == "pass")
    assert decision.is_task_successful is (expected == "pass")


def test_a_stalled_call_is_stalled_even_where_the_judge_failed() -> None:
    assert outcome(evidence(agent_turns=1), WITH_CLAIM, BROKEN).outcome == "stalled"


def test_a_timeout_fails_the_call_but_not_the_task() -> None:
    decision = outcome(evidence(end_reason="time_limit"))
    assert (decision.is_successful, decision.is_task_successful) == (False, True)
    assert decision.reason == "the agent did not end the call: the time limit was reached"


def test_a_limit_is_told_with_what_was_measured() -> None:
    """B41, B42: a timeout does not look like a wrong answer, and the checks of the state are still there."""
    call = evidence(end_reason="time_limit", end_message="limit 60 s, measured 60.2 s, in turn 9")
    scored = score_trial(spec(), gold(), call, CONFIG, None)
    assert scored.decision.reason == (
        "the agent did not end the call: the time limit was reached (limit 60 s, measured 60.2 s, in turn 9)"
    )
    by_name = {result.signal: result for result in scored.results}
    assert by_name["db_state_match"].passed is True
    assert by_name["clean_exit"].detail["end_message"] == "limit 60 s, measured 60.2 s, in turn 9"


def test_an_undecided_judge_leaves_the_task_undecided() -> None:
    assert outcome(scenario=WITH_CLAIM, reply=BROKEN).is_task_successful is None


def test_reasons_name_every_failure_in_words() -> None:
    decision = outcome(evidence(**WRONG_STATE, end_reason="silence"), WITH_CLAIM, NO)
    assert decision.reason == (
        "the final database is not the expected one; the agent did not end the call: "
        "there was silence; 1 of 1 claims failed"
    )


def test_a_long_reason_is_cut_to_what_a_trial_holds() -> None:
    decision = outcome(scenario=WITH_CLAIM, reply=failed(CLAIM, "http_500", "x" * 1000))
    assert len(decision.reason) == MAX_REASON


def test_a_pass_without_a_tool_call_on_a_scenario_that_expects_nothing_is_by_inaction() -> None:
    scenario = spec(gold_actions=())

    def scored(call: Any) -> Decision:
        return score_trial(scenario, no_gold(), call, CONFIG, None).decision

    assert (scored(idle()).outcome, scored(idle()).by_inaction) == ("pass", True)
    looked = use(1, "get_order", changes=(), action=None)
    assert scored(evidence(tools=(looked, END))).by_inaction is False
    handed_over = use(1, "transfer", changes=(), action=None, ends_call=True)
    assert scored(evidence(tools=(handed_over,), end_reason="transfer")).by_inaction is False
    by_caller = use(1, "toggle_data", side="user", changes=(), action=None)
    assert scored(evidence(tools=(by_caller, END))).by_inaction is True
    assert scored(idle(end_reason="time_limit")).by_inaction is False


def test_a_pass_that_needed_work_is_never_by_inaction() -> None:
    assert outcome(evidence()).by_inaction is False


def test_nothing_asserted_is_not_a_pass() -> None:
    empty = spec(success_signals=("nl_assertion", "db_state_assertion", "clean_exit"))
    assert outcome(scenario=empty).outcome == "unscored"
    assert "nothing is asserted" in outcome(scenario=empty).reason
    only_exit = spec(success_signals=("clean_exit",))
    assert outcome(scenario=only_exit).outcome == "pass"


@pytest.mark.parametrize(
    ("signals", "fields", "nothing"),
    [
        ((), {}, True),
        (("clean_exit",), {}, False),
        (("nl_assertion", "clean_exit"), {}, True),
        (("nl_assertion", "db_state_assertion"), {}, True),
        (("nl_assertion", "clean_exit"), {"nl_assertions": ("The agent is kind.",)}, False),
        (("is_action_match", "clean_exit"), {}, True),
        (("db_state_match",), {}, False),
        (("judge_passed",), {}, False),
    ],
)
def test_a_scenario_that_asserts_nothing_is_known_before_any_call(signals: Any, fields: Any, nothing: bool) -> None:
    """B09, B62: a task without criteria is "nothing asserted", and no call of it passes."""
    scenario = spec(success_signals=signals, gold_actions=(), **fields)
    assert asserts_nothing(scenario, no_gold()) is nothing
    reply = JudgeReply(1.0, "", ()) if "judge_passed" in signals else None
    decision = score_trial(scenario, no_gold(), idle(), CONFIG, reply).decision
    assert ("nothing is asserted" in decision.reason) is nothing
    assert not nothing or decision.outcome == "unscored"


def test_a_gating_signal_that_nobody_scored_is_an_error_that_names_it() -> None:
    scenario = spec(success_signals=("db_state_match", "charm"))
    with pytest.raises(ValueError, match="toy__1 is gated by signals that were not scored: charm"):
        decide(scenario, (), evidence(), gold())


def test_a_judge_score_at_the_threshold_passes() -> None:
    scenario = spec(success_signals=("judge_passed",), judge_threshold=0.9)
    at, below = JudgeReply(0.9, "", ()), JudgeReply(0.89, "", ())
    assert outcome(scenario=scenario, reply=at).outcome == "pass"
    decision = outcome(scenario=scenario, reply=below)
    assert (decision.outcome, decision.reason) == ("fail", "the judge's score 0.89 is below 0.9")
    assert outcome(scenario=scenario, reply=BROKEN).outcome == "judge_error"
    assert outcome(scenario=scenario, reply=None).outcome == "unscored"


def test_a_run_is_scored_by_its_own_configuration() -> None:
    stored = {"min_agent_turns": 5, "strict_match": True, "judge": None, "strictness": "upstream", "channel": "text"}
    assert ScoringConfig.from_run(stored) == ScoringConfig(5, True, "upstream")
    with pytest.raises(KeyError, match="strict_match"):
        ScoringConfig.from_run({"min_agent_turns": 3})
