"""Moving a passenger to another journey: what it costs, and what becomes of the bookings (reference-system.md 3.5)."""

from dataclasses import dataclass
from typing import Any

from pydantic import Field

from scenarios.domains.base import Refusal, ToolContext
from scenarios.domains.eva_airline import store
from scenarios.domains.eva_airline.arguments import (
    FareClass,
    FlightOfJourney,
    JourneyId,
    OfJourney,
    RebookingType,
    choices,
)
from scenarios.domains.eva_airline.store import Record, WriteTool, success

CHANGE_FEE = 75  # dollars; none in the two cabins in front
SAME_DAY_FEE = 199  # of basic economy; others pay CHANGE_FEE
_FREE_CHANGES = ("business", "first")


@dataclass(frozen=True)
class Cost:
    """What a rebooking costs, in dollars."""

    fee: int
    difference: float  # new fare less old fare; may be negative
    collected: float


class RebookFlightTool(WriteTool):
    """Moves a booked journey, or one flight of it, to another journey. Bags and meals move along, seats do not."""

    description = (
        "Rebook a journey of a reservation to another one, for a change that the passenger wants, a disruption or a "
        "missed flight. Explain what it costs and get an explicit yes before calling this."
    )

    class Arguments(OfJourney):
        """From which journey to which."""

        new_journey_id: JourneyId = Field(description="The journey to move to, from search_rebooking_options.")
        rebooking_type: RebookingType = Field(description=f"Why: {choices(RebookingType)}.")
        waive_change_fee: bool = Field(description="Whether the policy waives the change fee.")
        new_fare_class: FareClass | None = Field(
            None, description=f"The cabin to move to: {choices(FareClass)}. Leave it out to stay in the same cabin."
        )
        flight_number: FlightOfJourney | None = Field(
            None, description="To replace one flight of a connection only: which. Leave it out to replace all."
        )

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the new journey and what is charged or due."""
        db = context.db
        reservation = store.edit_reservation(db, args.confirmation_number)
        booking = store.find_booking(reservation, args.journey_id)
        replaced = store.find_segments(booking, args.flight_number)
        old_cabin = booking["fare_class"]
        cabin = args.new_fare_class or old_cabin
        journey = _bookable(store.find_journey(db, args.new_journey_id), cabin)
        old_fare = _fare_paid(booking) if args.flight_number is None else replaced[0]["fare_paid"]
        cost = _cost(args, old_cabin, journey["fares"][cabin] - old_fare)
        _left(context, reservation, booking)["status"] = "cancelled"
        kept = [segment for segment in booking["segments"] if all(segment is not each for each in replaced)]
        if kept:
            reservation["bookings"].append(_kept(booking, kept))
        reservation["bookings"].append(_booked(args, journey, cabin, old_fare, replaced))
        reservation["status"] = "changed"
        store.change_seats(db, args.new_journey_id, cabin, -1)
        store.change_seats(db, args.journey_id, old_cabin, 1)
        context.record = _record(args, old_cabin, cabin, cost)
        answer = _answer(args, db.get("journeys", args.new_journey_id), old_cabin, cabin, cost)
        return answer if args.flight_number is None else {**answer, **_parts(replaced[0], kept)}


def _left(context: ToolContext, reservation: dict[str, Any], booking: Any) -> Any:
    """Return the booking that is given up; the reference takes the journey's first, which may be cancelled already."""
    if context.fidelity == "canonical":
        return booking
    return next(each for each in reservation["bookings"] if each["journey_id"] == booking["journey_id"])


def _bookable(journey: Record, cabin: str) -> Record:
    """Return the journey; refuse one that is closed, does not sell the cabin, or has no seat left in it."""
    journey_id = journey["journey_id"]
    if not journey.get("bookable", True):
        raise Refusal("flight_not_bookable", f"Journey {journey_id} cannot be booked.", "not_bookable")
    if journey["fares"].get(cabin) is None:
        raise Refusal("cabin_not_sold", f"Journey {journey_id} does not sell {cabin}.", "fare_class_not_available")
    if store.free_seats(journey, cabin) <= 0:
        raise Refusal("cabin_full", f"Journey {journey_id} has no seats left in {cabin}.", "no_seats_available")
    return journey


def _is_irrops(args: RebookFlightTool.Arguments) -> bool:
    return "irrops" in args.rebooking_type


def _cost(args: RebookFlightTool.Arguments, old_cabin: str, difference: float) -> Cost:
    if _is_irrops(args):
        return Cost(0, difference, 0)
    if args.waive_change_fee:
        fee = 0
    elif args.rebooking_type == "same_day":
        fee = SAME_DAY_FEE if old_cabin == "basic_economy" else CHANGE_FEE
    else:
        fee = 0 if old_cabin in _FREE_CHANGES else CHANGE_FEE
    return Cost(fee, difference, fee + max(0, difference))


def _fare_paid(booking: Record) -> float:
    paid: float = booking.get("fare_paid") or sum(segment["fare_paid"] for segment in booking["segments"])
    return paid


def _kept(booking: Record, kept: list[Any]) -> dict[str, Any]:
    """Return the booking of the flights that stay."""
    return {
        "journey_id": booking["journey_id"],
        "fare_class": booking["fare_class"],
        "fare_paid": sum(segment["fare_paid"] for segment in kept),
        "status": "confirmed",
        "segments": [dict(segment) for segment in kept],
    }


def _booked(
    args: RebookFlightTool.Arguments, journey: Record, cabin: str, old_fare: float, replaced: list[Any]
) -> dict[str, Any]:
    """Return the booking of the new journey; bags and meals of its flights are those of the old ones, in order.

    After a disruption it counts as paid with the old fare, and each flight with that of the old one in its place.
    """
    segments = []
    for position, segment in enumerate(journey["segments"]):
        old = replaced[min(position, len(replaced) - 1)]
        keeps_fare = _is_irrops(args) and position < len(replaced)
        segments.append(
            {
                "flight_number": segment["flight_number"],
                "date": journey["date"],
                "fare_paid": old["fare_paid"] if keeps_fare else segment["fares"][cabin],
                "seat": None,
                "bags_checked": old["bags_checked"],
                "meal_request": old["meal_request"],
            }
        )
    return {
        "journey_id": args.new_journey_id,
        "fare_class": cabin,
        "fare_paid": old_fare if _is_irrops(args) else journey["fares"][cabin],
        "status": "confirmed",
        "segments": segments,
    }


def _record(args: RebookFlightTool.Arguments, old_cabin: str, cabin: str, cost: Cost) -> dict[str, Any]:
    record = {
        "confirmation_number": args.confirmation_number,
        "old_journey_id": args.journey_id,
        "new_journey_id": args.new_journey_id,
        "rebooking_type": args.rebooking_type,
        "original_fare_class": old_cabin,
        "new_fare_class": cabin,
        "change_fee": cost.fee,
        "fare_difference": cost.difference,
        "total_collected": cost.collected,
        "partial_rebook": args.flight_number is not None,
    }
    return record if args.flight_number is None else {**record, "replaced_flight_number": args.flight_number}


def _answer(
    args: RebookFlightTool.Arguments, journey: Record, old_cabin: str, cabin: str, cost: Cost
) -> dict[str, Any]:
    segments = journey["segments"]
    return success(
        confirmation_number=args.confirmation_number,
        new_journey={
            "journey_id": args.new_journey_id,
            "num_stops": journey["num_stops"],
            "segments": segments,
            "departure": segments[0]["scheduled_departure"],
            "arrival": segments[-1]["scheduled_arrival"],
            "origin": journey["origin"],
            "destination": journey["destination"],
        },
        cost_summary={
            "original_fare_class": old_cabin,
            "new_fare_class": cabin,
            "cabin_changed": cabin != old_cabin,
            "change_fee": cost.fee,
            "fare_difference": cost.difference,
            "credit_due": max(0, -cost.difference),
            "total_collected": cost.collected,
            "fee_waived": cost.fee == 0,
        },
        message=f"Rebooked to {args.new_journey_id} in {cabin}.",
    )


def _parts(replaced: Record, kept: list[Any]) -> dict[str, Any]:
    """Return what a partial rebooking adds to the answer."""
    fields = ("flight_number", "origin", "destination", "fare_paid")
    return {
        "partial_rebook": True,
        "replaced_segment": {name: replaced.get(name) for name in fields},
        "kept_segments": [{name: segment.get(name) for name in (*fields, "seat")} for segment in kept],
    }
