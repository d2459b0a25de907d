"""The airline's lookups: what its agent can read."""

from typing import Any

from pydantic import Field

from scenarios.domains.base import Refusal, ToolContext
from scenarios.domains.eva_airline.arguments import (
    Airport,
    Day,
    EvaArguments,
    FareClassOrAny,
    FlightToLookUp,
    OfReservation,
)
from scenarios.domains.eva_airline.store import EvaTool, Record, find_reservation, flight_not_found, free_seats, success

_OPEN = ("scheduled", "on_time", "delayed")


class GetReservationTool(EvaTool):
    """Identifies the caller."""

    description = "Read a reservation by its confirmation number and the last name of a passenger. Call this first."

    class Arguments(OfReservation):
        """The name without regard to case. An empty one fits, as in the reference."""

        last_name: str

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the reservation, its bookings in the order of travel."""
        reservation = find_reservation(context.db, args.confirmation_number)
        names = [passenger["last_name"].lower() for passenger in reservation["passengers"]]
        if args.last_name and args.last_name.lower() not in names:
            raise Refusal(
                "last_name_mismatch", "The last name is not that of this reservation.", "authentication_failed"
            )
        bookings = sorted(reservation["bookings"], key=lambda booking: (_first_day(booking), booking["journey_id"]))
        return success(reservation={**reservation, "bookings": bookings})


class GetFlightStatusTool(EvaTool):
    """Reads how a flight is doing."""

    description = (
        "Read a flight on a day: route, times, gate, delay or cancellation. Any flight of a connection will do."
    )

    class Arguments(EvaArguments):
        """One flight."""

        flight_number: FlightToLookUp = Field(description="Such as 'SK123'.")
        flight_date: Day = Field(description="Such as '2026-01-31'.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the journey of this flight alone, or else one of that day that it is part of."""
        journeys = context.db.table("journeys")
        journey = journeys.get(f"FL_{args.flight_number}_{args.flight_date.replace('-', '')}")
        if journey is None:
            journey = next(
                (each for each in journeys.values() if _is_part(args.flight_number, args.flight_date, each)), None
            )
        if journey is None:
            raise flight_not_found(f"Flight {args.flight_number} on {args.flight_date} not found.")
        return success(journey=journey)


class GetDisruptionInfoTool(EvaTool):
    """Reads what a disruption entitles to."""

    description = "Read what is known of a flight's disruption: cause, delay, and what passengers are entitled to."

    class Arguments(EvaArguments):
        """One flight."""

        flight_number: FlightToLookUp = Field(description="Such as 'SK123'.")
        date: Day = Field(description="Such as '2026-01-31'.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the disruption."""
        disruption = context.db.table("disruptions").get(f"{args.flight_number}_{args.date}")
        if disruption is None:
            message = f"No disruption of flight {args.flight_number} on {args.date} is known."
            raise Refusal("disruption_not_found", message, "not_found")
        return success(disruption=disruption)


class SearchRebookingOptionsTool(EvaTool):
    """Finds journeys that a passenger could be moved to."""

    description = "Search journeys between two airports on a day that have seats for all passengers, with their fares."

    class Arguments(EvaArguments):
        """The whole party in one cabin."""

        origin: Airport = Field(description="Three-letter code, such as 'JFK'.")
        destination: Airport = Field(description="Three-letter code, such as 'LAX'.")
        date: Day = Field(description="Such as '2026-01-31'.")
        passenger_count: int = Field(ge=1, description="How many seats are needed.")
        fare_class: FareClassOrAny = Field(
            description="One of: basic_economy, main_cabin, premium_economy, business, first; 'any' is the cheapest."
        )

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the journeys by time of departure."""
        options = []
        for journey in context.db.table("journeys").values():
            route = (journey["origin"], journey["destination"], journey["date"])
            if route != (args.origin, args.destination, args.date):
                continue
            fare = _fare(journey, args.fare_class, args.passenger_count)
            if fare is not None:
                options.append(_option(journey, fare))
        options.sort(key=lambda option: option["departure_time"])
        return success(options=options, count=len(options), message=f"{len(options)} flight(s) found")


def _first_day(booking: Record) -> str:
    return min((segment["date"] for segment in booking["segments"]), default="")


def _is_part(flight_number: str, day: str, journey: Record) -> bool:
    return journey["date"] == day and any(segment["flight_number"] == flight_number for segment in journey["segments"])


def _fare(journey: Record, fare_class: str, count: int) -> float | None:
    """Return what a seat costs; None when the journey cannot be booked for so many."""
    if journey["status"] not in _OPEN or not journey.get("bookable", True):
        return None
    wanted = journey["fares"] if fare_class == "any" else [fare_class]
    fares = [journey["fares"].get(cabin) for cabin in wanted if free_seats(journey, cabin) >= count]
    return min((fare for fare in fares if fare is not None), default=None)


def _option(journey: Record, fare: float) -> dict[str, Any]:
    segments = journey["segments"]
    return {
        **{
            name: journey[name]
            for name in ("journey_id", "origin", "destination", "num_stops", "total_duration_minutes")
        },
        "segments": segments,
        "departure_time": segments[0]["scheduled_departure"],
        "arrival_time": segments[-1]["scheduled_arrival"],
        "available_seats": {cabin: free_seats(journey, cabin) for cabin in segments[0]["available_seats"]},
        "fare": fare,
    }
