"""What each side learns of the other after every step: conformance/README.md, "one cross-side sync"."""

from collections.abc import Mapping, Sequence
from typing import Any

from scenarios.domains.tau2_telecom import phone, store
from scenarios.sides import Side
from scenarios.state.overlay import Overlay


def sync_sides(databases: Mapping[Side, Overlay]) -> None:
    """Carry the line's state to the phone, a payment to the provider, and an open request to the phone.

    Nothing happens while the phone has no number, or one that is no line's. The phone searches for a network when
    anything around it changed.
    """
    provider, caller = databases["agent"], databases["user"]
    before = caller.get("surroundings")
    line = _line_with(provider, before["phone_number"])
    if line is None:
        return
    after = {
        **before,
        "line_active": line["status"] == "Active",
        "roaming_allowed": line["roaming_enabled"],
        "mobile_data_usage_exceeded": store.is_over_limit(provider, line),
    }
    request = before["payment_request"]
    if request is not None and request["paid"]:
        _settle(provider, request["bill_id"])
        after["payment_request"] = None
    if after["payment_request"] is None:
        after["payment_request"] = _open_request(provider, line)
    if after != before:
        caller.edit("surroundings").update(after)
        phone.search_network(caller)


def delta(changes: Sequence[Mapping[str, Any]], database: Overlay) -> dict[str, Any]:
    """Return what a bot that holds ``database`` itself is told: ``surroundings.<field>``, ``bills[<id>].<field>``.

    What the phone works out of its surroundings is left to the bot, as in the reference.
    """
    told: dict[str, Any] = {}
    for change in changes:
        table, *rest = change["path"]
        if table == "surroundings" and rest:
            told[f"surroundings.{rest[0]}"] = database.get("surroundings")[rest[0]]
        elif table == "bills" and len(rest) > 1:
            bill = database.get("bills", rest[0])
            told[f"bills[{bill['bill_id']}].{rest[1]}"] = bill[rest[1]]
    return told


def _line_with(provider: Overlay, phone_number: str | None) -> store.Record | None:
    lines = store.records(provider, "lines") if phone_number else ()
    return next((line for line in lines if line["phone_number"] == phone_number), None)


def _settle(provider: Overlay, bill_id: str) -> None:
    if store.locate(provider, "bills", bill_id) is not None:
        store.edit(provider, "bills", bill_id)["status"] = "Paid"


def _open_request(provider: Overlay, line: store.Record) -> dict[str, Any] | None:
    """Return the request for the first bill of the line's customer that awaits payment."""
    for customer in store.records(provider, "customers"):
        if line["line_id"] in customer["line_ids"]:
            for bill in store.bills_of(provider, customer):
                if bill["status"] == "Awaiting Payment":
                    return {"bill_id": bill["bill_id"], "amount_due": bill["total_due"], "paid": False}
    return None
