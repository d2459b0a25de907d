"""The shop's records: finding them, and the checks that several tools make before they write."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from scenarios.domains.base import Refusal, ToolContext
from scenarios.domains.tau2_retail.normalize import order_key, user_key
from scenarios.domains.tau2_tools import not_found
from scenarios.state.overlay import Overlay

Record = Mapping[str, Any]


def find_order(db: Overlay, order_id: str) -> Record:
    """Return the order; the id may be spoken."""
    order: Record | None = db.table("orders").get(order_key(order_id))
    if order is None:
        raise not_found("order_not_found", f"Order {order_id}")
    return order


def find_user(db: Overlay, user_id: str) -> Record:
    """Return the user; the id may be spoken."""
    user: Record | None = db.table("users").get(user_key(user_id))
    if user is None:
        raise not_found("user_not_found", f"User {user_id}")
    return user


def find_payment_method(user: Record, payment_method_id: str) -> Record:
    """Return one of the user's payment methods."""
    method: Record | None = user["payment_methods"].get(payment_method_id)
    if method is None:
        raise not_found("payment_method_not_found", f"Payment method {payment_method_id}")
    return method


def require_status(order: Record, kind: str, status: str, *, or_modified: bool = False) -> None:
    """Refuse an order that is not in ``status`` (``or_modified``: not in one that contains it)."""
    if order["status"] != status and not (or_modified and status in order["status"]):
        raise Refusal(kind, f"Order {order['order_id']} is {order['status']}, not {status}.")


def require_items(order: Record, item_ids: Sequence[str]) -> None:
    """Refuse items that the order does not hold, or not so often."""
    held = Counter(item["item_id"] for item in order["items"])
    for item_id, count in Counter(item_ids).items():
        if count > held[item_id]:
            raise Refusal("item_not_in_order", f"Item {item_id} is not {count} times in the order.", "not_found")


def require_balance(method: Record, amount: float) -> None:
    """Refuse a gift card that cannot pay ``amount``."""
    if method["source"] == "gift_card" and method["balance"] < amount:
        raise Refusal("gift_card_balance_too_low", f"Gift card {method['id']} does not have enough balance.")


def replacements(
    db: Overlay, order: Record, item_ids: Sequence[str], new_item_ids: Sequence[str], *, refuse_same: bool
) -> tuple[list[Record], float]:
    """Return the variant for each old item, and what they cost more in dollars, rounded to cents."""
    require_items(order, item_ids)
    if len(item_ids) != len(new_item_ids):
        raise Refusal("item_count_mismatch", "The number of items and of new items must be the same.")
    variants: list[Record] = []
    difference = 0.0
    for item_id, new_item_id in zip(item_ids, new_item_ids, strict=True):
        if refuse_same and item_id == new_item_id:
            raise Refusal("same_item", f"New item {new_item_id} is the old one.")
        item = next(item for item in order["items"] if item["item_id"] == item_id)
        variant = db.get("products", item["product_id"])["variants"].get(new_item_id)
        if variant is None or not variant["available"]:
            raise Refusal("new_item_unavailable", f"New item {new_item_id} is not available or of another product.")
        variants.append(variant)
        difference += variant["price"] - item["price"]
    return variants, round(difference, 2)


def credit(context: ToolContext, user_id: str, method_id: str, amount: float) -> None:
    """Add dollars to a gift card (negative: take them); any other method is settled elsewhere."""
    if context.db.get("users", user_id)["payment_methods"][method_id]["source"] == "gift_card":
        method = context.db.edit("users", user_id)["payment_methods"][method_id]
        method["balance"] = round(method["balance"] + amount, 2)
