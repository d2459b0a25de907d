"""Rules that re-shape a package's file into the pinned one, byte for byte.

The pinned files of telecom and the airline tables were split, filtered or converted from what tau2-bench publishes.
Every rule ends in a two-space JSON text with a final line break; the pinned SHA-256 proves the result.
"""

import json
import tomllib
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from scenarios.benchmarks.pins import Pin

# Gives a member's bytes by its name inside the wheel's folder.
Members = Callable[[str], bytes]

# Fields of each telecom record in the order of the pinned file; one that the TOML leaves out is null.
_TELECOM_FIELDS = {
    "plans": "plan_id name data_limit_gb price_per_month data_refueling_price_per_gb",
    "customers": "customer_id full_name date_of_birth email phone_number address account_status payment_methods"
    " line_ids bill_ids created_at last_extension_date goodwill_credit_used_this_year",
    "lines": "line_id phone_number status plan_id device_id data_used_gb data_refueling_gb roaming_enabled"
    " contract_end_date last_plan_change_date last_sim_replacement_date suspension_start_date",
    "bills": "bill_id customer_id period_start period_end issue_date total_due due_date line_items status",
    "devices": "device_id device_type model imei is_esim_capable activated activation_date last_esim_transfer_date",
}
_DEVICE_FIELDS = (
    "sim_card_status sim_card_missing airplane_mode network_signal_strength network_technology_connected"
    " network_connection_status battery_level data_enabled roaming_enabled network_mode_preference active_apn_settings"
    " wifi_enabled wifi_connected wifi_ssid wifi_signal_strength wifi_calling_enabled wifi_calling_mms_over_wifi"
    " data_saver_mode vpn_enabled_setting vpn_connected vpn_details app_statuses"
)
_APN_FIELDS = "apn_name reset_at_reboot mms_apn mmsc_url mms_proxy mms_port"
_SURROUNDINGS: dict[str, Any] = {
    "name": None,
    "phone_number": None,
    "is_abroad": False,
    "roaming_allowed": False,
    "signal_strength": {"2G": "poor", "3G": "fair", "4G": "good", "5G": "excellent"},
    "mobile_data_usage_exceeded": False,
    "line_active": True,
    "payment_request": None,
}


def rebuilt(pin: Pin, members: Members) -> bytes:
    """Return the file's content from its package's members."""
    if pin.rebuild is None:
        return members(pin.member)
    return _RULES[pin.rebuild](pin, members)


def _table(pin: Pin, members: Members) -> bytes:
    """One top-level table of a database, named like the file."""
    return _json(json.loads(members(pin.member))[PurePosixPath(pin.path).stem])


def _base_tasks(pin: Pin, members: Members) -> bytes:
    """The tasks of the base split, in the order of the full file."""
    base = set(json.loads(members("split_tasks.json"))["base"])
    return _json([task for task in json.loads(members(pin.member)) if task["id"] in base])


def _telecom_db(pin: Pin, members: Members) -> bytes:
    source = tomllib.loads(members(pin.member).decode())
    tables = _TELECOM_FIELDS.items()
    return _json({name: [_in_order(record, fields) for record in source[name]] for name, fields in tables})


def _telecom_user_db(pin: Pin, members: Members) -> bytes:
    device = _in_order(tomllib.loads(members(pin.member).decode())["device"], _DEVICE_FIELDS)
    apn = _in_order(device["active_apn_settings"], _APN_FIELDS)
    device["active_apn_settings"] = {**apn, "reset_at_reboot": False}
    return _json({"device": device, "surroundings": _SURROUNDINGS})


def _in_order(record: dict[str, Any], fields: str) -> dict[str, Any]:
    return {field: record.get(field) for field in fields.split()}


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()


_RULES: dict[str, Callable[[Pin, Members], bytes]] = {
    "table": _table,
    "base_tasks": _base_tasks,
    "telecom_db": _telecom_db,
    "telecom_user_db": _telecom_user_db,
}
