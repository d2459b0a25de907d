"""The provider's records: five lists, each record found by its own id, exactly as written."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from scenarios.domains.base import Refusal
from scenarios.state.overlay import Overlay

Record = dict[str, Any]
ID_FIELDS = {
    "plans": "plan_id",
    "customers": "customer_id",
    "lines": "line_id",
    "bills": "bill_id",
    "devices": "device_id",
}
_DAYS_TO_PAY = timedelta(days=14)


def records(db: Overlay, table: str) -> Sequence[Record]:
    """Return all records of a table; none on a side that has no such table."""
    found: Sequence[Record] = db.to_json().get(table, ())
    return found


def locate(db: Overlay, table: str, record_id: Any) -> int | None:
    """Return the position of a record, which is its key in the table, or None."""
    field = ID_FIELDS[table]
    return next((at for at, record in enumerate(records(db, table)) if record[field] == record_id), None)


def find(db: Overlay, table: str, record_id: Any) -> Record | None:
    """Return a record for reading, or None."""
    at = locate(db, table, record_id)
    return None if at is None else records(db, table)[at]


def edit(db: Overlay, table: str, record_id: str) -> Record:
    """Return a record that exists for writing."""
    record: Record = db.edit(table, locate(db, table, record_id))
    return record


def require_customer(db: Overlay, customer_id: Any) -> Record:
    """Return a customer."""
    customer = find(db, "customers", customer_id)
    if customer is None:
        raise refusal("customer_not_found", f"There is no customer {customer_id}.")
    return customer


def require_line(db: Overlay, customer_id: Any, line_id: Any) -> Record:
    """Return a line of this customer."""
    customer = require_customer(db, customer_id)
    line = find(db, "lines", line_id) if line_id in customer["line_ids"] else None
    if line is None:
        raise refusal("line_not_owned", f"Customer {customer_id} has no line {line_id}.")
    return line


def require_plan(db: Overlay, line: Record) -> Record:
    """Return the plan of a line."""
    plan = find(db, "plans", line["plan_id"])
    if plan is None:
        raise refusal("object_not_found", f"There is no plan {line['plan_id']}.")
    return plan


def bills_of(db: Overlay, customer: Record) -> list[Record]:
    """Return a customer's bills in the customer's own order."""
    found = (find(db, "bills", bill_id) for bill_id in customer["bill_ids"])
    return [bill for bill in found if bill is not None]


def is_over_limit(db: Overlay, line: Record) -> bool:
    """Return whether a line has used up its plan's data and what was refuelled."""
    allowance = require_plan(db, line)["data_limit_gb"] + line["data_refueling_gb"]
    return bool(line["data_used_gb"] >= allowance)


def set_roaming(db: Overlay, customer_id: Any, line_id: Any, enabled: bool) -> bool:
    """Let a line roam or not; return whether that changed anything."""
    line = require_line(db, customer_id, line_id)
    if line["roaming_enabled"] == enabled:
        return False
    edit(db, "lines", line["line_id"])["roaming_enabled"] = enabled
    return True


def add_bill(db: Overlay, customer_id: str, bill_id: str, status: str, month: date) -> Record:
    """Open an empty bill over the month that starts at ``month``, issued on its first day; return it for writing."""
    bill = {
        "bill_id": bill_id,
        "customer_id": customer_id,
        "period_start": month.isoformat(),
        "period_end": last_day(month).isoformat(),
        "issue_date": month.isoformat(),
        "total_due": 0.0,
        "due_date": (month + _DAYS_TO_PAY).isoformat(),
        "line_items": [],
        "status": status,
    }
    db.insert("bills", 0, bill)
    edit(db, "customers", customer_id)["bill_ids"].append(bill_id)
    return bill


def add_charge(bill: Record, description: str, amount: float, today: date) -> None:
    """Put a charge in dollars, dated today, on a bill that is being written."""
    bill["line_items"].append(
        {"description": description, "amount": amount, "date": today.isoformat(), "item_type": "Charge"}
    )
    bill["total_due"] += amount


def new_bill_id(db: Overlay) -> str:
    """Return the next free id: ``B00000000`` is the first. The reference draws one at random."""
    number = 0
    while locate(db, "bills", f"B{number:08x}") is not None:
        number += 1
    return f"B{number:08x}"


def refusal(kind: str, message: str) -> Refusal:
    """Return the refusal of one of the provider's tools."""
    return Refusal(kind, message, "tool_error")


def day(now: str) -> date:
    """Return the day of a moment in ISO text."""
    return date.fromisoformat(now[:10])


def first_day(today: date, months: int = 0) -> date:
    """Return the first day of the month that lies ``months`` after today's."""
    years, month = divmod(today.month - 1 + months, 12)
    return date(today.year + years, month + 1, 1)


def last_day(today: date) -> date:
    """Return the last day of today's month."""
    return first_day(today, 1) - timedelta(days=1)
