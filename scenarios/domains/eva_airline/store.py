"""The airline's records: finding them, and what several tools do alike."""

from collections.abc import Mapping
from typing import Any, ClassVar

from scenarios.domains.base import Refusal, Tool, ToolContext, ToolKind
from scenarios.domains.eva_airline.arguments import error_type
from scenarios.state.overlay import Overlay

Record = Mapping[str, Any]


class EvaTool(Tool):
    """Base of the eva tools: recorded actions are flat, and each invalid argument has its own error type."""

    def action(self, arguments: Record, context: ToolContext, value: Any) -> dict[str, Any]:
        """Return the name of the tool and the fields that it noted."""
        return {"action_type": self.model_name(), **(context.record or {})}

    def invalid_type(self, fields: tuple[tuple[str, str], ...]) -> str:
        """Return such as ``invalid_date_format``."""
        return error_type(fields)


class WriteTool(EvaTool):
    """Base of the tools that change something."""

    kind: ClassVar[ToolKind] = "write"


def success(**facts: Any) -> dict[str, Any]:
    """Return the answer of a tool that did what was asked."""
    return {"status": "success", **facts}


def find_reservation(db: Overlay, confirmation_number: str) -> Record:
    """Return the reservation with this number, which has to be upper case."""
    reservation: Record | None = db.table("reservations").get(confirmation_number)
    if reservation is None:
        raise Refusal("reservation_not_found", f"Reservation {confirmation_number} not found.", "not_found")
    return reservation


def edit_reservation(db: Overlay, confirmation_number: str) -> dict[str, Any]:
    """Return the reservation for writing."""
    find_reservation(db, confirmation_number)
    reservation: dict[str, Any] = db.edit("reservations", confirmation_number)
    return reservation


def find_booking(reservation: Record, journey_id: str) -> Any:
    """Return the reservation's booking of a journey: the first that is not cancelled, else the first."""
    bookings = [booking for booking in reservation["bookings"] if booking["journey_id"] == journey_id]
    if not bookings:
        raise Refusal(
            "journey_not_in_reservation", f"Journey {journey_id} is not in this reservation.", "journey_not_found"
        )
    return next((booking for booking in bookings if booking["status"] != "cancelled"), bookings[0])


def find_segment(booking: Record, flight_number: str | None) -> Any:
    """Return the booking's segment with this flight number, which has to be exact; without one, the only segment."""
    segments = booking["segments"]
    if flight_number is None:
        if len(segments) != 1:
            raise Refusal(
                "segment_choice_needed",
                f"Journey {booking['journey_id']} has several flights; say which with flight_number.",
                "flight_number_required",
            )
        return segments[0]
    for segment in segments:
        if segment["flight_number"] == flight_number:
            return segment
    raise flight_not_found(f"Flight {flight_number} is not part of journey {booking['journey_id']}.")


def find_segments(booking: Record, flight_number: str | None) -> list[Any]:
    """Return the segment with this flight number; without one, all of them."""
    return list(booking["segments"]) if flight_number is None else [find_segment(booking, flight_number)]


def flight_not_found(message: str) -> Refusal:
    """Return the refusal of a flight or journey that there is not."""
    return Refusal("flight_not_found", message, "flight_not_found")


def find_journey(db: Overlay, journey_id: str) -> Record:
    """Return a journey that the airline flies."""
    journey: Record | None = db.table("journeys").get(journey_id)
    if journey is None:
        raise flight_not_found(f"Journey {journey_id} not found.")
    return journey


def free_seats(journey: Record, cabin: str) -> int:
    """Return how many seats a cabin has free on every flight of a journey."""
    return min((segment["available_seats"].get(cabin, 0) for segment in journey["segments"]), default=0)


def change_seats(db: Overlay, journey_id: str, cabin: str, change: int) -> None:
    """Add to the free seats of a cabin on every flight of a journey, if the airline still flies it."""
    if journey_id in db.table("journeys"):
        for segment in db.edit("journeys", journey_id)["segments"]:
            segment["available_seats"][cabin] = segment["available_seats"].get(cabin, 0) + change


def put(db: Overlay, table: str, key: str, record: Record) -> None:
    """Store a record, in place of an earlier one with the same key; some databases lack the table."""
    if table in db.to_json():
        db.insert(table, key, record)
    else:
        db.insert(table, None, {key: record})
