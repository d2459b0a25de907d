"""An agent's desk over one eva scenario: calls that must succeed, and calls that must not."""

from typing import Any

from scenarios import domains
from scenarios.domains.base import Fidelity
from scenarios.domains.environment import Environment

# Scenario 1.1.2: one booked journey in main cabin for 260 dollars; the new one costs 300.
NUMBER, BOOKED, NEW = "ZK3FFW", "FL_SK621_20260320", "FL_SK703_20260325"
REBOOK = {
    "confirmation_number": NUMBER,
    "journey_id": BOOKED,
    "new_journey_id": NEW,
    "rebooking_type": "voluntary",
    "waive_change_fee": False,
}


def desk(task_id: str = "1.1.2", fidelity: Fidelity = "canonical") -> Environment:
    domain = domains.load()["eva_airline"]
    return Environment(domain, next(spec for spec in domain.scenarios() if spec.task_id == task_id), fidelity)


def call(environment: Environment, tool: str, **arguments: Any) -> Any:
    """Call an agent's tool that must succeed; return its value."""
    result = environment.call_tool("agent", tool, arguments)
    assert result.ok, result.for_model
    return result.value


def refused(environment: Environment, tool: str, **arguments: Any) -> tuple[str | None, str | None]:
    """Call a tool that must not succeed; return failure kind and error type. Nothing may be written or recorded."""
    before, recorded = environment.databases["agent"].hash, list(environment.actions)
    result = environment.call_tool("agent", tool, arguments)
    assert not result.ok
    assert (result.changes, result.action, result.ends_call) == ((), None, None)
    assert (environment.databases["agent"].hash, environment.actions) == (before, recorded)
    assert result.for_model["error_type"] == result.error_type
    return result.error, result.error_type
