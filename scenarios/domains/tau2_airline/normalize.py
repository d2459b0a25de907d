"""How spoken identifiers are looked up. Dates, airport codes and payment ids have to be exact; nothing is trimmed."""


def user_key(user_id: str) -> str:
    """Return lower case."""
    return user_id.lower()


def reservation_key(reservation_id: str) -> str:
    """Return upper case: "4wq150" is looked up as "4WQ150"."""
    return reservation_id.upper()


def flight_key(flight_number: str) -> str:
    """Return upper case: "hat001" is looked up as "HAT001"."""
    return flight_number.upper()
