"""The provider's tools: what they check, change and record."""

import pytest

from scenarios.domains.environment import Environment
from scenarios.sides import Side
from tests.scenarios.domains.tau2_telecom.worlds import JOHN, LINE, does, record, step, tries, world

pytestmark = pytest.mark.usefixtures("benchmarks")


def refused(call: Environment, tool: str, **arguments: object) -> str | None:
    """Return the failure kind of an agent's call that must leave everything as it was."""
    before = {side: database.hash for side, database in call.databases.items()}
    recorded = len(call.actions)
    result = tries(call, tool, "agent", **arguments)
    assert not result.ok
    assert result.for_model["status"] == "error"
    assert ({side: database.hash for side, database in call.databases.items()}, len(call.actions)) == (before, recorded)
    return result.error


@pytest.mark.parametrize("number", ["555-123-2001", "555-123-2002"])
def test_a_customer_is_found_by_any_of_their_numbers(number: str) -> None:
    assert does(world(), "get_customer_by_phone", "agent", phone_number=number).value["customer_id"] == "C1001"


def test_names_are_found_in_any_case_and_dates_are_exact() -> None:
    (found,) = does(world(), "get_customer_by_name", "agent", full_name="JOHN smith", dob="1985-06-15").value
    assert found["customer_id"] == "C1001"
    nobody = does(world(), "get_customer_by_name", "agent", full_name="John Smith", dob="1985-6-15")
    assert nobody.is_empty
    assert nobody.for_model["results"] == []


@pytest.mark.parametrize(
    ("tool", "arguments", "kind"),
    [
        ("get_customer_by_phone", {"phone_number": "5551232002"}, "customer_not_found"),
        ("get_customer_by_id", {"customer_id": "c1001"}, "customer_not_found"),
        ("get_details_by_id", {"id": "l1002"}, "unknown_id_prefix"),
        ("get_details_by_id", {"id": ""}, "unknown_id_prefix"),
        ("get_details_by_id", {"id": "L1002 "}, "object_not_found"),
        ("get_data_usage", {"customer_id": "C1001", "line_id": "L1004"}, "line_not_owned"),
        ("suspend_line", {"customer_id": "C1001", "line_id": "L1003", "reason": "asked"}, "line_not_active"),
        ("resume_line", LINE, "line_not_suspended"),
        ("enable_roaming", {"customer_id": "C9999", "line_id": "L1002"}, "customer_not_found"),
        ("send_payment_request", {"customer_id": "C1001", "bill_id": "B1005"}, "bill_not_owned"),
        ("refuel_data", {**LINE, "gb_amount": 0}, "amount_not_positive"),
        ("refuel_data", {**LINE, "gb_amount": -1}, "amount_not_positive"),
        ("refuel_data", {**LINE, "gb_amount": "two"}, "invalid_arguments"),
        ("refuel_data", {**LINE, "gb_amount": 1, "free": True}, "invalid_arguments"),
    ],
)
def test_a_refusal_changes_and_records_nothing(tool: str, arguments: dict[str, object], kind: str) -> None:
    assert refused(world(JOHN), tool, **arguments) == kind


@pytest.mark.parametrize(
    ("side", "tool", "arguments", "named"),
    [
        ("agent", "refuel_data", {**LINE, "gb_amount": "two"}, "gb_amount"),
        ("agent", "get_details_by_id", {}, "id"),
        ("agent", "transfer_to_human_agents", {"summary": 5}, "summary"),
        ("user", "toggle_data", {"on": True}, "on"),
        ("user", "set_apn_settings", {"apn_settings": {"user": "x"}}, "apn_settings.user"),
    ],
)
def test_arguments_that_do_not_fit_are_told_in_a_text_alone(
    side: Side, tool: str, arguments: dict[str, object], named: str
) -> None:
    answer = tries(world(JOHN), tool, side, **arguments).for_model
    assert sorted(answer) == ["error_type", "message", "status"]
    assert answer["error_type"] == "invalid_arguments"
    assert named in answer["message"]


@pytest.mark.parametrize("amount", ["nan", "inf", float("inf")])
def test_an_amount_that_no_bill_can_hold_is_refused(amount: object) -> None:
    assert refused(world(JOHN), "refuel_data", **LINE, gb_amount=amount) == "invalid_arguments"


def test_suspending_and_resuming_a_line() -> None:
    call = world()
    does(call, "suspend_line", "agent", **LINE, reason="asked")
    assert (record(call, "L1002")["status"], record(call, "L1002")["suspension_start_date"]) == (
        "Suspended",
        "2025-02-25",
    )
    does(call, "resume_line", "agent", **LINE)
    assert (record(call, "L1002")["status"], record(call, "L1002")["suspension_start_date"]) == ("Active", None)
    assert [action["result"] for action in call.actions] == [
        {"line_id": "L1002", "status": "Suspended"},
        {"line_id": "L1002", "status": "Active"},
    ]


def test_what_is_so_already_is_done_and_not_recorded() -> None:
    call = world()
    again = does(call, "enable_roaming", "agent", **LINE)
    assert (again.is_noop, again.action, call.actions) == (True, None, [])
    assert "already" in again.value
    does(call, "disable_roaming", "agent", **LINE)
    does(call, "disable_roaming", "agent", **LINE)
    assert [action["action_type"] for action in call.actions] == ["disable_roaming"]


def test_only_one_bill_awaits_payment() -> None:
    call = world()
    does(call, "send_payment_request", "agent", customer_id="C1001", bill_id="B1002")
    assert record(call, "B1002")["status"] == "Awaiting Payment"
    assert refused(call, "send_payment_request", customer_id="C1001", bill_id="B1001") == "payment_request_already_open"
    does(call, "send_payment_request", "agent", customer_id="C1002", bill_id="B1005")


def test_a_refuel_is_charged_on_the_draft_bill() -> None:
    call = world()
    result = does(call, "refuel_data", "agent", **LINE, gb_amount=1.5)
    assert (result.value["charge"], result.value["new_data_refueling_gb"]) == (3.0, 1.5)
    bill = record(call, "B1003")
    assert (bill["status"], bill["total_due"]) == ("Draft", 3.0)
    assert bill["line_items"] == [
        {
            "description": "Data refueling: 1.5 GB at $2.0/GB",
            "amount": 3.0,
            "date": "2025-02-25",
            "item_type": "Charge",
        }
    ]
    does(call, "refuel_data", "agent", **LINE, gb_amount=0.5)
    assert (record(call, "B1003")["total_due"], record(call, "L1002")["data_refueling_gb"]) == (4.0, 2.0)


@pytest.mark.parametrize(
    ("now", "period", "due"),
    [
        ("2025-02-25", ("2025-03-01", "2025-03-31"), "2025-03-15"),
        ("2024-12-31", ("2025-01-01", "2025-01-31"), "2025-01-15"),
        ("2028-01-31", ("2028-02-01", "2028-02-29"), "2028-02-15"),
    ],
)
def test_without_a_draft_bill_one_is_opened_over_next_month(now: str, period: tuple[str, str], due: str) -> None:
    call = world(now=now)
    does(call, "refuel_data", "agent", customer_id="C1002", line_id="L1004", gb_amount=3)
    bill = record(call, "B00000000")
    assert (bill["period_start"], bill["period_end"], bill["issue_date"], bill["due_date"]) == (*period, period[0], due)
    assert bill["total_due"] == pytest.approx(0.3)
    assert record(call, "C1002")["bill_ids"] == ["B1004", "B1005", "B00000000"]


def test_minted_ids_never_meet() -> None:
    call = world()
    does(call, "refuel_data", "agent", customer_id="C1002", line_id="L1004", gb_amount=1)
    does(call, "refuel_data", "agent", customer_id="C1003", line_id="L1009", gb_amount=1)
    assert record(call, "B00000000")["customer_id"] == "C1002"
    assert record(call, "B00000001")["customer_id"] == "C1003"


@pytest.mark.parametrize(
    ("limit", "bills"),
    [
        (12, ["B1003", "B1002", "B1001"]),
        ("2", ["B1003", "B1002"]),
        (0, []),
        (-2, ["B1003"]),
    ],
)
def test_bills_come_latest_first_and_the_limit_is_a_slice(limit: object, bills: list[str]) -> None:
    found = does(world(), "get_bills_for_customer", "agent", customer_id="C1001", limit=limit)
    assert [bill["bill_id"] for bill in found.value] == bills


@pytest.mark.parametrize(("now", "end"), [("2025-02-25", "2025-02-28"), ("2028-02-29", "2028-02-29")])
def test_the_cycle_ends_with_the_month(now: str, end: str) -> None:
    usage = does(world(now=now), "get_data_usage", "agent", **LINE).value
    assert usage == {
        "line_id": "L1002",
        "data_used_gb": 8.7,
        "data_limit_gb": 15.0,
        "data_refueling_gb": 0.0,
        "cycle_end_date": end,
    }


def test_a_transfer_ends_the_call_and_is_recorded() -> None:
    call = world(JOHN, step("lock_sim_card", mode="pin"))
    result = does(call, "transfer_to_human_agents", "agent", summary="SIM locked")
    assert result.ends_call == "transfer"
    assert call.actions[0]["result"] == {"transferred": True}


def test_neither_side_has_the_others_tools() -> None:
    call = world()
    assert tries(call, "toggle_data", "agent").error == "unknown_tool"
    assert tries(call, "resume_line", "user", **LINE).error == "unknown_tool"
