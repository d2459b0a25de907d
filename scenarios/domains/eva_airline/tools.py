"""The 15 tools of the airline's agent; what each write checks, in which order, and does: reference-system.md 3.5."""

from typing import Any, ClassVar, Literal

from pydantic import Field

from scenarios.domains.base import Refusal, Tool, ToolContext
from scenarios.domains.conversation import EndConversationTool
from scenarios.domains.eva_airline import store
from scenarios.domains.eva_airline.arguments import (
    CancellationReason,
    FlightOfJourney,
    JourneyId,
    MealType,
    OfJourney,
    OfPassengerOnJourney,
    OfReservation,
    PassengerId,
    SeatPreference,
    choices,
)
from scenarios.domains.eva_airline.compensation import (
    IssueHotelVoucherTool,
    IssueMealVoucherTool,
    IssueTravelCreditTool,
    ProcessRefundTool,
)
from scenarios.domains.eva_airline.lookups import (
    GetDisruptionInfoTool,
    GetFlightStatusTool,
    GetReservationTool,
    SearchRebookingOptionsTool,
)
from scenarios.domains.eva_airline.rebooking import RebookFlightTool
from scenarios.domains.eva_airline.store import WriteTool, success

CANCELLATION_FEE = 100  # dollars, of fares that are not refundable
FIRST_ROWS = {"basic_economy": 25, "main_cabin": 20, "premium_economy": 10, "business": 5, "first": 1}
SEAT_LETTERS = {"window": "A", "middle": "B"}
_REFUNDABLE_REASONS = ("irrops_refund", "24_hour_rule")
_ONE_FLIGHT = "Of a connection, the flight that is meant."


class CancelReservationTool(WriteTool):
    """Cancels one journey; the reservation is cancelled when all its journeys are."""

    description = (
        "Cancel a journey of a reservation. The answer says what can be refunded or credited; that needs its own call. "
        "Get an explicit yes before calling this."
    )

    class Arguments(OfJourney):
        """Which journey, and why."""

        cancellation_reason: CancellationReason = Field(description=f"One of: {choices(CancellationReason)}.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return what is due."""
        reservation = store.edit_reservation(context.db, args.confirmation_number)
        booking = store.find_booking(reservation, args.journey_id)
        if booking["status"] == "cancelled":
            message = f"Journey {args.journey_id} is cancelled already."
            raise Refusal("journey_already_cancelled", message, "already_cancelled")
        is_refundable = args.cancellation_reason in _REFUNDABLE_REASONS or reservation["fare_type"] == "refundable"
        fee = 0 if is_refundable else CANCELLATION_FEE
        due = max(0, booking["fare_paid"] - fee)
        booking["status"] = "cancelled"
        is_all = all(each["status"] == "cancelled" for each in reservation["bookings"])
        if is_all:
            reservation["status"] = "cancelled"
        store.change_seats(context.db, args.journey_id, booking["fare_class"], 1)
        context.record = {
            "confirmation_number": args.confirmation_number,
            "journey_id": args.journey_id,
            "cancellation_reason": args.cancellation_reason,
            "is_refundable": is_refundable,
            "cancellation_fee": fee,
            "refund_amount_eligible": due if is_refundable else 0,
        }
        return success(
            confirmation_number=args.confirmation_number,
            journey_id=args.journey_id,
            is_refundable=is_refundable,
            cancellation_fee=fee,
            refund_amount_eligible=due if is_refundable else 0,
            credit_amount_eligible=0 if is_refundable else due,
            reservation_status="cancelled" if is_all else "active",
            message=f"Journey {args.journey_id} is cancelled.",
        )


class AssignSeatTool(WriteTool):
    """Gives a passenger a seat. Its row follows from cabin and passenger, so the same request gets the same seat."""

    description = "Assign a seat on a booked flight by preference. Ask the passenger for the preference first."

    class Arguments(OfPassengerOnJourney):
        """Who, where, and which kind of seat."""

        seat_preference: SeatPreference = Field(description=f"One of: {choices(SeatPreference)}.")
        flight_number: FlightOfJourney | None = Field(None, description=_ONE_FLIGHT)

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the seat."""
        reservation = store.edit_reservation(context.db, args.confirmation_number)
        booking = store.find_booking(reservation, args.journey_id)
        segment = store.find_segment(booking, args.flight_number)
        flight, cabin = segment["flight_number"], booking["fare_class"]
        journey = store.find_journey(context.db, args.journey_id)
        flown = next((each for each in journey["segments"] if each["flight_number"] == flight), None)
        if flown is None:
            raise store.flight_not_found(f"Flight {flight} is not part of journey {args.journey_id}.")
        if flown["available_seats"].get(cabin, 0) <= 0:
            raise Refusal("cabin_full", f"Flight {flight} has no seats left in {cabin}.", "no_seats_available")
        offered = flown.get("available_seat_types", {}).get(cabin, ("window", "aisle", "middle"))
        if args.seat_preference != "no_preference" and args.seat_preference not in offered:
            message = f"Flight {flight} has no {args.seat_preference} seats left in {cabin}."
            raise Refusal("seat_type_gone", message, "seat_type_unavailable")
        seat = f"{_row(cabin, args.passenger_id)}{SEAT_LETTERS.get(args.seat_preference, 'C')}"
        segment["seat"] = seat
        facts = {
            "confirmation_number": args.confirmation_number,
            "passenger_id": args.passenger_id,
            "journey_id": args.journey_id,
            "flight_number": flight,
            "seat_assigned": seat,
        }
        context.record = {**facts, "seat_preference": args.seat_preference}
        message = f"Seat {seat} ({args.seat_preference}) is assigned."
        return success(**facts, fare_class=cabin, preference=args.seat_preference, message=message)


class AddBaggageAllowanceTool(WriteTool):
    """Sets checked bags."""

    description = "Set how many checked bags a booked journey has, from 0 to 5."

    class Arguments(OfJourney):
        """How many, on one flight or on all."""

        num_bags: int = Field(ge=0, le=5, description="The number there is to be, not how many to add.")
        flight_number: FlightOfJourney | None = Field(None, description=f"{_ONE_FLIGHT} Leave it out for all.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the number."""
        reservation = store.edit_reservation(context.db, args.confirmation_number)
        booking = store.find_booking(reservation, args.journey_id)
        for segment in store.find_segments(booking, args.flight_number):
            segment["bags_checked"] = args.num_bags
        context.record = args.model_dump()
        return success(
            confirmation_number=args.confirmation_number,
            journey_id=args.journey_id,
            bags_checked=args.num_bags,
            message=f"There are {args.num_bags} checked bags now.",
        )


class AddMealRequestTool(WriteTool):
    """Orders a special meal."""

    description = "Set the special meal of a passenger on a booked journey."

    class Arguments(OfPassengerOnJourney):
        """Which meal, on one flight or on all."""

        meal_type: MealType = Field(description=f"One of: {choices(MealType)}.")
        flight_number: FlightOfJourney | None = Field(None, description=f"{_ONE_FLIGHT} Leave it out for all.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the meal."""
        reservation = store.edit_reservation(context.db, args.confirmation_number)
        booking = store.find_booking(reservation, args.journey_id)
        for segment in store.find_segments(booking, args.flight_number):
            segment["meal_request"] = args.meal_type
        context.record = args.model_dump()
        facts = args.model_dump(exclude={"flight_number"})
        return success(**facts, message=f"The meal is {args.meal_type} now.")


class AddToStandbyTool(WriteTool):
    """Puts passengers on a waiting list. A reservation that there is not is accepted, as in the reference."""

    description = "Put passengers on the standby list of a flight on the same day as theirs."

    class Arguments(OfReservation):
        """Who waits for what."""

        journey_id: JourneyId = Field(description="The journey to wait for.")
        passenger_ids: list[PassengerId] = Field(description="Such as ['PAX001'].")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the place on the list."""
        db = context.db
        journey = store.find_journey(db, args.journey_id)
        if journey["status"] == "cancelled":
            raise Refusal("standby_flight_cancelled", f"Journey {args.journey_id} is cancelled.", "flight_cancelled")
        known = args.confirmation_number in db.table("reservations")
        if known:
            self._require_passengers(store.find_reservation(db, args.confirmation_number), args.passenger_ids)
        waiting = db.edit("journeys", args.journey_id).setdefault("standby_list", [])
        for passenger_id in args.passenger_ids:
            entry = {"confirmation_number": args.confirmation_number, "passenger_id": passenger_id}
            waiting.append({**entry, "position": len(waiting) + 1})
        if known:
            reservation = store.edit_reservation(db, args.confirmation_number)
            place = {"journey_id": args.journey_id, "passenger_ids": list(args.passenger_ids)}
            reservation.setdefault("standby_list", []).append({**place, "position": len(waiting), "status": "pending"})
        context.record = args.model_dump()
        return success(
            confirmation_number=args.confirmation_number,
            journey_id=args.journey_id,
            standby_list_position=len(waiting),
            message=f"{len(args.passenger_ids)} passengers are on the standby list.",
        )

    @staticmethod
    def _require_passengers(reservation: store.Record, passenger_ids: list[str]) -> None:
        known = {passenger["passenger_id"] for passenger in reservation["passengers"]}
        for passenger_id in passenger_ids:
            if passenger_id not in known:
                message = f"Passenger {passenger_id} is not on this reservation."
                raise Refusal("passenger_not_on_reservation", message, "passenger_not_found")


class TransferToAgentTool(WriteTool):
    """Hands the caller to a person, which ends the call."""

    description = "Hand the caller over to a live agent. Offer it first and wait for an explicit yes."
    ends_call: ClassVar[Literal["end_tool", "transfer"] | None] = "transfer"

    class Arguments(OfReservation):
        """What the person needs to know."""

        transfer_reason: str = Field(
            description=(
                "Such as passenger_requested, policy_exception_needed, complex_itinerary, complaint_escalation, "
                "technical_issue, unable_to_resolve."
            )
        )
        issue_summary: str = Field(description="What the caller wants and what was tried.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the transfer's number: they are counted over the call."""
        store.find_reservation(context.db, args.confirmation_number)
        number = context.counts.get(self.model_name(), 0) + 1
        context.record = args.model_dump()
        return success(
            transfer_id=f"TRF-{args.confirmation_number}-{number:03d}",
            **args.model_dump(),
            estimated_wait="2-3 minutes",
            message="Transferring to a live agent.",
        )


TOOLS: tuple[Tool, ...] = (
    GetReservationTool(),
    GetFlightStatusTool(),
    GetDisruptionInfoTool(),
    SearchRebookingOptionsTool(),
    RebookFlightTool(),
    CancelReservationTool(),
    ProcessRefundTool(),
    AssignSeatTool(),
    AddBaggageAllowanceTool(),
    AddMealRequestTool(),
    AddToStandbyTool(),
    IssueTravelCreditTool(),
    IssueHotelVoucherTool(),
    IssueMealVoucherTool(),
    TransferToAgentTool(),
    EndConversationTool(),
)


def _row(cabin: str, passenger_id: str) -> int:
    """Return the row: the cabin's first one and the passenger's last three digits."""
    digits = passenger_id[-3:]
    if not digits.isdecimal():
        message = f"No seat can be worked out for {passenger_id}: the id needs three digits, such as 'PAX001'."
        raise Refusal("passenger_number_too_short", message, "invalid_passenger_id_format")
    return FIRST_ROWS[cabin] + int(digits)
