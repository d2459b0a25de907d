"""The six predicates of the telecom tasks: reference-system.md 5."""

from scenarios.domains.predicates import predicate
from scenarios.domains.tau2_telecom import phone, store
from scenarios.state.overlay import Overlay

_DOMAIN = "tau2_telecom"
_GB_TOLERANCE = 1e-6


@predicate(_DOMAIN)
def assert_mobile_data_status(db: Overlay, expected_status: bool) -> bool:
    """Return whether mobile data works, or does not, as expected."""
    return phone.mobile_data_works(db) == expected_status


@predicate(_DOMAIN)
def assert_internet_speed(db: Overlay, expected_speed: float, expected_desc: str | None = None) -> bool:
    """Return whether the speed in Mbps is reached (none counts 0), and has this label in any case if one is given."""
    mbps, label = phone.speed(db) or (0.0, phone.NO_CONNECTION)
    return mbps >= expected_speed and (expected_desc is None or label.lower() == expected_desc.lower())


@predicate(_DOMAIN)
def assert_service_status(db: Overlay, expected_status: str) -> bool:
    """Return whether the connection has this status; a status that does not exist is an error."""
    if expected_status not in phone.CONNECTION_STATUSES:
        known = ", ".join(phone.CONNECTION_STATUSES)
        raise ValueError(f"there is no status {expected_status!r}; there are {known}")
    return bool(db.get("device")["network_connection_status"] == expected_status)


@predicate(_DOMAIN)
def assert_can_send_mms(db: Overlay, expected_status: bool) -> bool:
    """Return whether picture messages can be sent, or cannot, as expected."""
    return phone.can_send_mms(db) == expected_status


@predicate(_DOMAIN)
def assert_data_refueling_amount(db: Overlay, customer_id: str, line_id: str, expected_amount: float) -> bool:
    """Return whether this many GB were refuelled; False where the customer has no such line."""
    customer, line = store.find(db, "customers", customer_id), store.find(db, "lines", line_id)
    if customer is None or line is None or line_id not in customer["line_ids"]:
        return False
    return bool(abs(line["data_refueling_gb"] - expected_amount) < _GB_TOLERANCE)


@predicate(_DOMAIN)
def assert_no_overdue_bill(db: Overlay, overdue_bill_id: str) -> bool:
    """Return whether this bill is paid, or does not exist."""
    bill = store.find(db, "bills", overdue_bill_id)
    return bill is None or bool(bill["status"] == "Paid")
