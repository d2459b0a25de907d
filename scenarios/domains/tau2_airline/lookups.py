"""The airline's lookups: what its agent can read."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from pydantic import Field

from scenarios.domains.base import NoArguments, Tool, ToolArguments, ToolContext
from scenarios.domains.tau2_airline import store
from scenarios.domains.tau2_airline.normalize import flight_key
from scenarios.domains.tau2_tools import not_found
from scenarios.state.overlay import Overlay

_NEXT_DAY = "+1"


class OfReservation(ToolArguments):
    """Base of the arguments of tools that work on one reservation."""

    reservation_id: str = Field(description="Such as '8JX2WO'.")


class OfUser(ToolArguments):
    """Base of the arguments of tools that work on one user."""

    user_id: str = Field(description="Such as 'sara_doe_496'.")


class Route(ToolArguments):
    """From where to where, and when; exact."""

    origin: str = Field(description="Three-letter code of the airport of departure, such as 'JFK'.")
    destination: str = Field(description="Three-letter code of the airport of arrival, such as 'LAX'.")
    date: str = Field(description="The day of departure, such as '2024-05-01'.")


class GetUserDetailsTool(Tool):
    """Reads a profile."""

    description = "Read a user's profile: name, membership, payment methods, saved passengers and reservation ids."

    class Arguments(OfUser):
        """Without regard to case."""

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the user."""
        return store.find_user(context.db, args.user_id)


class GetReservationDetailsTool(Tool):
    """Reads a reservation."""

    description = "Read a reservation: flights, cabin, passengers, payments, bags, insurance."

    class Arguments(OfReservation):
        """Without regard to case."""

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the reservation."""
        return store.find_reservation(context.db, args.reservation_id)


class ListAllAirportsTool(Tool):
    """Lists where the airline flies."""

    description = "List all airports with their three-letter codes and cities."
    Arguments = NoArguments

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return code and city of each airport."""
        return {
            "status": "success",
            "airports": [{"iata": code, "city": city} for code, city in store.AIRPORTS.items()],
        }


class SearchDirectFlightTool(Tool):
    """Finds flights without a stop."""

    description = "Search direct flights between two airports on a day: times, free seats and prices by cabin."

    class Arguments(Route):
        """The day of the flight."""

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the flights that can be booked."""
        found = _departures(context.db, args.date, origin=args.origin, destination=args.destination)
        return {"status": "success", "flights": list(found)}


class SearchOnestopFlightTool(Tool):
    """Finds connections with one stop."""

    description = "Search connections with one stop between two airports, leaving on a day: both flights of each."

    class Arguments(Route):
        """The day of the first flight."""

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return pairs of flights that can be booked; the second leaves no earlier than the first arrives.

        The times are compared as they are written: for an arrival on the next day, with that day's departures.
        """
        pairs = []
        for first in _departures(context.db, args.date, origin=args.origin):
            arrival = first["scheduled_arrival_time_est"]
            day = _day_after(args.date) if _NEXT_DAY in arrival else args.date
            for second in _departures(context.db, day, origin=first["destination"], destination=args.destination):
                if second["scheduled_departure_time_est"] >= arrival:
                    pairs.append([{**first, "date": args.date}, {**second, "date": day}])
        return {"status": "success", "onestop_flights": pairs}


class GetFlightStatusTool(Tool):
    """Reads how a flight is doing."""

    description = "Read the status of a flight on a day."

    class Arguments(store.Leg, ToolArguments):
        """The number without regard to case."""

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the status. Whether the flight or the day is unknown makes no difference, as in the reference."""
        flight = context.db.table("flights").get(flight_key(args.flight_number))
        if flight is None or args.date not in flight["dates"]:
            raise not_found("flight_date_not_found", f"Flight {args.flight_number} on {args.date}")
        departure = flight["dates"][args.date]
        return {"status": "success", "flight_status": departure["status"]}


def _departures(db: Overlay, day: str, *, origin: str, destination: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield the flights of a route (no destination: from an airport) that can be booked for a day."""
    for flight in db.table("flights").values():
        if flight["origin"] != origin or destination not in (None, flight["destination"]):
            continue
        departure = flight["dates"].get(day)
        if departure is not None and departure["status"] == "available":
            yield {
                "flight_number": flight["flight_number"],
                "origin": flight["origin"],
                "destination": flight["destination"],
                "status": departure["status"],
                "scheduled_departure_time_est": flight["scheduled_departure_time_est"],
                "scheduled_arrival_time_est": flight["scheduled_arrival_time_est"],
                "available_seats": departure["available_seats"],
                "prices": departure["prices"],
            }


def _day_after(day: str) -> str:
    return (date.fromisoformat(day) + timedelta(days=1)).isoformat()
