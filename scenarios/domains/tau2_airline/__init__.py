"""The tau2 airline domain: a reservation desk."""

from collections.abc import Mapping, Sequence
from typing import Any

from scenarios.domains.base import Signal, Tool, register
from scenarios.domains.tau2 import Tau2Domain
from scenarios.domains.tau2_airline.known_errors import KNOWN_ERRORS
from scenarios.domains.tau2_airline.tools import TOOLS
from scenarios.sides import Side
from scenarios.state.overlay import Seed

_SHARDS = ("flights", "reservations", "users")


@register
class Tau2Airline(Tau2Domain):
    """50 scenarios over 300 flights, 2,000 reservations and 500 users; 24 expect that nothing changes."""

    name = "tau2_airline"
    title = "Airline (tau2)"
    description = "Reservations of an airline: book, change, cancel, compensate."
    now = "2024-05-15T15:00:00"

    def tools(self, side: Side) -> Sequence[Tool]:
        """Return the agent's tools; the caller has none."""
        return TOOLS if side == "agent" else ()

    def _load_seeds(self) -> Mapping[Side, Seed]:
        return {"agent": Seed({shard: self._read(f"db/{shard}.json") for shard in _SHARDS})}

    def _signals(self, criteria: Mapping[str, Any]) -> tuple[Signal, ...]:
        """Return the two signals that gate here: the assertions of this task file never counted, upstream neither."""
        return ("db_state_match", "clean_exit")

    def _extra(self, task: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **super()._extra(task),
            "assertions_that_do_not_count": list(task["evaluation_criteria"].get("nl_assertions") or ()),
            "known_errors": list(KNOWN_ERRORS.get(task["id"], ())),
        }
