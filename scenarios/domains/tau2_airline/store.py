"""The airline's records: finding them, and the checks that several tools make before they write."""

from collections.abc import Container, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from scenarios.domains.base import Refusal, ToolContext
from scenarios.domains.tau2_airline.normalize import flight_key, reservation_key, user_key
from scenarios.domains.tau2_tools import not_found
from scenarios.state.overlay import Overlay

Record = Mapping[str, Any]

# Three-letter code and city of every airport there is, in the order in which they are listed.
AIRPORTS = {
    "SFO": "San Francisco",
    "JFK": "New York",
    "LAX": "Los Angeles",
    "ORD": "Chicago",
    "DFW": "Dallas",
    "DEN": "Denver",
    "SEA": "Seattle",
    "ATL": "Atlanta",
    "MIA": "Miami",
    "BOS": "Boston",
    "PHX": "Phoenix",
    "IAH": "Houston",
    "LAS": "Las Vegas",
    "MCO": "Orlando",
    "EWR": "Newark",
    "CLT": "Charlotte",
    "MSP": "Minneapolis",
    "DTW": "Detroit",
    "PHL": "Philadelphia",
    "LGA": "LaGuardia",
}


class Leg(BaseModel):
    """One flight on one day."""

    flight_number: str = Field(description="Such as 'HAT001'.")
    date: str = Field(description="The day of departure, such as '2024-05-01'.")


def find_user(db: Overlay, user_id: str) -> Record:
    """Return the user; the id may be spoken."""
    user: Record | None = db.table("users").get(user_key(user_id))
    if user is None:
        raise not_found("user_not_found", f"User {user_id}")
    return user


def find_reservation(db: Overlay, reservation_id: str) -> Record:
    """Return the reservation; the id may be spoken."""
    reservation: Record | None = db.table("reservations").get(reservation_key(reservation_id))
    if reservation is None:
        raise not_found("reservation_not_found", f"Reservation {reservation_id}")
    return reservation


def spelled(context: ToolContext, legs: Sequence[Leg]) -> list[Leg]:
    """Return the legs of the argument ``flights`` as they are recorded and stored."""
    said = [leg.model_dump() for leg in legs]
    stored = [{**leg, "flight_number": flight_key(leg["flight_number"])} for leg in said]
    return [Leg(**leg) for leg in context.spelling("flights", said, stored)]


def bookable(db: Overlay, leg: Leg, cabin: str, passengers: int) -> dict[str, Any]:
    """Return a leg as a reservation stores it, at the price of today; refuse one that is not open or too full."""
    flight = db.table("flights").get(flight_key(leg.flight_number))
    if flight is None:
        raise not_found("flight_not_found", f"Flight {leg.flight_number}")
    departure = flight["dates"].get(leg.date)
    if departure is None:
        raise not_found("flight_date_not_found", f"Flight {leg.flight_number} on {leg.date}")
    if departure["status"] != "available":
        raise Refusal("flight_not_available", f"Flight {leg.flight_number} is not available on {leg.date}.")
    if departure["available_seats"][cabin] < passengers:
        raise Refusal("not_enough_seats", f"Flight {leg.flight_number} does not have enough seats in {cabin}.")
    return {
        **leg.model_dump(),
        "origin": flight["origin"],
        "destination": flight["destination"],
        "price": departure["prices"][cabin],
    }


def free_id(candidates: Sequence[str], taken: Container[str], kind: str) -> str:
    """Return the first id that is not taken; minted ids come from short fixed lists."""
    for candidate in candidates:
        if candidate not in taken:
            return candidate
    raise Refusal(kind, "There are no free ids left. Nothing can be added.")


def find_payment_method(user: Record, payment_id: str) -> Record:
    """Return one of the user's payment methods."""
    method: Record | None = user["payment_methods"].get(payment_id)
    if method is None:
        raise not_found("payment_method_not_found", f"Payment method {payment_id}")
    return method


def charge(context: ToolContext, reservation_id: str, payment_id: str, amount: int) -> None:
    """Charge dollars for a change of a reservation (negative: pay them back) and note them in its payments.

    Certificates are refused, also for nothing; a gift card has to hold enough; a credit card has no limit.
    """
    reservation = context.db.edit("reservations", reservation_id)
    user = find_user(context.db, reservation["user_id"])
    method = find_payment_method(user, payment_id)
    if method["source"] == "certificate":
        raise Refusal("certificate_not_accepted", "A certificate cannot pay for changes of a reservation.")
    if method["source"] == "gift_card":
        if method["amount"] < amount:
            raise Refusal("gift_card_balance_too_low", f"Gift card {payment_id} does not hold enough.")
        context.db.edit("users", user["user_id"])["payment_methods"][payment_id]["amount"] -= amount
    if amount:
        reservation["payment_history"].append({"payment_id": payment_id, "amount": amount})
