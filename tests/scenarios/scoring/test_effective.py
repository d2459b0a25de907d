"""What people's rulings make of an outcome, by the rules of DESIGN 7."""

import itertools

import pytest

from scenarios.scoring.effective import ClaimRuling, ScoredSignal, effective
from scenarios.scoring.results import OUTCOMES, Outcome

DB_OK = ScoredSignal("db_state_match", "passed", True, True)
DB_BAD = ScoredSignal("db_state_match", "failed", True, False)
CLAIMS_BAD = ScoredSignal("nl_assertion", "failed", True, 0.5)
CLAIMS_OK = ScoredSignal("nl_assertion", "passed", True, 1.0)
CLAIMS_OPEN = ScoredSignal("nl_assertion", "undecided", True, None)


def by_judge(*passed: bool | None) -> list[ClaimRuling]:
    return [ClaimRuling(index, ruling, "judge") for index, ruling in enumerate(passed, 1)]


def person(index: int, passed: bool) -> ClaimRuling:
    return ClaimRuling(index, passed, "reviewer", is_overruling=True)


def test_nothing_changes_where_nobody_ruled() -> None:
    result = effective("fail", "1 of 2 claims failed", [DB_OK, CLAIMS_BAD], by_judge(True, False), True)
    assert (result.outcome, result.reason) == ("fail", "1 of 2 claims failed")
    assert result.signals == (DB_OK, CLAIMS_BAD)
    assert result.overruled == 0


def test_an_overruled_claim_makes_a_fail_a_pass_and_says_by_whom() -> None:
    claims = [*by_judge(True), person(2, True)]
    result = effective("fail", "1 of 2 claims failed", [DB_OK, CLAIMS_BAD], claims, True)
    assert result.outcome == "pass"
    assert result.reason == "every gating signal passed (claims overruled: 1 by a reviewer)"
    assert result.signals[1] == ScoredSignal("nl_assertion", "passed", True, 1.0)
    assert result.overruled == 1


def test_an_adjudicator_is_named_as_such() -> None:
    claims = [ClaimRuling(1, False, "adjudicator", is_overruling=True)]
    result = effective("pass", "", [DB_OK, CLAIMS_OK], claims, True)
    assert result.outcome == "fail"
    assert result.reason == "failed: nl_assertion (claims overruled: 1 by an adjudicator)"


def test_a_wrong_database_still_fails() -> None:
    result = effective("fail", "db", [DB_BAD, CLAIMS_BAD], [person(1, True)], True)
    assert (result.outcome, result.reason) == ("fail", "failed: db_state_match (claims overruled: 1 by a reviewer)")
    assert result.signals[1].state == "passed"


def test_what_upstream_demands_still_fails() -> None:
    assert effective("fail", "x", [DB_OK, CLAIMS_BAD], [person(1, True)], False).outcome == "fail"
    assert effective("judge_error", "x", [DB_OK, CLAIMS_OPEN], [person(1, True)], False).outcome == "fail"


def test_a_person_rules_where_the_judge_broke() -> None:
    assert effective("judge_error", "x", [DB_OK, CLAIMS_OPEN], [person(1, True)], True).outcome == "pass"
    assert effective("judge_error", "x", [DB_OK, CLAIMS_OPEN], [person(1, False)], True).outcome == "fail"
    half = [person(1, True), *by_judge(None)]
    assert effective("judge_error", "x", [DB_OK, CLAIMS_OPEN], half, True).outcome == "judge_error"


def test_rulings_that_count_no_more_leave_a_judge_error() -> None:
    """A quarantined batch: a pass is no pass any more, unless something else failed."""
    quarantined = effective("pass", "", [DB_OK, CLAIMS_OK], by_judge(None), True)
    assert quarantined.outcome == "judge_error"
    assert quarantined.reason == "without a ruling that counts: nl_assertion"
    assert effective("fail", "x", [DB_BAD, CLAIMS_OK], by_judge(None), True).outcome == "fail"


def test_claims_that_do_not_gate_change_no_outcome() -> None:
    excluded = ScoredSignal("nl_assertion", "excluded", False, 0.0)
    result = effective("pass", "", [DB_OK, excluded], [person(1, True)], True)
    assert result.outcome == "pass"
    assert result.signals[1] == ScoredSignal("nl_assertion", "excluded", False, 1.0)


@pytest.mark.parametrize("outcome", [o for o in OUTCOMES if o not in ("pass", "fail", "judge_error", "unscored")])
def test_a_call_that_was_not_rated_stays_so(outcome: Outcome) -> None:
    assert effective(outcome, "why", [DB_OK, CLAIMS_BAD], [person(1, True)], True).outcome == outcome


@pytest.mark.parametrize("rulings", list(itertools.product([True, False, None], repeat=3)))
def test_a_pass_needs_every_claim(rulings: tuple[bool | None, ...]) -> None:
    claims = [
        ClaimRuling(index, ruling, "judge" if ruling is None else "reviewer", is_overruling=ruling is not None)
        for index, ruling in enumerate(rulings, 1)
    ]
    result = effective("fail", "x", [DB_OK, CLAIMS_BAD], claims, True)
    expected = "fail" if False in rulings else "pass" if None not in rulings else "judge_error"
    assert result.outcome == expected


SCORE_OK = ScoredSignal("judge_passed", "passed", True, True)


def test_a_quarantined_judges_score_counts_no_more_than_its_rulings() -> None:
    void = [ClaimRuling(1, None, "judge")]
    result = effective("pass", "", [DB_OK, CLAIMS_OK, SCORE_OK], void, True, void=True)
    assert result.outcome == "judge_error"
    assert result.reason == (
        "without a ruling that counts: nl_assertion, judge_passed (the judge failed the canaries of its batch)"
    )
    assert [(signal.state, signal.value) for signal in result.signals[1:]] == [("undecided", None)] * 2
    assert effective("pass", "", [DB_OK, SCORE_OK], [], True, void=True).outcome == "judge_error"
    assert effective("pass", "", [DB_OK, SCORE_OK], [], True).outcome == "pass"


def test_what_the_judge_did_not_decide_stays_under_quarantine() -> None:
    aside = ScoredSignal("judge_passed", "excluded", False, True)
    result = effective("pass", "", [DB_OK, aside], [], True, void=True)
    assert (result.outcome, result.signals[1]) == ("pass", ScoredSignal("judge_passed", "excluded", False, None))
    assert effective("fail", "db", [DB_BAD, SCORE_OK], [], True, void=True).outcome == "fail"
    assert effective("stalled", "", [DB_OK, SCORE_OK], [], True, void=True).outcome == "stalled"


def test_a_persons_ruling_counts_under_quarantine_too() -> None:
    result = effective("fail", "", [DB_OK, CLAIMS_BAD], [person(1, True)], True, void=True)
    assert (result.outcome, result.reason) == ("pass", "every gating signal passed (claims overruled: 1 by a reviewer)")
