"""The caller's phone: finding a network, speed, picture messages, and what each switch does."""

from typing import Any

import pytest

from scenarios.domains.environment import Environment
from tests.scenarios.domains.tau2_telecom.worlds import JOHN, LINE, device, does, step, surroundings, tries, world

pytestmark = pytest.mark.usefixtures("benchmarks")


def speed(call: Environment) -> str:
    return str(does(call, "run_speed_test").value)


def has_service(call: Environment) -> bool:
    phone = device(call)
    found = phone["network_connection_status"], phone["network_technology_connected"], phone["network_signal_strength"]
    assert found == ("no_service", "none", "none") or found[0] == "connected"
    return bool(found[0] == "connected")


def test_speeds_of_the_specification() -> None:
    call = world()
    assert "220.00 Mbps (Excellent)" in speed(call)
    does(call, "toggle_roaming")  # any network search
    assert "275.00 Mbps (Excellent)" in speed(call)
    does(call, "toggle_data_saver_mode")
    assert "55.00 Mbps (Good)" in speed(call)
    slow = world(step("simulate_network_search"), step("break_vpn"))
    assert "27.50 Mbps (Good)" in speed(slow)
    does(slow, "toggle_data_saver_mode")
    assert "5.50 Mbps (Fair)" in speed(slow)


@pytest.mark.parametrize(
    ("mode", "said"),
    [("4g_only", "44.00 Mbps (Good)"), ("3g_only", "1.50 Mbps (Poor)"), ("2g_only", "0.05 Mbps (Very Poor)")],
)
def test_the_preferred_network_decides_the_speed(mode: str, said: str) -> None:
    call = world()
    does(call, "set_network_mode_preference", mode=mode)
    assert said in speed(call)
    assert mode in does(call, "check_network_mode_preference").value


@pytest.mark.parametrize(
    "steps",
    [
        (step("turn_airplane_mode_on"),),
        (step("unseat_sim_card"),),
        (step("lock_sim_card", mode="pin"),),
        (step("lock_sim_card", mode="puk"),),
        (step("break_apn_settings"),),
        (JOHN, step("suspend_line_for_overdue_bill", "agent", **LINE, new_bill_id="B9")),
    ],
    ids=lambda steps: steps[-1].func_name,
)
def test_each_of_these_alone_takes_the_service_away(steps: tuple[Any, ...]) -> None:
    call = world(*steps)
    assert not has_service(call)
    assert "No Connection" in speed(call)
    assert "cannot" in does(call, "can_send_mms").value
    assert has_service(world())


def test_reset_settings_come_with_the_reboot() -> None:
    call = world(step("break_apn_settings"), step("break_apn_mms_setting"))
    does(call, "reset_apn_settings")
    assert not has_service(call)
    assert "broken" in does(call, "check_apn_settings").value
    assert "APN" in does(call, "reboot_device").value
    assert has_service(call)
    assert device(call)["active_apn_settings"]["reset_at_reboot"] is False
    assert "APN" not in does(call, "reboot_device").value


def test_reseating_helps_a_missing_card_and_no_locked_one() -> None:
    missing, locked = world(step("unseat_sim_card")), world(step("lock_sim_card", mode="pin"))
    assert "no SIM" in does(missing, "check_sim_status").value
    does(missing, "reseat_sim_card")
    does(locked, "reseat_sim_card")
    assert (has_service(missing), has_service(locked)) == (True, False)
    assert "PIN" in does(locked, "check_sim_status").value


def test_airplane_mode_drops_the_vpn_and_blocks_wifi() -> None:
    call = world(step("break_vpn"))
    assert "poor" in does(call, "check_vpn_status").value
    does(call, "toggle_airplane_mode")
    assert (device(call)["vpn_connected"], device(call)["vpn_details"]) == (False, None)
    result = tries(call, "toggle_wifi")
    assert (result.error, result.action) == ("blocked_by_airplane_mode", None)
    does(call, "toggle_airplane_mode")
    assert "ON" in does(call, "toggle_wifi").value
    assert "not connected" in does(call, "check_wifi_status").value


def test_the_vpn_has_fresh_details_on_every_connection() -> None:
    call = world(step("break_vpn"))
    does(call, "disconnect_vpn")
    does(call, "connect_vpn")
    assert device(call)["vpn_details"]["server_performance"] == "excellent"
    assert does(call, "connect_vpn").is_noop
    does(call, "disconnect_vpn")
    assert does(call, "disconnect_vpn").is_noop
    assert [action["name"] for action in call.actions] == ["disconnect_vpn", "connect_vpn", "disconnect_vpn"]


def test_abroad_both_the_phone_and_the_line_have_to_roam() -> None:
    call = world(JOHN, step("set_user_location", abroad=True), step("disable_roaming", "agent", **LINE))
    assert "No Connection" in speed(call)
    does(call, "toggle_roaming")
    assert "No Connection" in speed(call)
    does(call, "enable_roaming", "agent", **LINE)
    assert "275.00" in speed(call)


@pytest.mark.parametrize(
    ("steps", "mends"),
    [
        ((step("break_apn_mms_setting"),), ("reset_apn_settings", "reboot_device")),
        ((step("set_wifi_calling", enabled=True, mms_over_wifi=True),), ("toggle_wifi_calling",)),
        ((step("turn_data_off"),), ("toggle_data",)),
        ((step("set_network_mode_preference", mode="2g_only"),), ()),
        ((step("remove_app_permission", app_name="messaging", permission="SMS"),), ()),
    ],
    ids=lambda value: value[0].func_name if value and not isinstance(value[0], str) else "",
)
def test_what_keeps_picture_messages_from_going_out(steps: tuple[Any, ...], mends: tuple[str, ...]) -> None:
    call = world(*steps)
    assert "cannot" in does(call, "can_send_mms").value
    for tool in mends:
        does(call, tool)
    if "remove_app_permission" in steps[0].func_name:
        does(call, "grant_app_permission", app_name="messaging", permission="Sms")
    if "mode_preference" in steps[0].func_name:
        does(call, "set_network_mode_preference", mode="3g_only")
    assert "can send" in does(call, "can_send_mms").value


@pytest.mark.parametrize(
    ("tool", "arguments", "kind"),
    [
        ("check_app_status", {"app_name": "Messaging"}, "app_not_found"),
        ("check_app_permissions", {"app_name": "camera"}, "app_not_found"),
        ("grant_app_permission", {"app_name": "camera", "permission": "sms"}, "app_not_found"),
        ("grant_app_permission", {"app_name": "messaging", "permission": " sms"}, "permission_not_tracked"),
        ("set_network_mode_preference", {"mode": "4G_ONLY"}, "network_mode_unknown"),
        ("set_apn_settings", {"apn_settings": {"apn_name": None}}, "invalid_arguments"),
        ("set_apn_settings", {"apn_settings": {"user": "x"}}, "invalid_arguments"),
        ("make_payment", {}, "no_payment_request"),
        ("toggle_data", {"on": True}, "invalid_arguments"),
    ],
)
def test_a_refusal_changes_and_records_nothing(tool: str, arguments: dict[str, Any], kind: str) -> None:
    call = world(JOHN)
    before = call.databases["user"].hash
    result = tries(call, tool, **arguments)
    assert (result.ok, result.error, call.actions, call.databases["user"].hash) == (False, kind, [], before)


def test_settings_by_hand_are_recorded_as_said_and_stored_as_meant() -> None:
    call = world()
    does(call, "set_apn_settings", apn_settings={"mms_port": "8080", "reset_at_reboot": "yes"})
    (action,) = call.actions
    assert action["arguments"] == {"apn_settings": {"mms_port": "8080", "reset_at_reboot": "yes"}}
    assert action["result"] == device(call)["active_apn_settings"]
    assert (action["result"]["mms_port"], action["result"]["reset_at_reboot"]) == (8080, True)


def test_the_status_bar_looks_as_the_manual_says() -> None:
    call = world()
    assert does(call, "check_status_bar").value == "Status bar: 📶³ Good | 5G | 📱 Data Enabled | 🔋 80%"
    does(call, "toggle_data_saver_mode")
    does(call, "connect_vpn")
    assert does(call, "toggle_data").value.endswith("📶⁴ Excellent | 5G | 📵 Data Disabled | 🔒 VPN Connected | 🔋 80%")
    assert does(call, "toggle_airplane_mode").value.endswith("Status bar: ✈️ Airplane Mode | 🔋 80%")
    assert "📵 No Signal | 📵 Data Disabled | 🔋 80%" in does(world(step("unseat_sim_card")), "check_status_bar").value


def test_every_check_answers_and_changes_nothing() -> None:
    call = world(JOHN, step("break_vpn"))
    before = call.databases["user"].hash
    for tool in ("check_network_status", "check_data_restriction_status", "check_installed_apps"):
        assert does(call, tool).value
    for tool in ("check_wifi_calling_status", "check_payment_request", "check_wifi_status"):
        assert does(call, tool).value
    assert "- storage" in does(call, "check_app_status", app_name="browser").value
    assert "sms, storage, phone" in does(call, "check_app_permissions", app_name="messaging").value
    assert (call.databases["user"].hash, call.actions) == (before, [])
    assert surroundings(call)["name"] == "John Smith"
