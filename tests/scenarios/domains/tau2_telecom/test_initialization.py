"""The steps that bring about the trouble: their effects stand in the vectors, their refusals here."""

from typing import Any

import pytest

from scenarios.domains.base import InitAction, Refusal
from tests.scenarios.domains.tau2_telecom.worlds import LINE, device, record, step, world

SUSPENSION: dict[str, Any] = {**LINE, "new_bill_id": "B9"}

pytestmark = pytest.mark.usefixtures("benchmarks")


@pytest.mark.parametrize(
    ("action", "kind", "said"),
    [
        (step("set_magic"), "unknown_init_function", "there are break_apn_mms_setting"),
        (step("turn_data_off", "agent"), "wrong_side", "works on the user side"),
        (step("enable_roaming", "user", **LINE), "wrong_side", "works on the agent side"),
        (step("turn_data_off", bogus=1), "bad_init_arguments", "turn_data_off: .*bogus"),
        (step("lock_sim_card"), "bad_init_arguments", "lock_sim_card: .*mode"),
        (step("lock_sim_card", mode="PIN"), "sim_lock_unknown", "not by 'PIN'"),
        (step("set_network_mode_preference", mode="5g"), "network_mode_unknown", "'5g'"),
        (step("enable_roaming", "agent", customer_id="C1001", line_id="L1004"), "line_not_owned", "no line L1004"),
        (step("set_data_usage", "agent", **LINE, data_used_gb="x"), "bad_init_arguments", "'x' is no number"),
        (step("set_data_usage", "agent", **LINE, data_used_gb=None), "bad_init_arguments", "None is no number"),
        (
            step("suspend_line_for_overdue_bill", "agent", customer_id="C1001", line_id="L1003", new_bill_id="B9"),
            "line_not_active",
            "L1003 is Suspended",
        ),
        (
            step("suspend_line_for_overdue_bill", "agent", customer_id="C1002", line_id="L1004", new_bill_id="B9"),
            "overdue_bill_exists",
            "C1002",
        ),
    ],
)
def test_a_step_that_cannot_be_done_says_why_and_changes_nothing(action: InitAction, kind: str, said: str) -> None:
    call = world()
    before = {side: database.hash for side, database in call.databases.items()}
    with pytest.raises(Refusal, match=said) as caught:
        call.initialize(action)
    assert caught.value.kind == kind
    assert {side: database.hash for side, database in call.databases.items()} == before


@pytest.mark.parametrize(
    ("now", "period", "contract_end"),
    [
        ("2025-02-25", ("2025-01-01", "2025-01-31"), "2025-01-31"),
        ("2026-01-31", ("2025-12-01", "2025-12-31"), "2025-12-31"),
        ("2028-03-01", ("2028-02-01", "2028-02-29"), "2028-02-29"),
    ],
)
def test_an_overdue_bill_is_dated_last_month(now: str, period: tuple[str, str], contract_end: str) -> None:
    call = world(step("suspend_line_for_overdue_bill", "agent", **SUSPENSION, contract_ended=True), now=now)
    bill, line = record(call, "B9"), record(call, "L1002")
    assert (bill["period_start"], bill["period_end"], bill["total_due"], bill["status"]) == (*period, 65.0, "Overdue")
    assert [item["date"] for item in bill["line_items"]] == [now]
    assert (line["status"], line["suspension_start_date"], line["contract_end_date"]) == (
        "Suspended",
        now,
        contract_end,
    )
    assert record(call, "C1001")["bill_ids"][-1] == "B9"


def test_a_contract_that_has_not_ended_keeps_its_end() -> None:
    call = world(step("suspend_line_for_overdue_bill", "agent", **SUSPENSION))
    assert record(call, "L1002")["contract_end_date"] == "2026-12-31"


def test_a_permission_that_does_not_exist_is_not_missed() -> None:
    call = world(
        step("remove_app_permission", app_name="camera", permission="sms"),
        step("remove_app_permission", app_name="messaging", permission="location"),
    )
    assert call.databases["user"].hash == world().databases["user"].hash


def test_steps_of_the_agents_side_come_first_and_the_sync_last() -> None:
    call = world(step("turn_data_off"), step("set_data_usage", "agent", **LINE, data_used_gb=1))
    assert device(call)["data_enabled"] is False
    assert record(call, "L1002")["data_used_gb"] == 1.0


def test_a_start_that_cannot_be_set_up_names_its_step() -> None:
    with pytest.raises(Refusal, match="^enable_roaming: Customer C1001 has no line L1004"):
        world(step("enable_roaming", "agent", customer_id="C1001", line_id="L1004"))
