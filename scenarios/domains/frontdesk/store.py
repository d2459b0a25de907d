"""The hotel's records: finding them, and the rules that several tools share."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from scenarios.domains.base import Refusal, ToolArguments, ToolContext
from scenarios.state.overlay import Overlay

# A reservation that keeps a room from others.
ACTIVE = ("booked", "checked_in")


def _iso(text: str) -> str:
    return date.fromisoformat(text).isoformat()


IsoDate = Annotated[str, AfterValidator(_iso), Field(description="A date such as 2026-03-14.")]


class OfReservation(ToolArguments):
    """Base of the arguments of a tool that works on one reservation."""

    reservation_id: str = Field(description="Such as LH104.")


def reservation_key(args: OfReservation, context: ToolContext) -> str:
    """Return the database's spelling of an id that was spoken as "l h 104", and have it recorded so."""
    key = re.sub(r"[^A-Z0-9]", "", args.reservation_id.upper())
    if key not in context.db.table("reservations"):
        raise Refusal("reservation_not_found", f"There is no reservation {args.reservation_id!r}.", "not_found")
    context.spelling("reservation_id", said=args.reservation_id, stored=key)
    return key


def require_flexible(reservation: Mapping[str, Any]) -> None:
    """Refuse a saver reservation."""
    if reservation["rate"] != "flexible":
        raise Refusal("saver_rate", "A saver reservation can be neither moved nor cancelled.")


def require_status(reservation: Mapping[str, Any], *statuses: str) -> None:
    """Refuse a reservation in any other state."""
    if reservation["status"] not in statuses:
        raise Refusal("wrong_status", f"The reservation is {reservation['status']}, not {' or '.join(statuses)}.")


def nights_of(reservation: Mapping[str, Any]) -> int:
    """Return how many nights a stay has."""
    return nights_between(reservation["arrival"], reservation["departure"])


def nights_between(arrival: str, departure: str) -> int:
    """Return the nights between two dates, refusing none at all."""
    nights = (date.fromisoformat(departure) - date.fromisoformat(arrival)).days
    if nights < 1:
        raise Refusal("no_night", f"From {arrival} to {departure} there is no night.")
    return nights


def price_of(db: Overlay, room_type: str) -> float:
    """Return the price of a night in dollars."""
    price: float = db.get("room_types", room_type)["price_per_night"]
    return price


def free_rooms(db: Overlay, room_type: str, arrival: str, departure: str, except_for: str = "") -> Iterator[str]:
    """Yield the rooms of a type that no other active reservation has in these nights, lowest number first."""
    taken = {
        r["room"]
        for key, r in db.table("reservations").items()
        if key != except_for and r["status"] in ACTIVE and r["arrival"] < departure and arrival < r["departure"]
    }
    yield from (n for n, room in sorted(db.table("rooms").items()) if room["type"] == room_type and n not in taken)


def add_charge(record: dict[str, Any], what: str, amount: float, **details: str) -> float:
    """Add a charge to a reservation's own copy and return its amount in whole cents."""
    charge_id = f"C{len(record['charges']) + 1}"
    amount = round(amount, 2)
    record["charges"][charge_id] = {"what": what, "amount": amount, "card_id": record["card_id"], **details}
    return amount
