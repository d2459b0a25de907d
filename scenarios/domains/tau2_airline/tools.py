"""The 14 tools of the airline's agent; what each write checks, in which order, and does: reference-system.md 3.2."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field

from scenarios.domains.base import Refusal, Tool, ToolContext, ToolKind
from scenarios.domains.conversation import EndConversationTool
from scenarios.domains.tau2_airline import store
from scenarios.domains.tau2_airline.lookups import (
    GetFlightStatusTool,
    GetReservationDetailsTool,
    GetUserDetailsTool,
    ListAllAirportsTool,
    OfReservation,
    OfUser,
    SearchDirectFlightTool,
    SearchOnestopFlightTool,
)
from scenarios.domains.tau2_airline.normalize import flight_key
from scenarios.domains.tau2_tools import CalculateTool, TransferToHumanAgentsTool

Cabin = Literal["business", "economy", "basic_economy"]
RESERVATION_IDS = ("HATHAT", "HATHAU", "HATHAV")
CERTIFICATE_IDS = ("certificate_3221322", "certificate_3221323", "certificate_3221324")
INSURANCE_PRICE = 30  # dollars for each passenger
BAG_PRICE = 50  # dollars for each bag that is not free
_CONFIRM = "Tell the user exactly what will happen and get an explicit yes before calling this."
_PAYMENT_ID = "The id of a payment method in the user's profile, such as 'credit_card_0000000'."
_TOTAL_BAGS = "How many checked bags there are in all."
_NONFREE_BAGS = "How many of them have to be paid for."


class Passenger(BaseModel):
    """One traveller."""

    first_name: str
    last_name: str
    dob: str = Field(description="Date of birth, such as '1990-01-31'.")


class Payment(BaseModel):
    """What one payment method pays."""

    payment_id: str = Field(description=_PAYMENT_ID)
    amount: int = Field(description="In dollars.")


class WriteTool(Tool):
    """Base of the tools that change a reservation or a profile."""

    kind: ClassVar[ToolKind] = "write"


class BookReservationTool(WriteTool):
    """Books flights for one or several passengers."""

    description = f"Book a reservation. The payments have to add up to the price exactly. {_CONFIRM}"

    class Arguments(OfUser):
        """The whole reservation. Whether the route fits the flights is not checked."""

        origin: str = Field(description="Three-letter code of the first airport, such as 'SFO'.")
        destination: str = Field(description="Three-letter code of the airport to go to, such as 'JFK'.")
        flight_type: Literal["round_trip", "one_way"]
        cabin: Cabin = Field(description="The same on all flights.")
        flights: list[store.Leg] = Field(description="Every flight in order, those of the way back included.")
        passengers: list[Passenger]
        payment_methods: list[Payment] = Field(description="What pays which part of the price.")
        total_baggages: int = Field(description=_TOTAL_BAGS)
        nonfree_baggages: int = Field(description=_NONFREE_BAGS)
        insurance: Literal["yes", "no"]

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the reservation. Certificates are used up whole, whatever part of them pays."""
        db = context.db
        user_id = store.find_user(db, args.user_id)["user_id"]
        new_id = store.free_id(RESERVATION_IDS, db.table("reservations"), "reservation_ids_exhausted")
        passengers = len(args.passengers)
        flights = [store.bookable(db, leg, args.cabin, passengers) for leg in store.spelled(context, args.flights)]
        fares = sum(flight["price"] for flight in flights) * passengers
        insured = INSURANCE_PRICE * passengers if args.insurance == "yes" else 0
        _pay(context, user_id, args.payment_methods, fares + insured + BAG_PRICE * args.nonfree_baggages)
        for flight in flights:
            departures = db.edit("flights", flight_key(flight["flight_number"]))["dates"]
            departures[flight["date"]]["available_seats"][args.cabin] -= passengers
        reservation = {
            **args.model_dump(exclude={"payment_methods"}),
            "reservation_id": new_id,
            "user_id": context.spelling("user_id", args.user_id, user_id),
            "origin": context.spelling("origin", args.origin, _airport(args.origin)),
            "destination": context.spelling("destination", args.destination, _airport(args.destination)),
            "flights": flights,
            "payment_history": [payment.model_dump() for payment in args.payment_methods],
            "created_at": context.now,
            "status": None,
        }
        db.insert("reservations", new_id, reservation)
        db.edit("users", user_id)["reservations"].append(new_id)
        context.record = {"reservation_id": new_id}
        return reservation


class CancelReservationTool(WriteTool):
    """Cancels a reservation. The seats stay taken, and gift cards and certificates are not filled up again."""

    description = f"Cancel a whole reservation; what was paid goes back to where it came from. {_CONFIRM}"

    class Arguments(OfReservation):
        """Which reservation."""

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the reservation."""
        reservation = _edit(context, args)
        history = reservation["payment_history"]
        history += [{"payment_id": entry["payment_id"], "amount": -entry["amount"]} for entry in history]
        reservation["status"] = "cancelled"
        return _recorded(context, args, reservation, status="cancelled")


class SendCertificateTool(WriteTool):
    """Gives a customer money to spend on the next booking."""

    description = "Send a user a certificate, as compensation where the policy grants one. Be careful."

    class Arguments(OfUser):
        """Who gets how much."""

        amount: int = Field(description="In dollars.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return a message."""
        user = context.db.edit("users", store.find_user(context.db, args.user_id)["user_id"])
        new_id = store.free_id(CERTIFICATE_IDS, user["payment_methods"], "certificate_ids_exhausted")
        user["payment_methods"][new_id] = {"source": "certificate", "id": new_id, "amount": float(args.amount)}
        context.record = {"payment_id": new_id, "amount": args.amount}
        said = context.spelling("user_id", args.user_id, user["user_id"])
        message = f"Certificate {new_id} of {args.amount} dollars was added to the profile of {said}."
        return {"status": "success", "message": message}


class UpdateReservationBaggagesTool(WriteTool):
    """Adds checked bags."""

    description = f"Change how many checked bags a reservation has; further bags that are not free are paid. {_CONFIRM}"

    class Arguments(OfReservation):
        """The new numbers. Fewer bags are accepted and pay nothing back."""

        total_baggages: int = Field(description=_TOTAL_BAGS)
        nonfree_baggages: int = Field(description=_NONFREE_BAGS)
        payment_id: str = Field(description=_PAYMENT_ID)

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the reservation."""
        reservation = _edit(context, args)
        charged = BAG_PRICE * max(0, args.nonfree_baggages - reservation["nonfree_baggages"])
        store.charge(context, reservation["reservation_id"], args.payment_id, charged)
        reservation["total_baggages"] = args.total_baggages
        reservation["nonfree_baggages"] = args.nonfree_baggages
        return _recorded(context, args, reservation, charged=charged)


class UpdateReservationFlightsTool(WriteTool):
    """Changes flights or cabin and settles the difference of the fares. No seat is taken or given back."""

    description = f"Change the flights or the cabin of a reservation; the difference is charged or refunded. {_CONFIRM}"

    class Arguments(OfReservation):
        """The whole new itinerary."""

        cabin: Cabin = Field(description="The same on all flights.")
        flights: list[store.Leg] = Field(
            description="Every flight of the reservation in order, those that stay as they are included."
        )
        payment_id: str = Field(description=f"Pays or receives the difference. {_PAYMENT_ID}")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the reservation. A leg that stays as it is keeps the fare that was paid for it."""
        reservation = _edit(context, args)
        store.find_user(context.db, reservation["user_id"])
        passengers = len(reservation["passengers"])
        kept = {
            (leg["flight_number"], leg["date"], reservation["cabin"]): leg for leg in reversed(reservation["flights"])
        }
        flights = [
            kept.get((leg.flight_number, leg.date, args.cabin))
            or store.bookable(context.db, leg, args.cabin, passengers)
            for leg in store.spelled(context, args.flights)
        ]
        charged = (_fares(flights) - _fares(reservation["flights"])) * passengers
        store.charge(context, reservation["reservation_id"], args.payment_id, charged)
        reservation["flights"] = [dict(flight) for flight in flights]
        reservation["cabin"] = args.cabin
        return _recorded(context, args, reservation, charged=charged)


class UpdateReservationPassengersTool(WriteTool):
    """Replaces who travels; how many stays the same."""

    description = f"Change the passengers of a reservation, not their number. {_CONFIRM}"

    class Arguments(OfReservation):
        """All passengers."""

        passengers: list[Passenger] = Field(description="All of them, those that stay as they are included.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the reservation."""
        reservation = _edit(context, args)
        if len(args.passengers) != len(reservation["passengers"]):
            raise Refusal("passenger_count_changed", "The number of passengers cannot be changed.")
        reservation["passengers"] = [passenger.model_dump() for passenger in args.passengers]
        return _recorded(context, args, reservation)


TOOLS: tuple[Tool, ...] = (
    GetUserDetailsTool(),
    GetReservationDetailsTool(),
    ListAllAirportsTool(),
    SearchDirectFlightTool(),
    SearchOnestopFlightTool(),
    GetFlightStatusTool(),
    BookReservationTool(),
    CancelReservationTool(),
    SendCertificateTool(),
    UpdateReservationBaggagesTool(),
    UpdateReservationFlightsTool(),
    UpdateReservationPassengersTool(),
    CalculateTool(),
    TransferToHumanAgentsTool(),
    EndConversationTool(),
)


def _pay(context: ToolContext, user_id: str, payments: list[Payment], total: int) -> None:
    """Take the payments from a user's gift cards and certificates; refuse them unless they cover ``total`` dollars."""
    user = store.find_user(context.db, user_id)
    for payment in payments:
        method = store.find_payment_method(user, payment.payment_id)
        if method["source"] != "credit_card" and method["amount"] < payment.amount:
            raise Refusal("payment_balance_too_low", f"{payment.payment_id} does not hold {payment.amount} dollars.")
    paid = sum(payment.amount for payment in payments)
    if paid != total:
        raise Refusal("payment_total_mismatch", f"The payments add up to {paid} dollars, but the price is {total}.")
    methods = context.db.edit("users", user_id)["payment_methods"]
    for payment in payments:
        source = store.find_payment_method({"payment_methods": methods}, payment.payment_id)["source"]
        if source == "gift_card":
            methods[payment.payment_id]["amount"] -= payment.amount
        elif source == "certificate":
            del methods[payment.payment_id]


def _airport(code: str) -> str:
    """Return the code of an airport as it is written everywhere else; anything else as it is."""
    return code.upper() if code.upper() in store.AIRPORTS else code


def _fares(flights: list[dict[str, Any]]) -> int:
    return sum(flight["price"] for flight in flights)


def _edit(context: ToolContext, args: OfReservation) -> dict[str, Any]:
    found = store.find_reservation(context.db, args.reservation_id)
    reservation: dict[str, Any] = context.db.edit("reservations", found["reservation_id"])
    return reservation


def _recorded(
    context: ToolContext, args: OfReservation, reservation: Mapping[str, Any], **facts: Any
) -> Mapping[str, Any]:
    """Note the result of the recorded action, and return the reservation that the tool answers with."""
    spelled = context.spelling("reservation_id", args.reservation_id, reservation["reservation_id"])
    context.record = {"reservation_id": spelled, **facts}
    return reservation
