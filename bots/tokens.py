"""Counts of tokens as an endpoint or a party tells them: nothing they say is believed that no request can have used."""

from typing import Any

# More than the window of any model.
MOST = 20_000_000
# What a column of the database holds: no sum of a call is near it, unless its parts were made up.
MOST_IN_SUM = 2**31 - 1


def token_count(told: Any) -> int | None:
    """Return the count of one request, None when what was told is none."""
    return told if isinstance(told, int) and not isinstance(told, bool) and 0 <= told <= MOST else None
