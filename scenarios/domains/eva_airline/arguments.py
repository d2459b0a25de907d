"""The kinds of arguments that the eva tools take. Formats and allowed values are enforced, but not in the schema shown.

Confirmation numbers, airport codes and the flight numbers of the lookups are upper-cased; everything else has to be
exact. Unknown arguments are ignored.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, WithJsonSchema

_FLIGHT = "[A-Za-z]{2,3}[0-9]{1,4}"
_SHOWN_AS_TEXT = WithJsonSchema({"type": "string"})

ConfirmationNumber = Annotated[str, Field(pattern="^[A-Za-z0-9]{6}$"), AfterValidator(str.upper)]
Airport = Annotated[str, Field(pattern="^[A-Za-z]{3}$"), AfterValidator(str.upper)]
FlightToLookUp = Annotated[str, Field(pattern=f"^{_FLIGHT}$"), AfterValidator(str.upper)]
FlightOfJourney = Annotated[str, Field(pattern=f"^{_FLIGHT}$")]
Day = Annotated[str, Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
JourneyId = Annotated[str, Field(pattern=f"^FL_(?:{_FLIGHT}_)+[0-9]{{8}}$")]
PassengerId = Annotated[str, Field(pattern="^PAX[0-9]+$")]

Cabin = Literal["basic_economy", "main_cabin", "premium_economy", "business", "first"]
FareClass = Annotated[Cabin, _SHOWN_AS_TEXT]
FareClassOrAny = Annotated[Literal[Cabin, "any"], _SHOWN_AS_TEXT]
RebookingType = Annotated[
    Literal[
        "voluntary",
        "same_day",
        "irrops_cancellation",
        "irrops_delay",
        "irrops_schedule_change",
        "missed_flight_passenger_fault",
        "missed_connection_airline_fault",
    ],
    _SHOWN_AS_TEXT,
]
CancellationReason = Annotated[
    Literal["voluntary", "irrops_refund", "24_hour_rule", "schedule_unacceptable", "medical", "bereavement"],
    _SHOWN_AS_TEXT,
]
RefundType = Annotated[Literal["full_fare", "partial_fare", "taxes_only", "ancillary_fees"], _SHOWN_AS_TEXT]
CreditReason = Annotated[
    Literal[
        "cancellation_non_refundable",
        "fare_difference_negative",
        "service_recovery",
        "goodwill",
        "downgrade_compensation",
    ],
    _SHOWN_AS_TEXT,
]
VoucherReason = Annotated[
    Literal["delay_over_2_hours", "delay_over_4_hours", "cancellation_wait_same_day", "irrops_overnight"],
    _SHOWN_AS_TEXT,
]
SeatPreference = Annotated[Literal["window", "aisle", "middle", "no_preference"], _SHOWN_AS_TEXT]
MealType = Annotated[
    Literal[
        "vegetarian",
        "vegan",
        "kosher",
        "halal",
        "gluten_free",
        "diabetic",
        "low_sodium",
        "child",
        "hindu",
        "none",
        "standard",
    ],
    _SHOWN_AS_TEXT,
]

# What the error type of an argument is named after.
_FORMATS = {
    "confirmation_number": "confirmation_number",
    "flight_number": "flight_number",
    "flight_date": "date",
    "date": "date",
    "journey_id": "journey_id",
    "new_journey_id": "journey_id",
    "passenger_id": "passenger_id",
    "passenger_ids": "passenger_id",
    "origin": "airport_code",
    "destination": "airport_code",
}
_CHOICES = {"new_fare_class": "fare_class"}
_BOOKED_JOURNEY = "The booked journey's id in the reservation, such as 'FL_SK1_20260101'."


class EvaArguments(BaseModel):
    """Base of the arguments of the eva tools: an unknown one is ignored."""


class OfReservation(EvaArguments):
    """Base of the arguments of tools that work on one reservation."""

    confirmation_number: ConfirmationNumber = Field(description="Six letters or digits, such as 'ABC123'.")


class OfJourney(OfReservation):
    """Base of the arguments of tools that work on one booked journey."""

    journey_id: JourneyId = Field(description=_BOOKED_JOURNEY)


class OfPassenger(OfReservation):
    """Base of the arguments of tools that work for one passenger."""

    passenger_id: PassengerId = Field(description="Such as 'PAX001'.")


class OfPassengerOnJourney(OfPassenger):
    """Base of the arguments of tools that work for one passenger on a booked journey."""

    journey_id: JourneyId = Field(description=_BOOKED_JOURNEY)


def error_type(fields: Sequence[tuple[str, str]]) -> str:
    """Return the reference's error type for the first argument that is not valid."""
    path, kind = fields[0]
    name = path.partition(".")[0]
    if kind == "bad_format" and name in _FORMATS:
        return f"invalid_{_FORMATS[name]}_format"
    if kind == "not_in_enum":
        return f"invalid_{_CHOICES.get(name, name)}"
    if name == "num_bags" and kind != "missing":
        return "invalid_bag_count"
    return "invalid_parameter"


def choices(kind: Any) -> str:
    """Return the values that an argument of a kind allows, for its description: a model is not shown them otherwise."""
    return ", ".join(kind.__origin__.__args__)
