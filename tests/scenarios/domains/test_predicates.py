"""The registry of predicates, and the one way they are asked: always an answer, never an exception."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import Any

import pytest

from scenarios import domains
from scenarios.domains import predicates as module
from scenarios.domains.base import DbAssertion
from scenarios.domains.predicates import evaluate, predicate, predicates_of, registered_predicates
from scenarios.sides import Side
from scenarios.state.overlay import Overlay, Seed


@pytest.fixture(autouse=True)
def clinic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register two predicates of a domain that exists in these tests only."""
    monkeypatch.setattr(module, "_REGISTRY", {})

    @predicate("clinic")
    def is_booked(db: Overlay, visit: str) -> bool:
        return bool(db.get("visits", visit)["booked"])

    @predicate("clinic")
    def vandal(db: Overlay) -> str:
        with db.transaction():
            db.edit("visits", "V1")["booked"] = False
        return "done"


@pytest.fixture
def databases() -> dict[Side, Overlay]:
    return {side: Overlay(Seed({"visits": {"V1": {"booked": side == "agent"}}})) for side in ("agent", "user")}


def ask(
    databases: Mapping[Side, Overlay], name: str = "is_booked", side: Any = "agent", **fields: Any
) -> dict[str, Any]:
    fields = {"arguments": {"visit": "V1"}, **fields}
    return asdict(evaluate(DbAssertion(name, side=side, **fields), predicates_of("clinic"), databases))


def test_a_verdict_has_all_its_fields(databases: dict[Side, Overlay]) -> None:
    assert ask(databases, message="V1 has to be booked") == {
        "func_name": "is_booked",
        "side": "agent",
        "passed": True,
        "expected": True,
        "actual": True,
        "message": "V1 has to be booked",
        "error": None,
    }


def test_a_predicate_is_asked_of_whichever_side_is_named(databases: dict[Side, Overlay]) -> None:
    assert (ask(databases)["actual"], ask(databases, side="user")["actual"]) == (True, False)
    assert ask(databases, side="user", assert_value=False)["passed"] is True


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": "is_cured"}, "unknown predicate 'is_cured'; known are is_booked, vandal"),
        ({"side": "assistant"}, "the assistant side has no database"),
        ({"arguments": {"visit": "V2"}}, "KeyError: 'V2'"),
        ({"arguments": {}}, "TypeError: "),
        ({"arguments": {"visit": "V1", "extra": 1}}, "TypeError: "),
        ({"arguments": None}, "TypeError: "),
        ({"name": ["is_booked"]}, "unknown predicate ['is_booked']"),
        ({"side": {"a": 1}}, "the {'a': 1} side has no database"),
    ],
)
def test_whatever_goes_wrong_is_a_failed_verdict(databases: dict[Side, Overlay], fields: Any, said: str) -> None:
    verdict = ask(databases, **fields)
    assert (verdict["passed"], verdict["actual"]) == (False, None)
    assert said in verdict["error"]


def test_no_predicate_passes_by_expecting_nothing(databases: dict[Side, Overlay]) -> None:
    assert ask(databases, name="is_cured", assert_value=None)["passed"] is False
    assert ask(databases, arguments={}, assert_value=None)["passed"] is False


def test_an_answer_that_cannot_be_compared_is_an_error(databases: dict[Side, Overlay]) -> None:
    class Odd:
        def __eq__(self, other: object) -> bool:
            raise ArithmeticError("never mind")

    verdict = evaluate(DbAssertion("odd", {}, "agent"), {"odd": lambda db: Odd()}, databases)
    assert (verdict.passed, verdict.actual, verdict.error) == (False, None, "ArithmeticError: never mind")


@pytest.mark.parametrize(
    ("answer", "expected", "told"),
    [
        (Decimal("2.5"), 2.5, "Decimal('2.5')"),
        ({"B"}, {"B"}, "{'B'}"),
        (("a", "b"), ("a", "b"), ["a", "b"]),
        (float("inf"), float("inf"), "inf"),
        ({"a": [1, None]}, {"a": [1, None]}, {"a": [1, None]}),
    ],
)
def test_an_answer_that_is_no_json_is_told_in_words(
    databases: dict[Side, Overlay], answer: Any, expected: Any, told: Any
) -> None:
    """A verdict is stored and exported, whatever a predicate of somebody's own domain gives back."""
    verdict = evaluate(DbAssertion("own", {}, "agent", expected), {"own": lambda db: answer}, databases)
    assert verdict.passed
    assert json.loads(json.dumps(verdict.actual, allow_nan=False)) == told
    assert verdict.error is None


def test_an_error_that_cannot_be_told_is_named(databases: dict[Side, Overlay]) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError

    def own(db: Overlay) -> bool:
        raise Mute

    assert evaluate(DbAssertion("own", {}, "agent"), {"own": own}, databases).error == "Mute"


def test_a_predicate_that_writes_changes_nothing(databases: dict[Side, Overlay]) -> None:
    before = databases["agent"].hash
    assert ask(databases, name="vandal", arguments={})["actual"] == "done"
    assert databases["agent"].hash == before
    assert ask(databases)["passed"] is True


def test_a_second_predicate_of_a_name_is_refused_and_another_domain_may_have_it() -> None:
    def is_booked(db: Overlay) -> bool:
        return True

    with pytest.raises(ValueError, match="two predicates of clinic are called 'is_booked'"):
        predicate("clinic")(is_booked)
    assert predicate("hotel")(is_booked) is is_booked
    assert (set(predicates_of("clinic")), set(predicates_of("hotel"))) == ({"is_booked", "vandal"}, {"is_booked"})
    assert registered_predicates() == [("clinic", "is_booked"), ("clinic", "vandal"), ("hotel", "is_booked")]


def test_a_domain_without_predicates_has_none() -> None:
    assert dict(predicates_of("nowhere")) == {}


def test_the_predicates_of_the_domains_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    loaded = domains.load()
    assert set(loaded["frontdesk"].predicates()) == {"charged_total", "refunded_total", "reservation_field"}
    assert len(loaded["tau2_telecom"].predicates()) == 6
    assert loaded["tau2_retail"].predicates() == {}
    assert "assert_can_send_mms" in predicates_of("tau2_telecom")
    assert ("tau2_telecom", "assert_can_send_mms") in registered_predicates()
