"""What the agent can change, and all its tools. A write checks everything first and refuses with nothing changed."""

from typing import Any, ClassVar, Literal

from scenarios.domains.base import Refusal, Tool, ToolArguments, ToolContext, ToolKind
from scenarios.domains.conversation import EndConversationTool
from scenarios.domains.frontdesk.lookups import (
    CheckAvailabilityTool,
    FindGuestTool,
    GetBillTool,
    GetReservationTool,
    RoomType,
)
from scenarios.domains.frontdesk.store import (
    ACTIVE,
    IsoDate,
    OfReservation,
    add_charge,
    free_rooms,
    nights_between,
    nights_of,
    price_of,
    require_flexible,
    require_status,
    reservation_key,
)

BREAKFAST_PRICE = 14.50
LATE_CHECKOUT = {"13:00": 20.00, "15:00": 35.00}
REFUNDABLE = ("minibar", "parking")
LARGEST_REFUND = 50.00


class WriteTool(Tool):
    """Base of the tools that change something."""

    kind: ClassVar[ToolKind] = "write"


class ChangeDatesTool(WriteTool):
    """Moves a stay."""

    description = "Move a flexible reservation that has not begun to other dates. The price a night stays as it is."

    class Arguments(OfReservation):
        """The new stay."""

        arrival: IsoDate
        departure: IsoDate

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the moved reservation; the room changes only where the old one is taken."""
        key = reservation_key(args, context)
        reservation = context.db.get("reservations", key)
        require_flexible(reservation)
        require_status(reservation, "booked")
        arrival, departure = args.arrival, args.departure
        is_as_long = nights_between(arrival, departure) == nights_of(reservation)
        if reservation["charges"] and not is_as_long:
            raise Refusal("extras_booked", "Extras are booked for every night, so the stay has to keep its length.")
        if arrival < context.now[:10]:
            raise Refusal("date_in_the_past", f"The arrival {arrival} is in the past.")
        rooms = list(free_rooms(context.db, reservation["room_type"], arrival, departure, except_for=key))
        if not rooms:
            raise Refusal("no_room_free", f"No {reservation['room_type']} room is free from {arrival} to {departure}.")
        record = context.db.edit("reservations", key)
        record["arrival"], record["departure"] = arrival, departure
        record["room"] = record["room"] if record["room"] in rooms else rooms[0]
        context.record = {"reservation_id": key, "arrival": arrival, "departure": departure}
        return record


class UpgradeRoomTool(WriteTool):
    """Moves a guest to a better room."""

    description = "Move a reservation to a better room type and charge the difference for every night."

    class Arguments(OfReservation):
        """The better type."""

        room_type: RoomType

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the reservation with its new room and the charge."""
        key = reservation_key(args, context)
        reservation = context.db.get("reservations", key)
        require_status(reservation, *ACTIVE)
        more = price_of(context.db, args.room_type) - price_of(context.db, reservation["room_type"])
        if more <= 0:
            raise Refusal("not_an_upgrade", f"A {args.room_type} is no better than a {reservation['room_type']}.")
        rooms = list(free_rooms(context.db, args.room_type, reservation["arrival"], reservation["departure"]))
        if not rooms:
            raise Refusal("no_room_free", f"No {args.room_type} room is free for the whole stay.")
        record = context.db.edit("reservations", key)
        charged = add_charge(record, "upgrade", nights_of(record) * more)
        record["room_type"], record["room"] = args.room_type, rooms[0]
        context.record = {"reservation_id": key, "room_type": args.room_type, "charged": charged}
        return record


class AddBreakfastTool(WriteTool):
    """Adds breakfast to a stay."""

    description = "Add breakfast for all guests and nights of a reservation and charge it to the reservation's card."
    Arguments = OfReservation

    def run(self, args: OfReservation, context: ToolContext) -> Any:
        """Return the reservation; a second time nothing happens."""
        key = reservation_key(args, context)
        reservation = context.db.get("reservations", key)
        require_status(reservation, *ACTIVE)
        if reservation["breakfast"]:
            context.is_noop = True
            return reservation
        record = context.db.edit("reservations", key)
        charged = add_charge(record, "breakfast", nights_of(record) * record["guests"] * BREAKFAST_PRICE)
        record["breakfast"] = True
        context.record = {"reservation_id": key, "charged": charged}
        return record


class SetLateCheckoutTool(WriteTool):
    """Lets a guest stay longer on the last day."""

    description = "Set a late check-out and charge it; gold guests do not pay for 13:00."

    class Arguments(OfReservation):
        """Until when."""

        time: Literal["13:00", "15:00"]

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the reservation with its new time of check-out."""
        key = reservation_key(args, context)
        reservation = context.db.get("reservations", key)
        require_status(reservation, *ACTIVE)
        if reservation["checkout_time"] >= args.time:
            raise Refusal("already_late", f"Check-out is already at {reservation['checkout_time']}.")
        is_free = args.time == "13:00" and context.db.get("guests", reservation["guest_id"])["tier"] == "gold"
        record = context.db.edit("reservations", key)
        charged = 0.0 if is_free else add_charge(record, "late check-out", LATE_CHECKOUT[args.time])
        record["checkout_time"] = args.time
        context.record = {"reservation_id": key, "time": args.time, "charged": charged}
        return record


class CancelReservationTool(WriteTool):
    """Cancels a stay."""

    description = "Cancel a flexible reservation free of charge, up to the day before arrival."

    class Arguments(OfReservation):
        """Why."""

        reason: Literal["plans changed", "illness", "booked by mistake"]

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the cancelled reservation."""
        key = reservation_key(args, context)
        reservation = context.db.get("reservations", key)
        require_flexible(reservation)
        require_status(reservation, "booked")
        if reservation["arrival"] <= context.now[:10]:
            raise Refusal("too_late", "A reservation can be cancelled up to the day before arrival.")
        record = context.db.edit("reservations", key)
        record["status"], record["cancel_reason"] = "cancelled", args.reason
        context.record = {"reservation_id": key, "status": "cancelled"}
        return record


class RefundChargeTool(WriteTool):
    """Gives the money of one charge back."""

    description = "Refund a disputed minibar or parking charge of up to 50.00 in full, to the card that paid it."

    class Arguments(OfReservation):
        """Which charge, as the reservation shows it."""

        charge_id: str

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the reservation with the refund among its charges."""
        key = reservation_key(args, context)
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
        refunded = -add_charge(record, "refund", -charge["amount"], card_id=charge["card_id"], refund_of=args.charge_id)
        context.record = {"reservation_id": key, "charge_id": args.charge_id, "refunded": refunded}
        return record


class TransferToManagerTool(WriteTool):
    """Hands the caller over."""

    description = "Transfer the call to the manager. This ends your part of the call."
    ends_call = "transfer"

    class Arguments(ToolArguments):
        """What the manager should know."""

        topic: Literal["complaint", "compensation", "large refund"]

    def run(self, args: Arguments, context: ToolContext) -> Any:
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
