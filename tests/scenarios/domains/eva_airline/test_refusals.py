"""What the eva tools do not accept: the error type of each argument, and each refusal. Nothing is written then."""

from pathlib import Path
from typing import Any

import pytest

from scenarios.domains.environment import Environment
from tests.scenarios.domains.eva_airline.desk import BOOKED, NEW, NUMBER, REBOOK, desk, refused


@pytest.fixture
def environment(benchmarks: Path) -> Environment:
    return desk()


@pytest.mark.parametrize(
    ("tool", "changed", "error_type"),
    [
        ("rebook_flight", {"confirmation_number": "ZK3"}, "invalid_confirmation_number_format"),
        ("rebook_flight", {"journey_id": "SK621"}, "invalid_journey_id_format"),
        ("rebook_flight", {"new_journey_id": "fl_SK703_20260325"}, "invalid_journey_id_format"),
        ("rebook_flight", {"flight_number": ""}, "invalid_flight_number_format"),
        ("rebook_flight", {"rebooking_type": "whim"}, "invalid_rebooking_type"),
        ("rebook_flight", {"new_fare_class": "cargo"}, "invalid_fare_class"),
        ("rebook_flight", {"waive_change_fee": "perhaps"}, "invalid_parameter"),
        ("rebook_flight", {"journey_id": 5}, "invalid_parameter"),
        ("search_rebooking_options", {"origin": "Austin"}, "invalid_airport_code_format"),
        ("search_rebooking_options", {"date": "March 25"}, "invalid_date_format"),
        ("search_rebooking_options", {"fare_class": "cheap"}, "invalid_fare_class"),
        ("search_rebooking_options", {"passenger_count": 0}, "invalid_parameter"),
        ("add_baggage_allowance", {"num_bags": 6}, "invalid_bag_count"),
        ("add_baggage_allowance", {"num_bags": "many"}, "invalid_bag_count"),
        ("add_baggage_allowance", {}, "invalid_parameter"),
        ("add_meal_request", {"meal_type": "burger"}, "invalid_meal_type"),
        ("add_meal_request", {"passenger_id": "pax001"}, "invalid_passenger_id_format"),
        ("add_to_standby", {"passenger_ids": ["001"]}, "invalid_passenger_id_format"),
        ("assign_seat", {"seat_preference": "front"}, "invalid_seat_preference"),
        ("cancel_reservation", {"cancellation_reason": "rain"}, "invalid_cancellation_reason"),
        ("process_refund", {"refund_type": "all"}, "invalid_refund_type"),
        ("issue_travel_credit", {"credit_reason": "kind"}, "invalid_credit_reason"),
        ("issue_meal_voucher", {"voucher_reason": "hungry"}, "invalid_voucher_reason"),
    ],
)
def test_each_invalid_argument_has_its_own_error_type(
    environment: Environment, tool: str, changed: dict[str, Any], error_type: str
) -> None:
    right = {
        **REBOOK,
        "origin": "AUS",
        "destination": "LAX",
        "date": "2026-03-25",
        "passenger_count": 1,
        "fare_class": "any",
        "passenger_id": "PAX001",
        "passenger_ids": ["PAX001"],
        "meal_type": "vegan",
        "seat_preference": "aisle",
        "cancellation_reason": "voluntary",
        "refund_amount": 1,
        "refund_type": "full_fare",
        "amount": 1,
        "credit_reason": "goodwill",
        "voucher_reason": "irrops_overnight",
    }
    assert refused(environment, tool, **{**right, **changed}) == ("invalid_arguments", error_type)


@pytest.mark.parametrize(
    ("tool", "arguments", "kinds"),
    [
        ("get_reservation", {"last_name": "Smith"}, ("last_name_mismatch", "authentication_failed")),
        ("rebook_flight", {**REBOOK, "confirmation_number": "AAAAAA"}, ("reservation_not_found", "not_found")),
        ("rebook_flight", {**REBOOK, "journey_id": NEW}, ("journey_not_in_reservation", "journey_not_found")),
        ("rebook_flight", {**REBOOK, "new_journey_id": "FL_SK1_20260325"}, ("flight_not_found", "flight_not_found")),
        ("rebook_flight", {**REBOOK, "flight_number": "sk621"}, ("flight_not_found", "flight_not_found")),
        ("rebook_flight", {**REBOOK, "new_fare_class": "first"}, ("cabin_not_sold", "fare_class_not_available")),
        (
            "assign_seat",
            {"journey_id": BOOKED, "passenger_id": "PAX1", "seat_preference": "aisle"},
            ("passenger_number_too_short", "invalid_passenger_id_format"),
        ),
        ("get_flight_status", {"flight_number": "SK1", "flight_date": "2026-03-25"}, ("flight_not_found",) * 2),
        (
            "get_disruption_info",
            {"flight_number": "SK621", "date": "2026-03-20"},
            ("disruption_not_found", "not_found"),
        ),
    ],
)
def test_refusals(environment: Environment, tool: str, arguments: dict[str, Any], kinds: tuple[str, str]) -> None:
    assert refused(environment, tool, **{"confirmation_number": NUMBER, **arguments}) == kinds


def test_a_tool_that_there_is_not_names_those_there_are(environment: Environment) -> None:
    result = environment.call_tool("agent", "upgrade", {})
    assert result.error == "unknown_tool"
    assert "rebook_flight" in result.for_model["available_tools"]


def test_one_flight_of_a_connection_has_to_be_named_for_a_seat(benchmarks: Path) -> None:
    seat = {"confirmation_number": "E66N08", "passenger_id": "PAX001", "journey_id": "FL_SK681_SK923_20260510"}
    kinds = refused(desk("6.3.1"), "assign_seat", **seat, seat_preference="aisle")
    assert kinds == ("segment_choice_needed", "flight_number_required")
