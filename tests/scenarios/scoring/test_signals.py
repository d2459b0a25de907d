"""The signals that are too small for a file of their own: database match, database assertions, claims, exit."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from scenarios.domains.base import DbAssertion
from scenarios.domains.predicates import Predicate
from scenarios.events import EndReason
from scenarios.scoring import clean_exit, db_state_assertion, db_state_match, judge_passed, nl_assertion
from scenarios.scoring.judge_reply import JudgeReply
from scenarios.state.overlay import Overlay, Seed
from tests.scenarios.scoring.cases import CHANGE, CONFIG, DATA, END, database, evidence, gold, no_gold, spec, use


def test_a_database_as_expected_matches() -> None:
    result = db_state_match.score(spec(), gold(), evidence(), CONFIG)
    assert (result.passed, result.value) == (True, True)
    assert result.detail["expected_hash"] == result.detail["actual_hash"]
    assert [row["state"] for row in result.detail["diff"]] == ["right"]


def test_a_wrong_field_names_the_call_and_the_event_that_wrote_it() -> None:
    wrong = {**CHANGE, "path": ["orders", "W2", "status"], "before": "delivered"}
    result = db_state_match.score(spec(), gold(), evidence(tools=(use(3, changes=(wrong,)), END)), CONFIG)
    assert result.passed is False
    rows = {tuple(row["path"]): row for row in result.detail["diff"]}
    unexpected = rows["orders", "W2", "status"]
    assert (unexpected["state"], unexpected["call"], unexpected["seq"]) == ("unexpected", 3, 300)
    missing = rows["orders", "W1", "status"]
    assert (missing["state"], missing["why"], missing["seq"]) == ("missing", "never_attempted", None)


def test_a_refused_attempt_is_told_from_none() -> None:
    refused = use(1, ok=False, error="order_not_pending", changes=(), action=None)
    (row,) = db_state_match.score(spec(), gold(), evidence(tools=(refused,)), CONFIG).detail["diff"]
    assert (row["why"], row["error"], row["seq"]) == ("refused", "order_not_pending", 100)


def test_a_long_diff_is_capped_and_counted() -> None:
    many = tuple(
        {"side": "agent", "path": ["orders", f"X{i}"], "before": None, "after": {"id": i}, "op": "add"}
        for i in range(db_state_match.MAX_ROWS + 7)
    )
    detail = db_state_match.score(spec(), gold(), evidence(tools=(use(changes=many),)), CONFIG).detail
    assert len(detail["diff"]) == db_state_match.MAX_ROWS
    assert detail["diff_total"] == db_state_match.MAX_ROWS + 8


def test_what_is_not_compared_is_stored_with_the_verdict() -> None:
    """B05: a trace of reads in the session changes nothing, and the verdict says that it was not looked at."""
    traced = Overlay(Seed({**DATA, "session": {"reads": 7}}))
    result = db_state_match.score(spec(gold_actions=()), no_gold(), evidence(databases={"agent": traced}), CONFIG)
    assert (result.passed, result.detail["not_compared"], result.detail["diff"]) == (True, ["session"], [])
    assert db_state_match.score(spec(), gold(), evidence(), CONFIG).detail["not_compared"] == []


def test_what_initialisation_changed_is_no_difference() -> None:
    lost = {"side": "agent", "path": ["orders", "W2", "status"], "before": "delivered", "after": "lost", "op": "set"}
    end = database(lost, CHANGE)
    started = replace(
        gold(), databases={"agent": end}, expected_hashes={"agent": end.hash}, start_databases={"agent": database(lost)}
    )
    result = db_state_match.score(spec(), started, evidence(databases={"agent": database(lost, CHANGE)}), CONFIG)
    assert result.passed is True
    (row,) = result.detail["diff"]
    assert (row["path"], row["seed"], row["state"]) == (["orders", "W1", "status"], "pending", "right")


def test_a_missing_database_never_matches() -> None:
    result = db_state_match.score(spec(), gold(), evidence(databases={}), CONFIG)
    assert (result.applicable, result.passed, result.detail["actual_hash"]) == (True, False, None)


def test_a_gold_without_a_database_has_nothing_to_match() -> None:
    bare = replace(gold(), expected_hashes={}, databases={})
    assert db_state_match.score(spec(), bare, evidence(), CONFIG).applicable is False


def is_status(db: Overlay, order: str, status: str) -> bool:
    return bool(db.get("orders", order)["status"] == status)


PREDICATES: Mapping[str, Predicate] = {"is_status": is_status}


class ToyDomain:
    def predicates(self) -> Mapping[str, Predicate]:
        return PREDICATES


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scenarios.domains.load", lambda: {"toy": ToyDomain()})


def holds(order: str = "W1", status: str = "cancelled", **fields: Any) -> DbAssertion:
    return DbAssertion(
        **{"func_name": "is_status", "arguments": {"order": order, "status": status}, "side": "agent", **fields}
    )


@pytest.mark.usefixtures("toy")
def test_every_predicate_runs_and_one_failure_fails_the_signal() -> None:
    scenario = spec(db_assertions=(holds(), holds("W9"), holds("W2", "delivered"), holds(func_name="charm")))
    result = db_state_assertion.score(scenario, gold(), evidence(), CONFIG)
    assert (result.applicable, result.passed, result.value) == (True, False, 0.5)
    assert [verdict.passed for verdict in result.verdicts] == [True, False, True, False]
    assert result.verdicts[1].detail["error"] == "KeyError: 'W9'"
    assert "unknown predicate 'charm'; known are is_status" in result.verdicts[3].reason
    assert result.verdicts[0].claim == "is_status(order='W1', status='cancelled') is True"


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize(
    ("assertion", "passed", "error"),
    [
        (holds(), True, None),
        (holds(assert_value=False), False, None),
        (holds(status="pending", assert_value=False), True, None),
        (holds(side="user"), False, "the user side has no database"),
        (holds(arguments={}), False, "TypeError"),
    ],
)
def test_a_predicate_passes_when_it_gives_the_asserted_value(
    assertion: DbAssertion, passed: bool, error: str | None
) -> None:
    verdict = db_state_assertion.judge(assertion, 1, PREDICATES, evidence().databases)
    assert verdict.passed is passed
    assert (error or "") in (verdict.detail["error"] or "")
    assert bool(verdict.detail["error"]) is bool(error)


def test_no_assertions_are_not_applicable() -> None:
    assert db_state_assertion.score(spec(), gold(), evidence(), CONFIG).applicable is False
    assert nl_assertion.score(spec(), evidence(), None).applicable is False
    assert nl_assertion.score(spec(), evidence(), JudgeReply(1.0, "", ())).passed is None


def test_a_reply_that_lost_a_claim_decides_nothing() -> None:
    result = nl_assertion.score(spec(nl_assertions=("a", "b")), evidence(), JudgeReply(1.0, "", ()))
    assert (result.passed, result.undecided) == (None, "judge_error")


@pytest.mark.parametrize(
    ("reason", "passed"),
    [
        ("end_tool", True),
        ("transfer", True),
        ("hang_up", False),
        ("time_limit", False),
        ("silence", False),
        ("loop", False),
        ("turn_limit", False),
    ],
)
def test_only_the_agents_own_ending_is_clean(reason: EndReason, passed: bool) -> None:
    result = clean_exit.score(spec(), gold(), evidence(end_reason=reason), CONFIG)
    assert (result.applicable, result.passed) == (True, passed)
    assert result.detail == {"end_reason": reason}


def test_a_judge_score_that_does_not_gate_is_information() -> None:
    assert judge_passed.score(spec(), JudgeReply(0.2, "poor", ())).passed is False
    assert judge_passed.score(spec(), None).applicable is False
    assert judge_passed.score(spec(), JudgeReply(None, "", (), error="empty")).applicable is False
