"""A phone and a provider to try things on."""

from dataclasses import replace
from typing import Any

from scenarios import domains
from scenarios.domains.base import InitAction, ToolResult
from scenarios.domains.environment import Environment
from scenarios.domains.tau2_telecom import Tau2Telecom
from scenarios.sides import Side

JOHN = InitAction("set_user_info", {"name": "John Smith", "phone_number": "555-123-2002"}, "user")
# John's line is L1002, on a plan of 15 GB at 2 dollars a GB.
LINE = {"customer_id": "C1001", "line_id": "L1002"}


def telecom() -> Tau2Telecom:
    """Return the domain."""
    domain = domains.load()["tau2_telecom"]
    assert isinstance(domain, Tau2Telecom)
    return domain


def step(name: str, side: Side = "user", **arguments: Any) -> InitAction:
    """Return an initialisation step."""
    return InitAction(name, arguments, side)


def world(*steps: InitAction, now: str | None = None) -> Environment:
    """Return a call that starts after these steps and a sync; with none the phone belongs to nobody yet."""
    domain = telecom()
    return Environment(domain, replace(domain.scenarios()[0], init_actions=steps), now=now)


def does(call: Environment, tool: str, side: Side = "user", **arguments: Any) -> ToolResult:
    """Call a tool, with the sync that follows in every call; it has to succeed."""
    result = tries(call, tool, side, **arguments)
    assert result.ok, result.for_model
    return result


def tries(call: Environment, tool: str, side: Side = "user", **arguments: Any) -> ToolResult:
    """Call a tool that may refuse, with the sync that follows."""
    result = call.call_tool(side, tool, arguments)
    call.sync()
    return result


def device(call: Environment) -> dict[str, Any]:
    """Return the phone."""
    found: dict[str, Any] = call.databases["user"].get("device")
    return found


def surroundings(call: Environment) -> dict[str, Any]:
    """Return what is around the phone."""
    found: dict[str, Any] = call.databases["user"].get("surroundings")
    return found


def record(call: Environment, record_id: str) -> dict[str, Any]:
    """Return one of the provider's records."""
    found: dict[str, Any] = does(call, "get_details_by_id", "agent", id=record_id).value
    return found
