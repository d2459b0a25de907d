"""What the agent can look up."""

from typing import Any, Literal

from pydantic import Field

from scenarios.domains.base import Refusal, Tool, ToolArguments, ToolContext
from scenarios.domains.frontdesk.store import (
    IsoDate,
    OfReservation,
    free_rooms,
    nights_between,
    nights_of,
    price_of,
    reservation_key,
)

RoomType = Literal["single", "double", "suite"]


class FindGuestTool(Tool):
    """Finds who is calling."""

    description = "Find a guest by last name and the last four digits of the telephone number."

    class Arguments(ToolArguments):
        """What a guest can be known by."""

        last_name: str
        phone_last_four: str = Field(pattern=r"^\d{4}$")

    def run(self, args: Arguments, context: ToolContext) -> Any:
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

    def run(self, args: OfReservation, context: ToolContext) -> Any:
        """Return the reservation."""
        return context.db.get("reservations", reservation_key(args, context))


class CheckAvailabilityTool(Tool):
    """Shows free rooms."""

    description = "List the free rooms of a type between two dates, with the price a night."

    class Arguments(ToolArguments):
        """A stay: the night of ``departure`` is not part of it."""

        room_type: RoomType
        arrival: IsoDate
        departure: IsoDate

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return price and free rooms."""
        nights_between(args.arrival, args.departure)
        rooms = list(free_rooms(context.db, args.room_type, args.arrival, args.departure))
        return {"price_per_night": price_of(context.db, args.room_type), "free_rooms": rooms}


class GetBillTool(Tool):
    """Adds up what a stay costs."""

    description = "Get the bill of a reservation: nights, charges, refunds and the total."
    Arguments = OfReservation

    def run(self, args: OfReservation, context: ToolContext) -> Any:
        """Return the parts of the bill and their sum."""
        reservation = context.db.get("reservations", reservation_key(args, context))
        nights = nights_of(reservation)
        room = round(nights * reservation["price_per_night"], 2)
        charges = round(sum(charge["amount"] for charge in reservation["charges"].values()), 2)
        return {"nights": nights, "room": room, "charges": charges, "total": round(room + charges, 2)}
