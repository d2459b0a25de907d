"""Calls read off the difference of two databases: made again, they lead to the same end."""

from typing import Any

import pytest

from scenarios.domains import load
from scenarios.domains.base import GoldAction
from scenarios.domains.eva_airline.plan import calls_between
from tests.scenarios.domains.eva_airline.desk import BOOKED, NEW, NUMBER, REBOOK, call, desk

pytestmark = pytest.mark.usefixtures("benchmarks")
OLD, PASSENGER = {"confirmation_number": NUMBER, "journey_id": BOOKED}, {"passenger_id": "PAX001"}
MOVED = {"confirmation_number": NUMBER, "journey_id": NEW}
WRITES: list[list[tuple[str, dict[str, Any]]]] = [
    [("rebook_flight", REBOOK)],
    [("rebook_flight", {**REBOOK, "new_fare_class": "business"})],
    [("rebook_flight", REBOOK), ("assign_seat", {**MOVED, **PASSENGER, "seat_preference": "middle"})],
    [("rebook_flight", REBOOK), ("add_baggage_allowance", {**MOVED, "num_bags": 3})],
    [("rebook_flight", REBOOK), ("add_meal_request", {**MOVED, **PASSENGER, "meal_type": "halal"})],
    [("assign_seat", {**OLD, **PASSENGER, "seat_preference": "aisle"})],
    [("add_baggage_allowance", {**OLD, "num_bags": 2})],
    [("add_meal_request", {**OLD, **PASSENGER, "meal_type": "vegan"})],
    [("cancel_reservation", {**OLD, "cancellation_reason": "voluntary"})],
    [("add_to_standby", {"confirmation_number": NUMBER, "journey_id": NEW, "passenger_ids": ["PAX001"]})],
    [
        ("process_refund", {"confirmation_number": NUMBER, "refund_amount": 12.5, "refund_type": "taxes_only"}),
        ("process_refund", {"confirmation_number": NUMBER, "refund_amount": 40, "refund_type": "ancillary_fees"}),
    ],
    [("issue_travel_credit", {"confirmation_number": NUMBER, **PASSENGER, "amount": 50, "credit_reason": "goodwill"})],
    [("issue_meal_voucher", {"confirmation_number": NUMBER, **PASSENGER, "voucher_reason": "delay_over_2_hours"})],
    [("issue_hotel_voucher", {"confirmation_number": NUMBER, **PASSENGER, "num_nights": 2})],
]


def plan_of(task_id: str) -> tuple[GoldAction, ...]:
    domain = load()["eva_airline"]
    return next(spec.gold_actions for spec in domain.scenarios() if spec.task_id == task_id)


@pytest.mark.parametrize("writes", WRITES, ids=lambda writes: "+".join(tool for tool, _ in writes))
def test_the_calls_that_were_made_are_found(writes: list[tuple[str, dict[str, Any]]]) -> None:
    made = desk()
    for tool, arguments in writes:
        call(made, tool, **arguments)
    database = made.databases["agent"]

    plan = calls_between(database.seed.data, database.to_json())

    again = desk()
    for action in plan:
        call(again, action.tool, **action.arguments)
    assert again.databases["agent"].hash == database.hash
    assert [action.tool for action in plan] == [tool for tool, _ in writes]


def test_equal_databases_need_no_call() -> None:
    seed = desk().databases["agent"].seed.data

    assert calls_between(seed, seed) == ()


def test_what_leaves_no_trace_follows_the_journeys_state() -> None:
    (rebooked, *_), (cancelled, *_) = plan_of("2.1.1"), plan_of("5.1.3")

    assert rebooked.arguments["rebooking_type"] == "irrops_cancellation"
    assert rebooked.arguments["waive_change_fee"] is True
    assert cancelled.arguments["cancellation_reason"] == "irrops_refund"
    assert plan_of("1.1.2")[0].arguments["rebooking_type"] == "voluntary"


def test_a_meal_that_reads_as_none_either_way_is_no_request() -> None:
    assert "add_meal_request" not in {action.tool for action in plan_of("1.1.5")}
