"""Before the first word: both parties told who they are and what they can do."""

import asyncio
from typing import Any

from django.conf import settings

from bots.bridge.contract import PartyFailed
from bots.bridge.state import Call
from scenarios.events import PartyPrepared
from scenarios.launch import FrozenProfile
from scenarios.sides import SIDES, Side


def address_of(profile: FrozenProfile, side: Side) -> str:
    """Return where a side is reached: the profile's own address, else our party server. Raises PartyFailed."""
    if profile.tools_run == "theirs":
        raise PartyFailed(
            "tools_theirs_unsupported",
            f"the profile {profile.slug!r} keeps its tools with the bot, which calls cannot be held with yet: "
            "let its tools run with us",
            retry=False,
            side=side,
        )
    if profile.address:
        return profile.address
    return str(settings.PARTY_AGENT_URL if side == "agent" else settings.PARTY_USER_URL)


async def prepare(call: Call) -> None:
    """Connect and prepare both sides at once; record each only when both can talk. Raises PartyFailed."""
    outcomes = await asyncio.gather(*(_prepare_side(call, side) for side in SIDES), return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    for prepared in outcomes:
        assert isinstance(prepared, PartyPrepared)
        call.record(prepared)


async def _prepare_side(call: Call, side: Side) -> PartyPrepared:
    profile = call.profile(side)
    told = call.spec.with_persona() if call.config.persona else call.spec
    prompt = call.domain.agent_prompt(call.spec) if side == "agent" else call.domain.caller_prompt(told)
    tools = call.environment.tool_schemas(side)
    model = profile.model.replace("{scenario}", call.spec.name)
    link = call.links[side]
    await link.open()
    await link.request("prepare", _preparation(call.name, profile, model, prompt, tools))
    await link.greet()
    return PartyPrepared(side, profile.slug, model, prompt, tools, profile.is_standin)


def _preparation(
    name: str, profile: FrozenProfile, model: str, prompt: str, tools: list[dict[str, Any]]
) -> dict[str, Any]:
    preparation: dict[str, Any] = {"call": name, "prompt": prompt, "tools": tools}
    if not profile.address:  # an external party brings its own model
        preparation["llm"] = {
            "base_url": profile.base_url,
            "model": model,
            "key_env": profile.key_env,
            "parameters": profile.parameters,
        }
    return preparation
