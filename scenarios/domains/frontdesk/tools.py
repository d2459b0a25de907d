"""The front desk's tools: what an agent can look up and change.

Lookups come first, then the writes, then the hand-over. A write checks everything before it touches the
overlay; what it refuses it leaves as it was.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from scenarios.domains.base import Refusal, Tool, ToolArguments, ToolContext, ToolKind
from scenarios.domains.conversation import EndConversationTool
from scenarios.state.overlay import Overlay

RoomType = Literal["single", "double", "suite"]
BREAKFAST_PRICE = 14.50
LATE_CHECKOUT = {"13:00": 20.00, "15:00": 35.00}
REFUNDABLE = ("minibar", "parking")
LARGEST_REFUND = 50.00
_ACTIVE = ("booked", "checked_in")


def _iso(text: str) -> str:
    return date.fromisoformat(text).isoformat()


IsoDate = Annotated[str, AfterValidator(_iso), Field(description="A date such as 2026-03-14.")]


class OfReservation(ToolArguments):
    """Base of the arguments of a tool that works on one reservation."""

    reservation_id: str = Field(description="Such as LH104.")


# --- looking up ---


class FindGuestTool(Tool):
    """Finds who is calling."""

    description = "Find a guest by last name and the last four digits of the telephone number."

    class Arguments(ToolArguments):
        """What a guest can be known by."""

        last_name: str
        phone_last_four: str = Field(pattern=r"^\d{4}$")

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return the guest with the ids of all reservations."""
        for guest_id, guest in context.db.table("guests").items():
            is_named = guest["last_name"].casefold() == args.last_name.strip().casefold()
            if is_named and guest["phone"].endswith(args.phone_last_four):
                ids = [key for key, r in context.db.table("reservations").items() if r["guest_id"] == guest_id]
                return {"guest_id": guest_id, **guest, "reservation_ids": sorted(ids)}
        raise Refusal("guest_not_found", "No guest has this last name and these last four digits.", "not_found")


class GetReservationTool(Tool):
    """Shows one reservation."""

    description = "Get everything about a reservation: dates, room, rate, extras and charges."
    Arguments = OfReservation

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return the reservation."""
        return context.db.get("reservations", _reservation_id(args, context))


class CheckAvailabilityTool(Tool):
    """Shows free rooms."""

    description = "List the free rooms of a type between two dates, with the price a night."

    class Arguments(ToolArguments):
        """A stay: the night of ``departure`` is not part of it."""

        room_type: RoomType
        arrival: IsoDate
        departure: IsoDate

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return price and free rooms."""
        _nights(args.arrival, args.departure)
        rooms = list(_free_rooms(context.db, args.room_type, args.arrival, args.departure))
        return {"price_per_night": _price(context.db, args.room_type), "free_rooms": rooms}


class GetBillTool(Tool):
    """Adds up what a stay costs."""

    description = "Get the bill of a reservation: nights, charges, refunds and the total."
    Arguments = OfReservation

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return the parts of the bill and their sum."""
        reservation = context.db.get("reservations", _reservation_id(args, context))
        nights = _nights(reservation["arrival"], reservation["departure"])
        room = round(nights * reservation["price_per_night"], 2)
        charges = round(sum(charge["amount"] for charge in reservation["charges"].values()), 2)
        return {"nights": nights, "room": room, "charges": charges, "total": round(room + charges, 2)}


# --- changing ---


class ChangeDatesTool(Tool):
    """Moves a stay."""

    kind: ClassVar[ToolKind] = "write"
    description = "Move a flexible reservation that has not begun to other dates. The price a night stays as it is."

    class Arguments(OfReservation):
        """The new stay."""

        arrival: IsoDate
        departure: IsoDate

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return the moved reservation; the room changes only where the old one is taken."""
        key = _reservation_id(args, context)
        reservation = context.db.get("reservations", key)
        _require_flexible(reservation)
        _require_status(reservation, "booked")
        arrival, departure = args.arrival, args.departure
        _nights(arrival, departure)
        if arrival < context.now[:10]:
            raise Refusal("date_in_the_past", f"The arrival {arrival} is in the past.")
        rooms = list(_free_rooms(context.db, reservation["room_type"], arrival, departure, except_for=key))
        if not rooms:
            raise Refusal("no_room_free", f"No {reservation['room_type']} room is free from {arrival} to {departure}.")
        record = context.db.edit("reservations", key)
        record["arrival"], record["departure"] = arrival, departure
        record["room"] = record["room"] if record["room"] in rooms else rooms[0]
        context.record = {"reservation_id": key, "arrival": arrival, "departure": departure}
        return record


class UpgradeRoomTool(Tool):
    """Moves a guest to a better room."""

    kind: ClassVar[ToolKind] = "write"
    description = "Move a reservation to a better room type and charge the difference for every night."

    class Arguments(OfReservation):
        """The better type."""

        room_type: RoomType

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return the reservation with its new room and the charge."""
        key = _reservation_id(args, context)
        reservation = context.db.get("reservations", key)
        _require_status(reservation, *_ACTIVE)
        price = _price(context.db, args.room_type)
        if price <= reservation["price_per_night"]:
            raise Refusal(
                "not_an_upgrade", f"A {args.room_type} room is no upgrade of a {reservation['room_type']} room."
            )
        rooms = list(_free_rooms(context.db, args.room_type, reservation["arrival"], reservation["departure"]))
        if not rooms:
            raise Refusal("no_room_free", f"No {args.room_type} room is free for the whole stay.")
        nights = _nights(reservation["arrival"], reservation["departure"])
        record = context.db.edit("reservations", key)
        charged = _charge(record, "upgrade", nights * (price - reservation["price_per_night"]))
        record["room_type"], record["room"] = args.room_type, rooms[0]
        context.record = {"reservation_id": key, "room_type": args.room_type, "charged": charged}
        return record


class AddBreakfastTool(Tool):
    """Adds breakfast to a stay."""

    kind: ClassVar[ToolKind] = "write"
    description = "Add breakfast for all guests and nights of a reservation and charge it to the reservation's card."
    Arguments = OfReservation

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return the reservation; a second time nothing happens."""
        key = _reservation_id(args, context)
        reservation = context.db.get("reservations", key)
        _require_status(reservation, *_ACTIVE)
        if reservation["breakfast"]:
            context.is_noop = True
            return reservation
        nights = _nights(reservation["arrival"], reservation["departure"])
        record = context.db.edit("reservations", key)
        charged = _charge(record, "breakfast", nights * record["guests"] * BREAKFAST_PRICE)
        record["breakfast"] = True
        context.record = {"reservation_id": key, "charged": charged}
        return record


class SetLateCheckoutTool(Tool):
    """Lets a guest stay longer on the last day."""

    kind: ClassVar[ToolKind] = "write"
    description = "Set a late check-out and charge it; gold guests do not pay for 13:00."

    class Arguments(OfReservation):
        """Until when."""

        time: Literal["13:00", "15:00"]

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return the reservation with its new time of check-out."""
        key = _reservation_id(args, context)
        reservation = context.db.get("reservations", key)
        _require_status(reservation, *_ACTIVE)
        if reservation["checkout_time"] >= args.time:
            raise Refusal("already_late", f"Check-out is already at {reservation['checkout_time']}.")
        is_free = args.time == "13:00" and context.db.get("guests", reservation["guest_id"])["tier"] == "gold"
        record = context.db.edit("reservations", key)
        charged = 0.0 if is_free else _charge(record, "late check-out", LATE_CHECKOUT[args.time])
        record["checkout_time"] = args.time
        context.record = {"reservation_id": key, "time": args.time, "charged": charged}
        return record


class CancelReservationTool(Tool):
    """Cancels a stay."""

    kind: ClassVar[ToolKind] = "write"
    description = "Cancel a flexible reservation free of charge, up to the day before arrival."

    class Arguments(OfReservation):
        """Why."""

        reason: Literal["plans changed", "illness", "booked by mistake"]

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return the cancelled reservation."""
        key = _reservation_id(args, context)
        reservation = context.db.get("reservations", key)
        _require_flexible(reservation)
        _require_status(reservation, "booked")
        if reservation["arrival"] <= context.now[:10]:
            raise Refusal("too_late", "A reservation can be cancelled up to the day before arrival.")
        record = context.db.edit("reservations", key)
        record["status"], record["cancel_reason"] = "cancelled", args.reason
        context.record = {"reservation_id": key, "status": "cancelled"}
        return record


class RefundChargeTool(Tool):
    """Gives the money of one charge back."""

    kind: ClassVar[ToolKind] = "write"
    description = "Refund a disputed minibar or parking charge of up to 50.00 in full, to the card that paid it."

    class Arguments(OfReservation):
        """Which charge, as the reservation shows it."""

        charge_id: str

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return the reservation with the refund among its charges."""
        key = _reservation_id(args, context)
        charges = context.db.get("reservations", key)["charges"]
        charge = charges.get(args.charge_id)
        if charge is None:
            raise Refusal(
                "charge_not_found", f"{key} has no charge {args.charge_id!r}; it has {sorted(charges)}.", "not_found"
            )
        if charge["what"] not in REFUNDABLE or charge["amount"] > LARGEST_REFUND:
            raise Refusal("not_refundable", "Only minibar and parking charges of up to 50.00 can be refunded here.")
        if any(other.get("refund_of") == args.charge_id for other in charges.values()):
            raise Refusal("already_refunded", f"Charge {args.charge_id} has been refunded before.")
        record = context.db.edit("reservations", key)
        refunded = -_charge(record, "refund", -charge["amount"], card_id=charge["card_id"], refund_of=args.charge_id)
        context.record = {"reservation_id": key, "charge_id": args.charge_id, "refunded": refunded}
        return record


# --- handing over ---


class TransferToManagerTool(Tool):
    """Hands the caller over."""

    kind: ClassVar[ToolKind] = "write"
    description = "Transfer the call to the manager. This ends your part of the call."
    ends_call = "transfer"

    class Arguments(ToolArguments):
        """What the manager should know."""

        topic: Literal["complaint", "compensation", "large refund"]

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return the confirmation."""
        context.record = {"topic": args.topic}
        return "The manager takes over."


TOOLS: tuple[type[Tool], ...] = (
    FindGuestTool,
    GetReservationTool,
    CheckAvailabilityTool,
    GetBillTool,
    ChangeDatesTool,
    UpgradeRoomTool,
    AddBreakfastTool,
    SetLateCheckoutTool,
    CancelReservationTool,
    RefundChargeTool,
    TransferToManagerTool,
    EndConversationTool,
)


# --- rules that several tools share ---


def _reservation_id(args: OfReservation, context: ToolContext) -> str:
    """Return the database's spelling of an id that was spoken as "l h 104", and have it recorded so."""
    key = re.sub(r"[^A-Z0-9]", "", args.reservation_id.upper())
    if key not in context.db.table("reservations"):
        raise Refusal("reservation_not_found", f"There is no reservation {args.reservation_id!r}.", "not_found")
    context.spelling("reservation_id", said=args.reservation_id, stored=key)
    return key


def _require_flexible(reservation: Mapping[str, Any]) -> None:
    if reservation["rate"] != "flexible":
        raise Refusal("saver_rate", "A saver reservation can be neither moved nor cancelled.")


def _require_status(reservation: Mapping[str, Any], *statuses: str) -> None:
    if reservation["status"] not in statuses:
        raise Refusal("wrong_status", f"The reservation is {reservation['status']}, not {' or '.join(statuses)}.")


def _nights(arrival: str, departure: str) -> int:
    nights = (date.fromisoformat(departure) - date.fromisoformat(arrival)).days
    if nights < 1:
        raise Refusal("no_night", f"From {arrival} to {departure} there is no night.")
    return nights


def _price(db: Overlay, room_type: str) -> float:
    price: float = db.get("room_types", room_type)["price_per_night"]
    return price


def _free_rooms(db: Overlay, room_type: str, arrival: str, departure: str, except_for: str = "") -> Iterator[str]:
    taken = {
        r["room"]
        for key, r in db.table("reservations").items()
        if key != except_for and r["status"] in _ACTIVE and r["arrival"] < departure and arrival < r["departure"]
    }
    yield from (n for n, room in sorted(db.table("rooms").items()) if room["type"] == room_type and n not in taken)


def _charge(record: dict[str, Any], what: str, amount: float, **details: str) -> float:
    """Add a charge to a reservation's own copy and return its amount in whole cents."""
    charge_id = f"C{len(record['charges']) + 1}"
    amount = round(amount, 2)
    record["charges"][charge_id] = {"what": what, "amount": amount, "card_id": record["card_id"], **details}
    return amount
