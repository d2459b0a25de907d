"""One way to an expected database: the data set ships where a call must end, and no calls that lead there.

The calls are read off the difference of the two databases; every write leaves its own trace. Of what leaves none (why a
journey was rebooked or cancelled) the plan says what the state of the journey suggests.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from scenarios.domains.base import GoldAction
from scenarios.domains.eva_airline.tools import FIRST_ROWS, SEAT_LETTERS
from scenarios.state.canonical import normalize

Record = Mapping[str, Any]
_DISRUPTIONS = {"cancelled": "irrops_cancellation", "delayed": "irrops_delay"}
# Tables that a tool only adds to, the tool, and the fields of a record that are its arguments.
_ISSUED = {
    "refunds": ("process_refund", ("refund_amount", "refund_type")),
    "travel_credits": ("issue_travel_credit", ("passenger_id", "amount", "credit_reason")),
    "meal_vouchers": ("issue_meal_voucher", ("passenger_id", "voucher_reason")),
    "hotel_vouchers": ("issue_hotel_voucher", ("passenger_id", "num_nights")),
}


def calls_between(seed: Record, expected: Record) -> tuple[GoldAction, ...]:
    """Return calls that lead from one database to another, reservation by reservation; none where they are equal."""
    calls: list[GoldAction] = []
    for number, after in expected["reservations"].items():
        before = seed["reservations"][number]
        calls += _moves(before, after, seed["journeys"])
        calls += _waits(before, after)
    for table, (tool, fields) in _ISSUED.items():
        for key, record in sorted(expected.get(table, {}).items()):
            if key not in seed.get(table, {}):
                chosen = {name: record[name] for name in ("confirmation_number", *fields)}
                calls.append(GoldAction(tool, chosen))
    return tuple(calls)


def _moves(before: Record, after: Record, journeys: Record) -> Iterator[GoldAction]:
    """Yield the rebookings, each with what was chosen for its flights, then the other changes and cancellations."""
    old, new = before["bookings"], after["bookings"]
    ended = [a for a, b in zip(old, new, strict=False) if a["status"] != b["status"] == "cancelled"]
    for booking in new[len(old) :]:
        left = ended.pop(0)
        yield _rebooking(after, left, booking, journeys)
        yield from _choices(after, _carried_over(left, booking), booking)
    for a, b in zip(old, new, strict=False):
        yield from _choices(after, a["segments"], b)
    for booking in ended:
        reason = "voluntary" if _disruption(booking, journeys) is None else "irrops_refund"
        yield _on(after, booking, "cancel_reservation", cancellation_reason=reason)


def _rebooking(reservation: Record, left: Record, booking: Record, journeys: Record) -> GoldAction:
    cabin, journey = booking["fare_class"], booking["journey_id"]
    why = _disruption(left, journeys)
    if why is None or booking["fare_paid"] != left["fare_paid"]:
        why = "voluntary"
    details = {"new_journey_id": journey, "rebooking_type": why, "waive_change_fee": why != "voluntary"}
    if cabin != left["fare_class"]:
        details["new_fare_class"] = cabin
    return _on(reservation, left, "rebook_flight", **details)


def _disruption(booking: Record, journeys: Record) -> str | None:
    """Return which disruption of its journey a booking can be rebooked for, or None."""
    return _DISRUPTIONS.get(journeys.get(booking["journey_id"], {}).get("status", ""))


def _carried_over(left: Record, booking: Record) -> list[Record]:
    """Return the flights of a new booking as a rebooking leaves them: without seats, bags and meals as before."""
    flights = [left["segments"][min(i, len(left["segments"]) - 1)] for i in range(len(booking["segments"]))]
    return [{**flight, "seat": None} for flight in flights]


def _choices(reservation: Record, before: list[Record], booking: Record) -> Iterator[GoldAction]:
    """Yield the calls for the seats, bags and meals of a booking's flights, as far as the hash tells them apart."""
    for old, new in zip(before, booking["segments"], strict=True):
        flight = {"flight_number": new["flight_number"]} if len(before) > 1 else {}
        if new["seat"] != old["seat"]:
            passenger, kind = _seat(new["seat"], booking["fare_class"])
            seat = {"passenger_id": passenger, "seat_preference": kind}
            yield _on(reservation, booking, "assign_seat", **seat, **flight)
        if new["bags_checked"] != old["bags_checked"]:
            yield _on(reservation, booking, "add_baggage_allowance", num_bags=new["bags_checked"], **flight)
        if (wanted := normalize(new["meal_request"])) != normalize(old["meal_request"]):
            meal = {"passenger_id": reservation["passengers"][0]["passenger_id"], "meal_type": wanted or "none"}
            yield _on(reservation, booking, "add_meal_request", **meal, **flight)


def _seat(seat: str, cabin: str) -> tuple[str, str]:
    """Return whose seat this is and the preference that it stands for: what ``AssignSeatTool`` does, backwards."""
    kinds = {letter: kind for kind, letter in SEAT_LETTERS.items()}
    return f"PAX{int(seat[:-1]) - FIRST_ROWS[cabin]:03d}", kinds.get(seat[-1], "aisle")


def _waits(before: Record, after: Record) -> Iterator[GoldAction]:
    for entry in after.get("standby_list", [])[len(before.get("standby_list", [])) :]:
        place = {"journey_id": entry["journey_id"], "passenger_ids": entry["passenger_ids"]}
        yield GoldAction("add_to_standby", {"confirmation_number": after["confirmation_number"], **place})


def _on(reservation: Record, booking: Record, tool: str, **more: Any) -> GoldAction:
    place = {"confirmation_number": reservation["confirmation_number"], "journey_id": booking["journey_id"]}
    return GoldAction(tool, {**place, **more})
