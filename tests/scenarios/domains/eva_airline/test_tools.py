"""The eva tools beyond the vectors: the facts that reference-system.md 10 names, and what may surprise."""

import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scenarios import domains
from scenarios.domains.base import Fidelity
from scenarios.domains.environment import Environment
from scenarios.state.canonical import canonical_hash
from scenarios.state.changes import Change
from scenarios.state.overlay import Overlay, Seed
from tests.scenarios.domains.eva_airline.desk import BOOKED, NEW, NUMBER, REBOOK, call, desk, refused


@pytest.fixture
def environment(benchmarks: Path) -> Environment:
    return desk()


def reservation(environment: Environment, number: str = NUMBER) -> Mapping[str, Any]:
    found: Mapping[str, Any] = environment.databases["agent"].get("reservations", number)
    return found


def seats(environment: Environment, journey_id: str, cabin: str = "main_cabin") -> int:
    (segment,) = environment.databases["agent"].get("journeys", journey_id)["segments"]
    found: int = segment["available_seats"][cabin]
    return found


def test_a_voluntary_change_and_a_window_seat(environment: Environment) -> None:
    costs = call(environment, "rebook_flight", **REBOOK)["cost_summary"]
    assert (costs["change_fee"], costs["fare_difference"], costs["total_collected"]) == (75, 40, 115)
    seat = {"confirmation_number": NUMBER, "passenger_id": "PAX001", "journey_id": NEW, "seat_preference": "window"}
    assert call(environment, "assign_seat", **seat)["seat_assigned"] == "21A"
    assert environment.databases["agent"].hash == "d929bfc083ab92a135fd7c278fbf27100de9f05ffb77c7656d05037f86d8616b"


def test_rebooking_carries_bags_and_meal_clears_the_seat_and_moves_one_seat(environment: Environment) -> None:
    booked = {"confirmation_number": NUMBER, "journey_id": BOOKED}
    call(environment, "add_baggage_allowance", **booked, num_bags=2)
    call(environment, "add_meal_request", **booked, passenger_id="PAX001", meal_type="vegan")
    before = seats(environment, BOOKED), seats(environment, NEW)
    call(environment, "rebook_flight", **REBOOK)
    old, new = reservation(environment)["bookings"]
    assert (old["status"], new["status"], reservation(environment)["status"]) == ("cancelled", "confirmed", "changed")
    (segment,) = new["segments"]
    assert (segment["bags_checked"], segment["meal_request"], segment["seat"]) == (2, "vegan", None)
    assert (seats(environment, BOOKED), seats(environment, NEW)) == (before[0] + 1, before[1] - 1)


@pytest.mark.parametrize(
    ("kind", "waived", "fee"),
    [
        ("voluntary", False, 75),
        ("voluntary", True, 0),
        ("same_day", False, 75),
        ("irrops_delay", False, 0),
        ("missed_flight_passenger_fault", False, 75),
        ("missed_connection_airline_fault", False, 75),
        ("missed_connection_airline_fault", True, 0),
    ],
)
def test_change_fees(environment: Environment, kind: str, waived: bool, fee: int) -> None:
    arguments = {**REBOOK, "rebooking_type": kind, "waive_change_fee": waived}
    costs = call(environment, "rebook_flight", **arguments)["cost_summary"]
    assert costs["change_fee"] == fee
    assert costs["total_collected"] == (0 if "irrops" in kind else fee + 40)
    assert costs["fee_waived"] == (fee == 0)


def booked_in(cabin: str) -> Environment:
    """Return an environment whose booked journey is in another cabin."""
    plain = desk()
    data = plain.databases["agent"].to_json()
    found = reservation(plain)
    bookings = [{**booking, "fare_class": cabin} for booking in found["bookings"]]
    seed = Seed({**data, "reservations": {NUMBER: {**found, "bookings": bookings}}})
    plain.databases["agent"] = Overlay(seed)
    return plain


@pytest.mark.parametrize(
    ("cabin", "kind", "fee"),
    [
        ("basic_economy", "voluntary", 75),
        ("basic_economy", "same_day", 199),
        ("business", "voluntary", 0),
        ("business", "same_day", 75),
        ("premium_economy", "same_day", 75),
    ],
)
def test_change_fees_by_cabin(benchmarks: Path, cabin: str, kind: str, fee: int) -> None:
    costs = call(booked_in(cabin), "rebook_flight", **{**REBOOK, "rebooking_type": kind})["cost_summary"]
    assert (costs["original_fare_class"], costs["new_fare_class"], costs["change_fee"]) == (cabin, cabin, fee)


def test_after_a_disruption_the_old_fare_counts(environment: Environment) -> None:
    call(environment, "rebook_flight", **{**REBOOK, "rebooking_type": "irrops_cancellation"})
    new = reservation(environment)["bookings"][1]
    assert (new["fare_paid"], new["segments"][0]["fare_paid"]) == (260.0, 260.0)


def test_part_of_a_connection_can_be_replaced(benchmarks: Path) -> None:
    environment = desk("3.1.5")
    arguments = {
        "confirmation_number": "M9M6FJ",
        "journey_id": "FL_SK715_SK330_20260908",
        "new_journey_id": "FL_SK907_20260908",
        "rebooking_type": "voluntary",
        "waive_change_fee": True,
        "flight_number": "SK330",
    }
    answer = call(environment, "rebook_flight", **arguments)
    assert answer["replaced_segment"]["flight_number"] == "SK330"
    assert [segment["flight_number"] for segment in answer["kept_segments"]] == ["SK715"]
    status = [(booking["journey_id"], booking["status"]) for booking in reservation(environment, "M9M6FJ")["bookings"]]
    assert status[-2:] == [("FL_SK715_SK330_20260908", "confirmed"), ("FL_SK907_20260908", "confirmed")]
    assert environment.actions[0]["replaced_flight_number"] == "SK330"


@pytest.mark.parametrize(("fidelity", "left"), [("canonical", "cancelled"), ("reference", "confirmed")])
def test_what_was_kept_of_a_connection_can_be_replaced_as_well(benchmarks: Path, fidelity: Fidelity, left: str) -> None:
    """The reference marks the first booking of that journey, which is cancelled already, and leaves the second."""
    environment = desk("3.1.5", fidelity)
    booked = "FL_SK715_SK330_20260908"
    both = {**REBOOK, "confirmation_number": "M9M6FJ", "journey_id": booked, "waive_change_fee": True}
    call(environment, "rebook_flight", **{**both, "new_journey_id": "FL_SK907_20260908", "flight_number": "SK330"})
    call(environment, "rebook_flight", **{**both, "new_journey_id": "FL_SK330_20260908", "flight_number": "SK715"})
    bookings = reservation(environment, "M9M6FJ")["bookings"]
    assert [each["status"] for each in bookings if each["journey_id"] == booked] == ["cancelled", left]


def test_hotel_nights_end_at_three(environment: Environment) -> None:
    hotel = {"confirmation_number": NUMBER, "passenger_id": "PAX001"}
    assert refused(environment, "issue_hotel_voucher", **hotel, num_nights=4) == (
        "too_many_nights",
        "exceeds_authority",
    )
    assert call(environment, "issue_hotel_voucher", **hotel, num_nights=3)["voucher_code"] == "HOTEL-ZK3FFW"
    # The database came without this table.
    vouchers = environment.databases["agent"].table("hotel_vouchers")
    assert vouchers["HOTEL-ZK3FFW"]["issued_date"] == "2026-03-17"


@pytest.mark.parametrize(
    ("reason", "amount"),
    [
        ("delay_over_2_hours", 12),
        ("delay_over_4_hours", 15),
        ("cancellation_wait_same_day", 15),
        ("irrops_overnight", 25),
    ],
)
def test_meal_vouchers_by_reason(environment: Environment, reason: str, amount: int) -> None:
    arguments = {"confirmation_number": NUMBER, "passenger_id": "PAX001", "voucher_reason": reason}
    assert call(environment, "issue_meal_voucher", **arguments)["amount"] == amount


def test_a_later_voucher_or_credit_takes_the_place_of_the_earlier(environment: Environment) -> None:
    of_passenger = {"confirmation_number": NUMBER, "passenger_id": "PAX001"}
    for amount in (50, 70):
        call(environment, "issue_travel_credit", **of_passenger, amount=amount, credit_reason="goodwill")
    (credit,) = environment.databases["agent"].table("travel_credits").values()
    assert (credit["amount"], credit["issued_date"], credit["expiry_date"]) == (70, "2026-03-17", "2027-03-17")
    assert [action["amount"] for action in environment.actions] == [50, 70]


def test_a_credit_of_the_leap_day_ends_on_the_28th(benchmarks: Path) -> None:
    domain = domains.load()["eva_airline"]
    environment = Environment(domain, domain.scenarios()[0], now="2028-02-29")
    arguments = {"confirmation_number": NUMBER, "passenger_id": "PAX001", "amount": 1, "credit_reason": "goodwill"}
    call(environment, "issue_travel_credit", **arguments)
    assert environment.databases["agent"].get("travel_credits", "TCZK3FFWPAX")["expiry_date"] == "2029-02-28"


@pytest.mark.parametrize(
    ("reason", "fee", "refund", "credit"),
    [
        ("voluntary", 100, 0, 160),
        ("medical", 100, 0, 160),
        ("irrops_refund", 0, 260, 0),
        ("24_hour_rule", 0, 260, 0),
    ],
)
def test_cancelling_a_fare_that_is_not_refundable_costs_100(
    environment: Environment, reason: str, fee: int, refund: int, credit: int
) -> None:
    arguments = {"confirmation_number": NUMBER, "journey_id": BOOKED}
    before = seats(environment, BOOKED)
    answer = call(environment, "cancel_reservation", **arguments, cancellation_reason=reason)
    assert answer["cancellation_fee"] == fee
    assert (answer["refund_amount_eligible"], answer["credit_amount_eligible"]) == (refund, credit)
    assert reservation(environment)["status"] == answer["reservation_status"] == "cancelled"
    assert seats(environment, BOOKED) == before + 1
    kinds = refused(environment, "cancel_reservation", **arguments, cancellation_reason=reason)
    assert kinds == ("journey_already_cancelled", "already_cancelled")


def test_refund_numbers_count_successful_calls(environment: Environment) -> None:
    refund = {"confirmation_number": NUMBER, "refund_amount": 10, "refund_type": "full_fare"}
    ids = [call(environment, "process_refund", **refund)["refund_id"]]
    refused(environment, "process_refund", **{**refund, "refund_amount": 0})
    refused(environment, "process_refund", **{**refund, "confirmation_number": "AAAAAA"})
    ids.append(call(environment, "process_refund", **refund)["refund_id"])
    assert ids == ["REF-ZK3FFW-001", "REF-ZK3FFW-002"]


def test_standby_lists_stand_on_both_sides(environment: Environment) -> None:
    arguments = {"confirmation_number": NUMBER.lower(), "journey_id": NEW, "passenger_ids": ["PAX001"]}
    for position in (1, 2):
        assert call(environment, "add_to_standby", **arguments)["standby_list_position"] == position
    assert [entry["position"] for entry in reservation(environment)["standby_list"]] == [1, 2]
    waiting = environment.databases["agent"].get("journeys", NEW)["standby_list"]
    assert waiting[1] == {"confirmation_number": NUMBER, "passenger_id": "PAX001", "position": 2}
    kinds = refused(environment, "add_to_standby", **{**arguments, "passenger_ids": ["PAX001", "PAX009"]})
    assert kinds == ("passenger_not_on_reservation", "passenger_not_found")


def test_a_transfer_ends_the_call_when_it_succeeds_only(environment: Environment) -> None:
    arguments = {"confirmation_number": NUMBER, "transfer_reason": "passenger_requested", "issue_summary": "x"}
    refused(environment, "transfer_to_agent", **{**arguments, "confirmation_number": "AAAAAA"})
    result = environment.call_tool("agent", "transfer_to_agent", arguments)
    assert (result.ends_call, result.changes) == ("transfer", ())
    assert result.value["transfer_id"] == "TRF-ZK3FFW-001"
    assert environment.actions == [{"action_type": "transfer_to_agent", **arguments, "side": "agent"}]


def test_records_are_flat(environment: Environment) -> None:
    call(environment, "add_baggage_allowance", confirmation_number="zk3ffw", journey_id=BOOKED, num_bags=1, extra="x")
    assert environment.actions == [
        {
            "action_type": "add_baggage_allowance",
            "confirmation_number": NUMBER,
            "journey_id": BOOKED,
            "num_bags": 1,
            "flight_number": None,
            "side": "agent",
        }
    ]


def test_ids_are_found_as_spoken_where_the_reference_finds_them(environment: Environment) -> None:
    found = call(environment, "get_reservation", confirmation_number="zk3ffw", last_name="RODRIGUEZ")
    assert found["reservation"]["confirmation_number"] == NUMBER
    status = call(environment, "get_flight_status", flight_number="sk703", flight_date="2026-03-25")
    assert status["journey"]["journey_id"] == NEW
    search = {"date": "2026-03-25", "passenger_count": 1, "fare_class": "main_cabin"}
    found = call(environment, "search_rebooking_options", origin="aus", destination="lax", **search)
    departures = [option["departure_time"] for option in found["options"]]
    assert departures == sorted(departures)
    assert len(departures) == found["count"] > 1


def test_nothing_found_is_said_so(environment: Environment) -> None:
    search = {"origin": "AUS", "destination": "JFK", "date": "2026-03-25", "passenger_count": 1, "fare_class": "any"}
    found = call(environment, "search_rebooking_options", **search)
    assert (found["options"], found["count"], found["message"]) == ([], 0, "0 flight(s) found")


def _random_call(environment: Environment, source: random.Random) -> tuple[str, dict[str, Any]]:
    """Return a call that has fair chances of success and of a refusal."""
    db = environment.databases["agent"]
    ((number, found),) = db.table("reservations").items()
    passenger = source.choice([person["passenger_id"] for person in found["passengers"]] + ["PAX7"])
    booked = source.choice(found["bookings"])["journey_id"]
    journey = source.choice(list(db.table("journeys")))
    of_journey = {"confirmation_number": number, "journey_id": source.choice([booked, booked, journey])}
    of_passenger = {"confirmation_number": number, "passenger_id": passenger}
    kind = source.choice(["voluntary", "irrops_delay", "same_day"])
    rebook = {"new_journey_id": journey, "rebooking_type": kind, "waive_change_fee": source.choice([True, False])}
    seat = {"seat_preference": source.choice(["window", "middle", "no_preference"])}
    choices: list[tuple[str, dict[str, Any]]] = [
        ("rebook_flight", {**of_journey, **rebook}),
        ("rebook_flight", {**of_journey, **rebook}),
        ("assign_seat", {**of_journey, **of_passenger, **seat}),
        ("add_baggage_allowance", {**of_journey, "num_bags": source.randrange(7)}),
        ("add_meal_request", {**of_journey, **of_passenger, "meal_type": "vegan"}),
        ("cancel_reservation", {**of_journey, "cancellation_reason": "voluntary"}),
        ("add_to_standby", {"confirmation_number": number, "journey_id": journey, "passenger_ids": [passenger]}),
        ("process_refund", {"confirmation_number": number, "refund_amount": 5, "refund_type": "taxes_only"}),
        ("issue_hotel_voucher", {**of_passenger, "num_nights": source.randrange(5)}),
        ("issue_meal_voucher", {**of_passenger, "voucher_reason": "irrops_overnight"}),
    ]
    return source.choice(choices)


@pytest.mark.parametrize("number", range(20))
def test_any_history_can_be_rebuilt_from_its_changes(benchmarks: Path, number: int) -> None:
    source = random.Random(number)
    scenarios = domains.load()["eva_airline"].scenarios()
    environment = desk(source.choice(scenarios).task_id)
    database = environment.databases["agent"]
    rebuilt = Overlay(database.seed)
    for _ in range(20):
        before = database.hash
        tool, arguments = _random_call(environment, source)
        result = environment.call_tool("agent", tool, arguments)
        assert result.error != "tool_failed"
        if not result.ok:
            assert (result.changes, database.hash) == ((), before)
        rebuilt.apply(Change.from_json(change) for change in result.changes)
        assert rebuilt.hash == database.hash
    assert database.hash == canonical_hash(database.to_json())


def test_a_scenario_without_its_gold_leaves_nothing_behind(benchmarks: Path) -> None:
    domain = domains.load()["eva_airline"]
    spec = replace(domain.scenarios()[0], gold_actions=())
    environment = Environment(domain, spec)
    assert environment.databases["agent"].hash == domain.seeds(spec)["agent"].hash
