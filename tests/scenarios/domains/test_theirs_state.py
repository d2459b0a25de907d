"""What bots that keep their own database start from, and what they are told of a synchronisation."""

import pytest

from scenarios import domains
from scenarios.domains.environment import Environment
from scenarios.sides import Side

OVERDUE = "tau2_telecom__service_issue__airplane_mode_on__overdue_bill_suspension"


@pytest.mark.parametrize(
    ("domain", "side", "path"),
    [
        ("tau2_retail", "agent", "tau2_retail/db"),
        ("tau2_airline", "agent", "tau2_airline/db"),
        ("tau2_telecom", "agent", "tau2_telecom/db"),
        ("tau2_telecom", "user", "tau2_telecom/user_db"),
    ],
)
def test_large_databases_go_by_path(domain: str, side: Side, path: str) -> None:
    found = domains.load()[domain]
    assert found.start_state(found.scenarios()[0], side) == {"db_path": path}


@pytest.mark.parametrize("domain", ["tau2_retail", "eva_airline", "frontdesk"])
def test_a_side_without_a_database_starts_from_nothing(domain: str) -> None:
    found = domains.load()[domain]
    assert found.start_state(found.scenarios()[0], "user") == {}


def test_a_small_database_is_sent_whole() -> None:
    found = domains.load()["eva_airline"]
    spec = found.scenarios()[0]
    assert found.start_state(spec, "agent") == {"db": found.seeds(spec)["agent"].data}


def test_telecom_tells_whole_fields_of_the_surroundings_and_bills_by_id() -> None:
    domain = domains.load()["tau2_telecom"]
    spec = next(spec for spec in domain.scenarios() if spec.name == OVERDUE)
    call = Environment(domain, spec)
    gold = {action.tool: action for action in spec.gold_actions}
    bill = gold["send_payment_request"].arguments["bill_id"]
    start = [change for change in call.start_sync if change["side"] == "user"]
    assert domain.sync_delta("user", start, call.databases)["surroundings.line_active"] is False
    call.call_tool("agent", "send_payment_request", gold["send_payment_request"].arguments)
    asked = domain.sync_delta("user", call.sync(), call.databases)
    assert asked["surroundings.payment_request"]["bill_id"] == bill
    call.call_tool("user", "make_payment", {})
    paid = call.sync()
    told = {
        side: domain.sync_delta(side, [change for change in paid if change["side"] == side], call.databases)
        for side in ("agent", "user")
    }
    assert told == {
        "agent": {f"bills[{bill}].status": "Paid"},
        "user": {"surroundings.payment_request": None},
    }


def test_other_domains_use_plain_dotted_paths() -> None:
    found = domains.load()["frontdesk"]
    changes = [{"path": ["reservations", "LH101", "breakfast"], "before": False, "after": True, "op": "set"}]
    assert found.sync_delta("agent", changes, {}) == {"reservations.LH101.breakfast": True}
