"""Before the first word: both parties told who they are and what they can do."""

import asyncio
from typing import Any

from django.conf import settings

from bots.bridge.link import ANSWER_S
from bots.bridge.state import Call
from bots.bridge.theirs.preparing import prepare_theirs
from bots.bridge.theirs.syncing import sync_start
from bots.standins.model_name import on_voice
from scenarios.events import PartyPrepared
from scenarios.launch import FrozenProfile
from scenarios.sides import SIDES, Side

# The first voice call of a party server loads the models of its speech.
PREPARE_S = 60.0


def address_of(profile: FrozenProfile, side: Side) -> str:
    """Return where a side is reached: the profile's own address, else our party server."""
    if profile.address:
        return profile.address
    return str(settings.PARTY_AGENT_URL if side == "agent" else settings.PARTY_USER_URL)


async def prepare(call: Call) -> None:
    """Connect and prepare both sides at once; record each only when both can talk. Raises PartyFailed."""
    outcomes = await asyncio.gather(*(_prepare_side(call, side) for side in SIDES), return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    await sync_start(call)
    for prepared in outcomes:
        assert isinstance(prepared, PartyPrepared)
        call.record(prepared)


async def _prepare_side(call: Call, side: Side) -> PartyPrepared:
    profile = call.profile(side)
    told = call.spec.with_persona() if call.config.persona else call.spec
    prompt = call.domain.agent_prompt(call.spec) if side == "agent" else call.domain.caller_prompt(told)
    tools = call.environment.tool_schemas(side)
    model = profile.model.replace("{scenario}", call.spec.name)
    if profile.is_standin and call.config.voice is not None:
        model = on_voice(model)
    if side in call.theirs:
        await prepare_theirs(call, side, prompt)
        return PartyPrepared(side, profile.slug, model, prompt, tools, profile.is_standin, "theirs")
    link = call.links[side]
    await link.open()
    preparation = _preparation(call.name, profile, model, prompt, tools)
    if call.config.voice is not None and call.config.clock is not None:
        is_spoken_into = side == "agent" and call.conditions is not None and call.conditions.behaviour is not None
        voice = call.config.voice.of(side, call.config.clock, is_spoken_into=is_spoken_into)
        preparation["voice"] = voice.model_dump(mode="json")
    await link.request("prepare", preparation, PREPARE_S if call.config.voice else ANSWER_S)
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
