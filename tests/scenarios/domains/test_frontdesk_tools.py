"""The front desk's tools: what they do, what they refuse, and that a refusal changes nothing."""

from typing import Any

import pytest

from scenarios.domains import load
from scenarios.domains.base import Fidelity, ToolResult
from scenarios.domains.environment import Environment

DOMAIN = load()["frontdesk"]
SPEC = DOMAIN.scenarios()[0]


def desk(fidelity: Fidelity = "canonical") -> Environment:
    return Environment(DOMAIN, SPEC, fidelity)


def use(environment: Environment, tool: str, **arguments: Any) -> ToolResult:
    return environment.call_tool("agent", tool, arguments)


def reservation(environment: Environment, key: str) -> Any:
    return environment.databases["agent"].get("reservations", key)


def test_a_guest_is_found_by_name_and_digits_with_all_reservations() -> None:
    found = use(desk(), "find_guest", last_name="raman", phone_last_four="1190")

    assert found.ok
    assert found.value["guest_id"] == "priya_raman"
    assert found.value["reservation_ids"] == ["LH108", "LH109"]


@pytest.mark.parametrize(("name", "digits"), [("Raman", "1191"), ("Ramen", "1190")])
def test_half_an_identity_is_none(name: str, digits: str) -> None:
    assert use(desk(), "find_guest", last_name=name, phone_last_four=digits).error == "guest_not_found"


@pytest.mark.parametrize("spoken", ["LH104", "lh104", "l h 1 0 4", "LH-104"])
def test_a_reservation_is_found_as_it_is_spoken(spoken: str) -> None:
    assert use(desk(), "get_reservation", reservation_id=spoken).value["guest_id"] == "rosa_quintero"


def test_what_is_recorded_has_the_databases_spelling_or_the_spoken_one() -> None:
    canonical, reference = desk(), desk("reference")
    for environment in (canonical, reference):
        assert use(environment, "add_breakfast", reservation_id="l h 101").ok

    assert canonical.actions[0]["arguments"] == {"reservation_id": "LH101"}
    assert reference.actions[0]["arguments"] == {"reservation_id": "l h 101"}


def test_availability_counts_only_stays_that_overlap() -> None:
    environment = desk()
    during = use(environment, "check_availability", room_type="double", arrival="2026-03-19", departure="2026-03-21")
    after = use(environment, "check_availability", room_type="double", arrival="2026-03-23", departure="2026-03-25")

    assert during.value == {"price_per_night": 120.0, "free_rooms": ["202", "203", "204"]}
    assert after.value["free_rooms"] == ["201", "202", "203", "204", "205"]


def test_a_bill_adds_nights_and_charges() -> None:
    bill = use(desk(), "get_bill", reservation_id="LH105").value

    assert bill == {"nights": 3, "room": 240.0, "charges": 54.4, "total": 294.4}


def test_breakfast_is_charged_once() -> None:
    environment = desk()
    first = use(environment, "add_breakfast", reservation_id="LH101")
    second = use(environment, "add_breakfast", reservation_id="LH101")

    assert reservation(environment, "LH101")["charges"] == {
        "C1": {"what": "breakfast", "amount": 87.0, "card_id": "card_4417"}
    }
    assert first.action is not None
    assert first.action["result"] == {"reservation_id": "LH101", "charged": 87.0}
    assert second.is_noop
    assert len(environment.actions) == 1


def test_an_upgrade_charges_the_difference_and_moves_the_guest() -> None:
    environment = desk()
    assert use(environment, "upgrade_room", reservation_id="LH108", room_type="double").ok
    assert use(environment, "upgrade_room", reservation_id="LH108", room_type="suite").ok

    stay = reservation(environment, "LH108")
    assert (stay["room_type"], stay["room"]) == ("suite", "301")
    assert [charge["amount"] for charge in stay["charges"].values()] == [80.0, 180.0]


def test_a_late_check_out_costs_what_the_policy_says() -> None:
    environment = desk()
    charged = [
        use(environment, "set_late_checkout", reservation_id=key, time=time).action
        for key, time in (("LH102", "13:00"), ("LH102", "15:00"), ("LH101", "13:00"))
    ]

    assert [action and action["result"]["charged"] for action in charged] == [0.0, 35.0, 20.0]


def test_a_move_keeps_the_room_where_it_can() -> None:
    environment = desk()
    assert use(environment, "change_dates", reservation_id="LH106", arrival="2026-05-11", departure="2026-05-13").ok
    assert reservation(environment, "LH106")["room"] == "204"
    # Another guest has room 201 in these nights.
    assert use(environment, "change_dates", reservation_id="LH101", arrival="2026-04-21", departure="2026-04-23").ok
    assert reservation(environment, "LH101")["room"] == "202"


def test_a_cancelled_room_is_free_again() -> None:
    environment = desk()
    stay = {"room_type": "single", "arrival": "2026-03-25", "departure": "2026-03-27"}
    before = use(environment, "check_availability", **stay).value["free_rooms"]
    use(environment, "cancel_reservation", reservation_id="LH108", reason="illness")
    after = use(environment, "check_availability", **stay).value["free_rooms"]

    assert set(after) - set(before) == {"103"}
    assert reservation(environment, "LH108")["cancel_reason"] == "illness"


def test_a_refund_goes_to_the_card_that_paid_once() -> None:
    environment = desk()
    use(environment, "refund_charge", reservation_id="LH105", charge_id="C1")
    again = use(environment, "refund_charge", reservation_id="LH105", charge_id="C1")

    refund = {"what": "refund", "amount": -18.4, "card_id": "card_8846", "refund_of": "C1"}
    assert reservation(environment, "LH105")["charges"]["C3"] == refund
    assert again.error == "already_refunded"


def test_a_hand_over_is_recorded_and_ends_the_call() -> None:
    environment = desk()
    result = use(environment, "transfer_to_manager", topic="complaint")

    assert result.ends_call == "transfer"
    assert environment.actions[0]["result"] == {"topic": "complaint"}
    assert environment.databases["agent"].hash == DOMAIN.seeds(SPEC)["agent"].hash


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("get_reservation", {"reservation_id": "LH999"}, "reservation_not_found"),
        ("get_bill", {"reservation_id": ""}, "reservation_not_found"),
        ("change_dates", {"reservation_id": "LH103", "arrival": "2026-04-01", "departure": "2026-04-03"}, "saver_rate"),
        (
            "change_dates",
            {"reservation_id": "LH102", "arrival": "2026-04-01", "departure": "2026-04-03"},
            "wrong_status",
        ),
        ("change_dates", {"reservation_id": "LH106", "arrival": "2026-05-19", "departure": "2026-05-17"}, "no_night"),
        (
            "change_dates",
            {"reservation_id": "LH106", "arrival": "2026-03-01", "departure": "2026-03-03"},
            "date_in_the_past",
        ),
        ("upgrade_room", {"reservation_id": "LH104", "room_type": "single"}, "not_an_upgrade"),
        ("upgrade_room", {"reservation_id": "LH104", "room_type": "double"}, "not_an_upgrade"),
        ("upgrade_room", {"reservation_id": "LH107", "room_type": "suite"}, "wrong_status"),
        ("add_breakfast", {"reservation_id": "LH107"}, "wrong_status"),
        ("cancel_reservation", {"reservation_id": "LH103", "reason": "illness"}, "saver_rate"),
        ("cancel_reservation", {"reservation_id": "LH105", "reason": "illness"}, "wrong_status"),
        ("refund_charge", {"reservation_id": "LH107", "charge_id": "C1"}, "not_refundable"),
        ("refund_charge", {"reservation_id": "LH105", "charge_id": "C9"}, "charge_not_found"),
    ],
)
def test_a_refusal_names_its_kind_and_changes_nothing(tool: str, arguments: dict[str, Any], error: str) -> None:
    environment = desk()
    result = use(environment, tool, **arguments)

    assert (result.ok, result.error) == (False, error)
    assert result.for_model["message"]
    assert environment.actions == []
    assert environment.databases["agent"].hash == DOMAIN.seeds(SPEC)["agent"].hash


def test_a_second_late_check_out_that_is_no_later_is_refused() -> None:
    environment = desk()
    use(environment, "set_late_checkout", reservation_id="LH101", time="15:00")

    assert use(environment, "set_late_checkout", reservation_id="LH101", time="13:00").error == "already_late"


def test_a_stay_with_extras_keeps_its_length() -> None:
    environment = desk()
    use(environment, "add_breakfast", reservation_id="LH106")
    longer = use(environment, "change_dates", reservation_id="LH106", arrival="2026-05-10", departure="2026-05-13")
    moved = use(environment, "change_dates", reservation_id="LH106", arrival="2026-05-11", departure="2026-05-13")

    assert longer.error == "extras_booked"
    assert moved.ok


def test_a_room_type_that_is_booked_out_is_refused() -> None:
    environment = desk()
    for key in ("LH101", "LH111", "LH113"):
        use(environment, "change_dates", reservation_id=key, arrival="2026-06-01", departure="2026-06-03")
    for key in ("LH104", "LH106"):
        result = use(environment, "change_dates", reservation_id=key, arrival="2026-06-02", departure="2026-06-04")

    assert result.error == "no_room_free"


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("find_guest", {"last_name": "Raman", "phone_last_four": "119"}, "phone_last_four"),
        ("check_availability", {"room_type": "cave", "arrival": "2026-03-19", "departure": "2026-03-21"}, "room_type"),
        ("change_dates", {"reservation_id": "LH106", "arrival": "2026-02-31", "departure": "2026-03-03"}, "arrival"),
        ("cancel_reservation", {"reservation_id": "LH108", "reason": "boredom"}, "reason"),
        ("add_breakfast", {"reservation_id": "LH101", "guests": 2}, "guests"),
    ],
)
def test_wrong_arguments_are_named(tool: str, arguments: dict[str, Any], field: str) -> None:
    result = use(desk(), tool, **arguments)

    assert result.error == "invalid_arguments"
    assert [path for path, _ in result.invalid_fields] == [field]
