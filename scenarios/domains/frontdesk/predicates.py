"""Predicates over the front desk's final database: each returns what a scenario's ``assert_value`` is compared with."""

from typing import Any

from scenarios.domains.predicates import predicate
from scenarios.state.overlay import Overlay


@predicate("frontdesk")
def reservation_field(db: Overlay, reservation_id: str, field: str) -> Any:
    """Return one field of a reservation."""
    return db.get("reservations", reservation_id)[field]


@predicate("frontdesk")
def charged_total(db: Overlay, reservation_id: str) -> float:
    """Return the sum of all charges in dollars, refunds taken off."""
    return round(sum(_amounts(db, reservation_id)), 2)


@predicate("frontdesk")
def refunded_total(db: Overlay, reservation_id: str) -> float:
    """Return what was given back, in dollars."""
    return round(-sum(amount for amount in _amounts(db, reservation_id) if amount < 0), 2)


def _amounts(db: Overlay, reservation_id: str) -> list[float]:
    return [charge["amount"] for charge in db.get("reservations", reservation_id)["charges"].values()]
