"""What one side learns of the other: after initialisation and after every action, in both directions."""

import pytest

from scenarios.domains.base import InitAction
from tests.scenarios.domains.tau2_telecom.worlds import JOHN, LINE, device, does, record, step, surroundings, world

USED_UP = step("set_data_usage", "agent", **LINE, data_used_gb=15.1)
OVERDUE = step("suspend_line_for_overdue_bill", "agent", **LINE, new_bill_id="B1234321")

pytestmark = pytest.mark.usefixtures("benchmarks")


def test_usage_over_the_limit_is_known_before_the_first_turn() -> None:
    call = world(JOHN, USED_UP)
    assert surroundings(call)["mobile_data_usage_exceeded"] is True
    assert "No Connection" in does(call, "run_speed_test").value
    at_the_limit = step("set_data_usage", "agent", **LINE, data_used_gb=15)
    assert surroundings(world(JOHN, at_the_limit))["mobile_data_usage_exceeded"] is True


def test_a_refuel_past_the_limit_clears_it_and_searches_again() -> None:
    call = world(JOHN, USED_UP)
    does(call, "refuel_data", "agent", **LINE, gb_amount=0.1)
    assert surroundings(call)["mobile_data_usage_exceeded"] is True
    does(call, "refuel_data", "agent", **LINE, gb_amount=1)
    assert surroundings(call)["mobile_data_usage_exceeded"] is False
    assert device(call)["network_signal_strength"] == "excellent"


def test_a_payment_goes_round_both_sides() -> None:
    call = world(JOHN, OVERDUE)
    assert device(call)["network_connection_status"] == "no_service"
    does(call, "send_payment_request", "agent", customer_id="C1001", bill_id="B1234321")
    assert surroundings(call)["payment_request"] == {"bill_id": "B1234321", "amount_due": 65.0, "paid": False}
    assert "B1234321" in does(call, "check_payment_request").value
    does(call, "make_payment")
    assert record(call, "B1234321")["status"] == "Paid"
    assert surroundings(call)["payment_request"] is None
    does(call, "resume_line", "agent", **LINE)
    assert surroundings(call)["line_active"] is True
    assert device(call)["network_connection_status"] == "connected"


def test_the_changes_of_a_sync_name_both_sides_and_come_once() -> None:
    call = world(JOHN, OVERDUE)
    call.call_tool("agent", "send_payment_request", {"customer_id": "C1001", "bill_id": "B1234321"})
    changes = call.sync()
    assert {(change["side"], *change["path"]) for change in changes} == {("user", "surroundings", "payment_request")}
    assert call.sync() == []
    call.call_tool("user", "make_payment", {})
    assert {change["side"] for change in call.sync()} == {"agent", "user"}
    assert call.sync() == []


def test_a_request_that_is_paid_makes_room_for_the_next_one() -> None:
    """The tools allow one open request; a database that holds two is worked off in the customer's order."""
    call = world(JOHN)
    for bill_id, at in (("B1002", 1), ("B1003", 2)):
        with call.databases["agent"].transaction():
            call.databases["agent"].edit("bills", at)["status"] = "Awaiting Payment"
        call.sync()
        assert surroundings(call)["payment_request"]["bill_id"] == "B1002", bill_id
    does(call, "make_payment")
    assert surroundings(call)["payment_request"]["bill_id"] == "B1003"


@pytest.mark.parametrize(
    "steps", [(), (InitAction("set_user_info", {"name": "X", "phone_number": "000"}, "user"),)], ids=["none", "unknown"]
)
def test_without_a_line_for_the_number_nothing_happens(steps: tuple[InitAction, ...]) -> None:
    call = world(*steps)
    before = call.databases["user"].hash
    does(call, "suspend_line", "agent", **LINE, reason="asked")
    assert call.databases["user"].hash == before


def test_another_customers_line_does_not_matter() -> None:
    call = world(JOHN)
    before = call.databases["user"].hash
    does(call, "suspend_line", "agent", customer_id="C1002", line_id="L1004", reason="asked")
    does(call, "send_payment_request", "agent", customer_id="C1002", bill_id="B1005")
    assert call.databases["user"].hash == before
