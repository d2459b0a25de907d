"""The shop's tools beyond the vectors: the facts that reference-system.md 10 names, and canonical spelling."""

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
from scenarios.state.overlay import Overlay

SEED_HASH = "743c9e1ec7e53de1b992f5521630e347ec3e25e5e215a2b056651106540ac0f8"
PENDING, DELIVERED = "#W6750959", "#W2570197"


def shop(fidelity: Fidelity = "canonical") -> Environment:
    domain = domains.load()["tau2_retail"]
    return Environment(domain, domain.scenarios()[0], fidelity)


@pytest.fixture
def environment(benchmarks: Path) -> Environment:
    return shop()


def call(environment: Environment, tool: str, **arguments: Any) -> Any:
    """Call an agent's tool that must succeed; return its value."""
    result = environment.call_tool("agent", tool, arguments)
    assert result.ok, result.for_model
    return result.value


def order(environment: Environment, order_id: str) -> Mapping[str, Any]:
    record: Mapping[str, Any] = environment.databases["agent"].get("orders", order_id)
    return record


def test_the_untouched_database_has_the_reference_hash(environment: Environment) -> None:
    assert environment.databases["agent"].hash == SEED_HASH


@pytest.mark.parametrize("spoken", ["#W6750959", "W6750959", "w6750959", "#w6750959"])
def test_order_ids_are_found_as_spoken(environment: Environment, spoken: str) -> None:
    assert call(environment, "get_order_details", order_id=spoken)["order_id"] == PENDING


def test_user_ids_names_and_emails_are_found_in_any_case(environment: Environment) -> None:
    user = call(environment, "get_user_details", user_id="ETHAN_LI_6208")
    assert user["user_id"] == "ethan_li_6208"
    by_email = call(environment, "find_user_id_by_email", email=user["email"].upper())
    by_name = call(environment, "find_user_id_by_name_zip", first_name="ETHAN", last_name="li", zip="43135")
    assert by_email == by_name == {"status": "success", "user_id": "ethan_li_6208"}


@pytest.mark.parametrize(("fidelity", "spelled"), [("canonical", PENDING), ("reference", "w6750959")])
def test_what_is_recorded_has_the_databases_spelling_unless_the_reference_is_asked_for(
    benchmarks: Path, fidelity: Fidelity, spelled: str
) -> None:
    environment = shop(fidelity)
    call(environment, "cancel_pending_order", order_id="w6750959", reason="no longer needed")
    (action,) = environment.actions
    assert action["arguments"]["order_id"] == action["result"]["order_id"] == spelled
    assert order(environment, PENDING)["order_id"] == PENDING


def test_cancel_needs_exactly_pending_and_an_address_change_only_something_pending(environment: Environment) -> None:
    items = {"order_id": PENDING, "item_ids": ["3254583681"], "new_item_ids": ["1689914594"]}
    call(environment, "modify_pending_order_items", **items, payment_method_id="paypal_8080730")
    assert order(environment, PENDING)["status"] == "pending (item modified)"
    refused = environment.call_tool(
        "agent", "cancel_pending_order", {"order_id": PENDING, "reason": "no longer needed"}
    )
    assert refused.error == "order_not_pending"
    address = {"address1": "1 Way", "address2": "", "city": "Ames", "state": "IA", "country": "USA", "zip": "00001"}
    call(environment, "modify_pending_order_address", order_id=PENDING, **address)
    assert order(environment, PENDING)["address"] == address


def test_cancelling_credits_a_gift_card_at_once(environment: Environment) -> None:
    found = next(
        record
        for record in environment.databases["agent"].table("orders").values()
        if record["status"] == "pending" and "gift_card" in record["payment_history"][0]["payment_method_id"]
    )
    (payment,) = found["payment_history"]
    path = found["user_id"], payment["payment_method_id"]
    before = environment.databases["agent"].get("users", path[0])["payment_methods"][path[1]]["balance"]
    result = environment.call_tool(
        "agent", "cancel_pending_order", {"order_id": found["order_id"], "reason": "ordered by mistake"}
    )
    after = environment.databases["agent"].get("users", path[0])["payment_methods"][path[1]]["balance"]
    assert after == round(before + payment["amount"], 2)
    assert result.value["payment_history"][-1] == {**payment, "transaction_type": "refund"}
    assert {tuple(change["path"][:2]) for change in result.changes} == {
        ("orders", found["order_id"]),
        ("users", found["user_id"]),
    }


def test_an_exchange_moves_no_money_and_sorts_both_lists(environment: Environment) -> None:
    found = order(environment, DELIVERED)
    item = found["items"][0]
    variants = environment.databases["agent"].get("products", item["product_id"])["variants"]
    new = next(key for key, variant in variants.items() if variant["available"] and key != item["item_id"])
    result = environment.call_tool(
        "agent",
        "exchange_delivered_order_items",
        {
            "order_id": DELIVERED,
            "item_ids": [item["item_id"]],
            "new_item_ids": [new],
            "payment_method_id": found["payment_history"][0]["payment_method_id"],
        },
    )
    assert result.ok
    assert result.value["payment_history"] == found["payment_history"]
    assert result.value["exchange_price_difference"] == round(variants[new]["price"] - item["price"], 2)
    assert {change["path"][1] for change in result.changes} == {DELIVERED}


def test_several_items_each_get_their_own_variant(environment: Environment) -> None:
    changed = call(
        environment,
        "modify_pending_order_items",
        order_id="#W9093821",
        item_ids=["3557711149", "3557711149"],
        new_item_ids=["3928046918", "8084436579"],
        payment_method_id="credit_card_7422485",
    )
    new = [item for item in changed["items"] if item["item_id"] in ("3928046918", "8084436579")]
    for item in new:
        variant = environment.databases["agent"].get("products", item["product_id"])["variants"][item["item_id"]]
        assert (item["price"], item["options"]) == (variant["price"], variant["options"])
    assert len(new) == 2
    assert changed["payment_history"][-1]["amount"] == 6.73


def test_a_return_goes_to_the_original_method_or_a_gift_card(environment: Environment) -> None:
    refused = environment.call_tool(
        "agent",
        "return_delivered_order_items",
        {"order_id": "#W6797115", "item_ids": ["8302289002"], "payment_method_id": "paypal_6121064"},
    )
    assert refused.error == "refund_method_not_allowed"


@pytest.mark.parametrize(
    ("expression", "result"), [("2 ** 3", "8.0"), ("1/3", "0.33"), ("7//2", "3.0"), ("0.1+0.2", "0.3")]
)
def test_calculate_answers_in_text_rounded_to_two(environment: Environment, expression: str, result: str) -> None:
    assert call(environment, "calculate", expression=expression) == {"status": "success", "result": result}


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("2+two", "expression_bad_character"),
        ("__import__('os')", "expression_bad_character"),
        ("1/0", "expression_not_computable"),
        ("9**9**9**9", "expression_not_computable"),
        ("(9**4000)**4000", "expression_not_computable"),
        ("(" * 100_000, "expression_not_computable"),
        ("+".join("1" * 100_000), "expression_not_computable"),
        ("-" * 1_900 + "1", "expression_not_computable"),
        ("1...", "expression_not_computable"),
        ("...", "expression_not_computable"),
        ("9" * 1_999, "expression_not_computable"),
    ],
    ids=lambda value: value[:20],
)
def test_calculate_refuses_what_is_no_bearable_arithmetic(environment: Environment, expression: str, kind: str) -> None:
    assert environment.call_tool("agent", "calculate", {"expression": expression}).error == kind


def test_a_transfer_is_recorded_ends_the_call_and_changes_nothing(environment: Environment) -> None:
    result = environment.call_tool("agent", "transfer_to_human_agents", {"summary": "x"})
    assert (result.ends_call, result.changes) == ("transfer", ())
    assert environment.databases["agent"].hash == SEED_HASH
    assert [action["name"] for action in environment.actions] == ["transfer_to_human_agents"]


def test_the_caller_has_no_tools(environment: Environment) -> None:
    assert environment.tool_schemas("user") == []
    assert len(environment.tool_schemas("agent")) == 17
    assert environment.call_tool("user", "get_order_details", {"order_id": PENDING}).error == "unknown_tool"


def _random_call(environment: Environment, source: random.Random) -> tuple[str, dict[str, Any]]:
    """Return a call on a random order that has fair chances of success and of every refusal."""
    db = environment.databases["agent"]
    found = db.get("orders", source.choice(list(db.table("orders"))))
    user = db.get("users", found["user_id"])
    items = [item["item_id"] for item in found["items"]]
    chosen = source.choices(items, k=source.randrange(3))
    product = db.get("products", found["items"][0]["product_id"])
    new = [source.choice(list(product["variants"])) for _ in chosen]
    method = source.choice([*user["payment_methods"], "paypal_0"])
    address = dict.fromkeys(("address1", "address2", "city", "state", "country", "zip"), "x")
    swap = {"item_ids": chosen, "new_item_ids": new, "payment_method_id": method}
    tool, arguments = source.choice(
        [
            ("cancel_pending_order", {"reason": source.choice(["no longer needed", "because"])}),
            ("exchange_delivered_order_items", swap),
            ("modify_pending_order_items", swap),
            ("modify_pending_order_payment", {"payment_method_id": method}),
            ("modify_pending_order_address", address),
            ("return_delivered_order_items", {"item_ids": chosen, "payment_method_id": method}),
            ("get_order_details", {}),
        ]
    )
    return tool, {"order_id": found["order_id"], **arguments}


@pytest.mark.parametrize("number", range(20))
def test_any_history_can_be_rebuilt_from_its_changes(benchmarks: Path, number: int) -> None:
    source = random.Random(number)
    environment = shop()
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


def test_a_scenario_without_its_gold_leaves_nothing_behind(benchmarks: Path) -> None:
    domain = domains.load()["tau2_retail"]
    bare = replace(domain.scenarios()[0], gold_actions=())
    assert Environment(domain, bare).databases["agent"].hash == SEED_HASH
