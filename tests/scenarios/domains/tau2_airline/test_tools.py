"""The airline's tools beyond the vectors: the facts that reference-system.md 10 names, and canonical spelling."""

import random
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from scenarios import domains
from scenarios.domains.base import Fidelity, ToolResult
from scenarios.domains.environment import Environment
from scenarios.state.canonical import canonical_hash
from scenarios.state.changes import Change
from scenarios.state.overlay import Overlay

SEED_HASH = "4da8c3f8adaffe176a9daaa5f20658bb9b36cd945733ab8f9ecf2e8bcbaabcc8"
USER, GIFT_CARD, CREDIT_CARD = "harper_johnson_9249", "gift_card_5535249", "credit_card_6678874"
CERTIFICATE = "certificate_8992739"  # holds 100 dollars; the gift card 290
FLIGHT, DAY, FARE = "HAT054", "2024-05-18", 296  # from MSP to MCO, in business
# One passenger, one leg in economy, paid with 198 dollars of a gift card; the same leg costs 79 in basic economy.
PAID_BY_GIFT_CARD = "JEPRZB"
TWO = [
    {"first_name": "Ana", "last_name": "Lund", "dob": "1992-02-10"},
    {"first_name": "Chen", "last_name": "Lund", "dob": "1978-05-10"},
]


def desk(fidelity: Fidelity = "canonical") -> Environment:
    domain = domains.load()["tau2_airline"]
    return Environment(domain, domain.scenarios()[0], fidelity)


@pytest.fixture
def environment(benchmarks: Path) -> Environment:
    return desk()


def call(environment: Environment, tool: str, **arguments: Any) -> Any:
    """Call an agent's tool that must succeed; return its value."""
    result = environment.call_tool("agent", tool, arguments)
    assert result.ok, result.for_model
    return result.value


def book(environment: Environment, *payments: tuple[str, int], **other: Any) -> ToolResult:
    """Book the flight for two; any argument can be another one."""
    arguments = {
        "user_id": USER,
        "origin": "MSP",
        "destination": "MCO",
        "flight_type": "one_way",
        "cabin": "business",
        "flights": [{"flight_number": FLIGHT, "date": DAY}],
        "passengers": TWO,
        "payment_methods": [{"payment_id": name, "amount": amount} for name, amount in payments],
        "total_baggages": 0,
        "nonfree_baggages": 0,
        "insurance": "no",
    }
    return environment.call_tool("agent", "book_reservation", {**arguments, **other})


def record(environment: Environment, table: str, key: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = environment.databases["agent"].get(table, key)
    return found


def methods(environment: Environment, user_id: str = USER) -> Mapping[str, Any]:
    found: Mapping[str, Any] = record(environment, "users", user_id)["payment_methods"]
    return found


def seats(environment: Environment) -> int:
    found: int = record(environment, "flights", FLIGHT)["dates"][DAY]["available_seats"]["business"]
    return found


def test_the_untouched_database_has_the_reference_hash(environment: Environment) -> None:
    assert environment.databases["agent"].hash == SEED_HASH


def test_ids_are_found_as_spoken(environment: Environment) -> None:
    assert call(environment, "get_user_details", user_id="Harper_JOHNSON_9249")["user_id"] == USER
    assert call(environment, "get_reservation_details", reservation_id="jeprzb")["reservation_id"] == PAID_BY_GIFT_CARD
    status = call(environment, "get_flight_status", flight_number="hat054", date=DAY)
    assert status["flight_status"] == "available"


@pytest.mark.parametrize("spoken", ["jepr zb", "#JEPRZB", "JEPRZB ", "J-E-P-R-Z-B", ""])
def test_nothing_else_of_an_id_is_mended(environment: Environment, spoken: str) -> None:
    result = environment.call_tool("agent", "get_reservation_details", {"reservation_id": spoken})
    assert (result.error, result.error_type) == ("reservation_not_found", "not_found")


@pytest.mark.parametrize(
    ("other", "total"),
    [
        ({}, 2 * FARE),
        ({"insurance": "yes"}, 2 * FARE + 60),
        ({"total_baggages": 5, "nonfree_baggages": 3}, 2 * FARE + 150),
        ({"insurance": "yes", "total_baggages": 1, "nonfree_baggages": 1}, 2 * FARE + 60 + 50),
        ({"passengers": TWO[:1], "insurance": "yes"}, FARE + 30),
    ],
)
def test_a_booking_costs_fares_insurance_and_bags(benchmarks: Path, other: dict[str, Any], total: int) -> None:
    for wrong in (total - 1, total + 1):
        environment = desk()
        refused = book(environment, (CREDIT_CARD, wrong), **other)
        assert (refused.error, refused.error_type, refused.changes) == ("payment_total_mismatch", "value_error", ())
        assert (environment.actions, environment.databases["agent"].hash) == ([], SEED_HASH)
    assert book(desk(), (CREDIT_CARD, total), **other).ok


def test_a_booking_takes_seats_and_is_in_the_profile(environment: Environment) -> None:
    before = seats(environment)
    booked = book(environment, (CREDIT_CARD, 2 * FARE)).value
    assert seats(environment) == before - 2
    assert record(environment, "users", USER)["reservations"][-1] == "HATHAT"
    assert record(environment, "reservations", "HATHAT") == booked
    assert (booked["created_at"], booked["status"]) == ("2024-05-15T15:00:00", None)
    assert environment.actions[0]["result"] == {"reservation_id": "HATHAT"}


def test_a_certificate_is_used_up_whole_and_a_gift_card_in_part(environment: Environment) -> None:
    assert book(environment, (CERTIFICATE, 60), (GIFT_CARD, 200), (CREDIT_CARD, 2 * FARE - 260)).ok
    assert CERTIFICATE not in methods(environment)
    assert methods(environment)[GIFT_CARD]["amount"] == 90
    assert methods(environment)[CREDIT_CARD] == record(desk(), "users", USER)["payment_methods"][CREDIT_CARD]


@pytest.mark.parametrize(
    ("payments", "kind"),
    [
        ([(CERTIFICATE, 101), (CREDIT_CARD, 2 * FARE - 101)], "payment_balance_too_low"),
        ([(GIFT_CARD, 291), (CREDIT_CARD, 2 * FARE - 291)], "payment_balance_too_low"),
        ([("paypal_1", 2 * FARE)], "payment_method_not_found"),
        ([(CERTIFICATE, 50), (CERTIFICATE, 50), (CREDIT_CARD, 2 * FARE - 100)], "payment_method_not_found"),
        ([], "payment_total_mismatch"),
    ],
)
def test_a_payment_that_is_refused_changes_nothing(
    environment: Environment, payments: list[tuple[str, int]], kind: str
) -> None:
    assert book(environment, *payments).error == kind
    assert (environment.actions, environment.databases["agent"].hash) == ([], SEED_HASH)


def test_reservation_ids_come_from_a_list_of_three(environment: Environment) -> None:
    booked = [book(environment, (CREDIT_CARD, 2 * FARE)) for _ in range(4)]
    assert [result.value and result.value["reservation_id"] for result in booked] == [
        "HATHAT",
        "HATHAU",
        "HATHAV",
        None,
    ]
    assert (booked[3].error, booked[3].error_type) == ("reservation_ids_exhausted", "value_error")


def test_certificate_ids_come_from_a_list_of_three_for_each_user(environment: Environment) -> None:
    sent = [environment.call_tool("agent", "send_certificate", {"user_id": USER, "amount": 10}) for _ in range(4)]
    assert [result.error for result in sent] == [None, None, None, "certificate_ids_exhausted"]
    assert environment.call_tool("agent", "send_certificate", {"user_id": "mia_muller_3268", "amount": 10}).ok
    assert methods(environment)["certificate_3221324"] == {
        "source": "certificate",
        "id": "certificate_3221324",
        "amount": 10.0,
    }
    assert environment.actions[0]["result"] == {"payment_id": "certificate_3221322", "amount": 10}


def test_cancelling_notes_the_refunds_and_gives_nothing_else_back(environment: Environment) -> None:
    assert book(environment, (CERTIFICATE, 100), (GIFT_CARD, 200), (CREDIT_CARD, 2 * FARE - 300)).ok
    taken = seats(environment)
    cancelled = call(environment, "cancel_reservation", reservation_id="HATHAT")
    assert cancelled["status"] == "cancelled"
    amounts = [entry["amount"] for entry in cancelled["payment_history"]]
    assert amounts == [100, 200, 292, -100, -200, -292]
    assert seats(environment) == taken
    assert methods(environment)[GIFT_CARD]["amount"] == 90
    assert CERTIFICATE not in methods(environment)


def test_cancelling_twice_reverses_the_refunds_again(environment: Environment) -> None:
    call(environment, "cancel_reservation", reservation_id=PAID_BY_GIFT_CARD)
    again = call(environment, "cancel_reservation", reservation_id=PAID_BY_GIFT_CARD)
    assert [entry["amount"] for entry in again["payment_history"]] == [198, -198, -198, 198]


UPDATES: dict[str, dict[str, Any]] = {
    "update_reservation_baggages": {"total_baggages": 3, "nonfree_baggages": 0},
    "update_reservation_flights": {
        "cabin": "business",
        "flights": [
            {"flight_number": "HAT286", "date": "2024-05-25"},
            {"flight_number": "HAT154", "date": "2024-05-26"},
        ],
    },
}


@pytest.mark.parametrize("tool", UPDATES)
def test_a_certificate_pays_for_no_change_not_even_a_free_one(environment: Environment, tool: str) -> None:
    arguments = {"reservation_id": "V7NBLQ", **UPDATES[tool]}
    refused = environment.call_tool("agent", tool, {**arguments, "payment_id": "certificate_4174955"})
    assert (refused.error, refused.error_type) == ("certificate_not_accepted", "value_error")
    assert call(environment, tool, **arguments, payment_id="gift_card_3757163")["reservation_id"] == "V7NBLQ"
    assert environment.actions[0]["result"] == {"reservation_id": "V7NBLQ", "charged": 0}


def test_a_cheaper_flight_fills_up_a_gift_card(environment: Environment) -> None:
    arguments = {"cabin": "basic_economy", "flights": [{"flight_number": "HAT208", "date": "2024-05-19"}]}
    changed = call(
        environment,
        "update_reservation_flights",
        reservation_id=PAID_BY_GIFT_CARD,
        payment_id="gift_card_9402900",
        **arguments,
    )
    assert changed["payment_history"][-1] == {"payment_id": "gift_card_9402900", "amount": 79 - 198}
    assert methods(environment, "anya_brown_2655")["gift_card_9402900"]["amount"] == 286 + 198 - 79
    assert environment.actions[0]["result"]["charged"] == 79 - 198


def test_bags_are_charged_when_there_are_more_of_them(environment: Environment) -> None:
    bags = {"reservation_id": PAID_BY_GIFT_CARD, "payment_id": "gift_card_6115345"}
    more = call(environment, "update_reservation_baggages", **bags, total_baggages=3, nonfree_baggages=2)
    assert more["payment_history"][-1] == {"payment_id": "gift_card_6115345", "amount": 100}
    fewer = call(environment, "update_reservation_baggages", **bags, total_baggages=1, nonfree_baggages=0)
    assert (fewer["payment_history"], fewer["total_baggages"]) == (more["payment_history"], 1)
    refused = environment.call_tool(
        "agent", "update_reservation_baggages", {**bags, "total_baggages": 4, "nonfree_baggages": 4}
    )
    assert refused.error == "gift_card_balance_too_low"


def test_the_number_of_passengers_stays(environment: Environment) -> None:
    refused = environment.call_tool(
        "agent", "update_reservation_passengers", {"reservation_id": PAID_BY_GIFT_CARD, "passengers": TWO}
    )
    assert refused.error == "passenger_count_changed"
    arguments = {"reservation_id": PAID_BY_GIFT_CARD, "passengers": TWO[:1]}
    assert call(environment, "update_reservation_passengers", **arguments)["passengers"] == TWO[:1]


def test_a_connection_over_midnight_goes_on_the_next_day(environment: Environment) -> None:
    found = call(environment, "search_onestop_flight", origin="PHX", destination="LAS", date="2024-05-17")
    overnight = [pair for pair in found["onestop_flights"] if pair[0]["date"] != pair[1]["date"]]
    assert overnight
    for first, second in overnight:
        assert first["scheduled_arrival_time_est"].endswith("+1")
        assert (first["date"], second["date"]) == ("2024-05-17", "2024-05-18")
        assert second["scheduled_departure_time_est"] >= first["scheduled_arrival_time_est"]


SPOKEN = {
    "user_id": USER.upper(),
    "origin": "msp",
    "destination": "Nowhere",
    "flights": [{"flight_number": FLIGHT.lower(), "date": DAY}],
}
CANONICAL = {**SPOKEN, "user_id": USER, "origin": "MSP", "flights": [{"flight_number": FLIGHT, "date": DAY}]}


@pytest.mark.parametrize(("fidelity", "spelled"), [("canonical", CANONICAL), ("reference", SPOKEN)])
def test_a_booking_is_stored_and_recorded_in_the_databases_spelling(
    benchmarks: Path, fidelity: Fidelity, spelled: dict[str, Any]
) -> None:
    environment = desk(fidelity)
    stored = book(environment, (CREDIT_CARD, 2 * FARE), **SPOKEN).value
    (action,) = environment.actions
    assert {name: action["arguments"][name] for name in spelled} == spelled
    assert {name: stored[name] for name in ("user_id", "origin", "destination")} == {
        name: spelled[name] for name in ("user_id", "origin", "destination")
    }
    assert stored["flights"][0]["flight_number"] == spelled["flights"][0]["flight_number"]


def test_how_an_id_was_spoken_does_not_fail_a_booking(benchmarks: Path) -> None:
    right, spoken, reference = desk(), desk(), desk("reference")
    assert book(right, (CREDIT_CARD, 2 * FARE)).ok
    for environment in (spoken, reference):
        assert book(environment, (CREDIT_CARD, 2 * FARE), **{**SPOKEN, "destination": "MCO"}).ok
    assert spoken.databases["agent"].hash == right.databases["agent"].hash
    assert reference.databases["agent"].hash != right.databases["agent"].hash


@pytest.mark.parametrize(("fidelity", "spelled"), [("canonical", PAID_BY_GIFT_CARD), ("reference", "jeprzb")])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("cancel_reservation", {}),
        ("update_reservation_passengers", {"passengers": TWO[:1]}),
        (
            "update_reservation_baggages",
            {"total_baggages": 1, "nonfree_baggages": 0, "payment_id": "gift_card_6115345"},
        ),
    ],
)
def test_the_record_of_a_change_names_the_reservation(
    benchmarks: Path, fidelity: Fidelity, spelled: str, tool: str, arguments: dict[str, Any]
) -> None:
    environment = desk(fidelity)
    call(environment, tool, reservation_id="jeprzb", **arguments)
    (action,) = environment.actions
    assert action["arguments"]["reservation_id"] == action["result"]["reservation_id"] == spelled
    assert record(environment, "reservations", PAID_BY_GIFT_CARD)["reservation_id"] == PAID_BY_GIFT_CARD


@pytest.mark.parametrize(("fidelity", "charged"), [("canonical", 0), ("reference", 131 - 198)])
def test_a_leg_that_stays_keeps_its_fare_however_its_number_was_spoken(
    benchmarks: Path, fidelity: Fidelity, charged: int
) -> None:
    environment = desk(fidelity)
    call(
        environment,
        "update_reservation_flights",
        reservation_id=PAID_BY_GIFT_CARD,
        cabin="economy",
        flights=[{"flight_number": "hat208", "date": "2024-05-19"}],
        payment_id="gift_card_9402900",
    )
    assert environment.actions[0]["result"]["charged"] == charged


def test_what_was_handed_out_does_not_change_afterwards(environment: Environment) -> None:
    before = call(environment, "get_reservation_details", reservation_id=PAID_BY_GIFT_CARD)
    text = str(before)
    call(environment, "cancel_reservation", reservation_id=PAID_BY_GIFT_CARD)
    assert str(before) == text


def _random_call(environment: Environment, source: random.Random) -> tuple[str, dict[str, Any]]:
    """Return a call on a random reservation that has fair chances of success and of every refusal."""
    db = environment.databases["agent"]
    found = db.get("reservations", source.choice(list(db.table("reservations"))))
    user = db.get("users", found["user_id"])
    flights = [{"flight_number": leg["flight_number"], "date": leg["date"]} for leg in found["flights"]]
    flights[0]["date"] = source.choice([flights[0]["date"], "2024-05-20", "2024-06-01"])
    cabin = source.choice(["business", "economy", "basic_economy"])
    method = source.choice([*user["payment_methods"], "paypal_0"])
    price = source.choice([0, 100, 300])
    of_reservation, of_user = {"reservation_id": found["reservation_id"]}, {"user_id": user["user_id"]}
    bags = {"total_baggages": source.randrange(4), "nonfree_baggages": source.randrange(3)}
    booking = {
        "origin": found["origin"],
        "destination": found["destination"],
        "flight_type": "one_way",
        "cabin": cabin,
        "flights": flights[: source.randrange(2)],
        "passengers": found["passengers"][: source.randrange(2)],
        "payment_methods": [{"payment_id": method, "amount": price}] if price else [],
        "insurance": "no",
    }
    choices: list[tuple[str, dict[str, Any]]] = [
        ("book_reservation", {**of_user, **booking, **bags}),
        ("cancel_reservation", of_reservation),
        ("send_certificate", {**of_user, "amount": price}),
        ("update_reservation_baggages", {**of_reservation, **bags, "payment_id": method}),
        ("update_reservation_flights", {**of_reservation, "cabin": cabin, "flights": flights, "payment_id": method}),
        ("update_reservation_passengers", {**of_reservation, "passengers": found["passengers"][:2]}),
        ("get_user_details", of_user),
    ]
    return source.choice(choices)


@pytest.mark.parametrize("number", range(20))
def test_any_history_can_be_rebuilt_from_its_changes(benchmarks: Path, number: int) -> None:
    source = random.Random(number)
    environment = desk()
    database = environment.databases["agent"]
    rebuilt = Overlay(database.seed)
    for _ in range(12):
        before = database.hash
        tool, arguments = _random_call(environment, source)
        result = environment.call_tool("agent", tool, arguments)
        if not result.ok or tool.startswith("get"):
            assert (result.changes, database.hash) == ((), before)
        rebuilt.apply(Change.from_json(change) for change in result.changes)
        assert rebuilt.hash == database.hash
    assert database.hash == canonical_hash(database.to_json())
    assert database.seed.hash == SEED_HASH


def test_a_call_adds_less_than_five_megabytes(environment: Environment) -> None:
    assert environment.databases["agent"].hash == SEED_HASH
    assert book(environment, (CREDIT_CARD, 2 * FARE)).ok
    assert environment.databases["agent"].hash != SEED_HASH
    tracemalloc.start()
    try:
        other = desk()
        assert book(other, (CREDIT_CARD, 2 * FARE)).ok
        assert other.databases["agent"].hash == environment.databases["agent"].hash
        added, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert added < 5_000_000
