"""One call, from two sockets to its evidence."""

import asyncio
from typing import TYPE_CHECKING

from bots.bridge.channels import Talk, open_channel
from bots.bridge.contract import PartyFailed, Record, Stop
from bots.bridge.ending import pull
from bots.bridge.link import Heard, Link
from bots.bridge.preparing import address_of, prepare
from bots.bridge.repeats import RepeatWatch
from bots.bridge.state import Call, Ended
from bots.bridge.theirs.control import MAX_SEND_BYTES as THEIR_LIMIT
from bots.bridge.theirs.side import TheirSide, settle_s
from bots.bridge.wire import MAX_SEND_BYTES
from scenarios.domains import load
from scenarios.domains.base import Domain, Refusal, ScenarioSpec
from scenarios.domains.environment import Environment
from scenarios.events import CallEnded, CallIntervened, CallStarted
from scenarios.launch import FrozenProfile, RunConfig
from scenarios.lifecycle import Claim
from scenarios.scoring.evidence import Evidence, gather
from scenarios.sides import SIDES, Side

if TYPE_CHECKING:
    from bots.bridge.conditions import CallConditions

__all__ = ["PartyFailed", "Record", "Stop", "hold_call"]


async def hold_call(trial: Claim, record: Record, stop: Stop) -> Evidence:
    """Hold the conversation of a trial and return its evidence.

    Raises PartyFailed when a party or the harness broke (the lane then retries), never for what an agent does wrong.
    """
    call = _open(trial, record, stop)
    try:
        await prepare(call)
        async with open_channel(call, trial) as talk:
            await _hold(call, talk)
    finally:
        await asyncio.gather(*(link.close() for link in call.links.values()), return_exceptions=True)
    return gather(call.spec, record.events, call.config.fidelity)


def _open(trial: Claim, record: Record, stop: Stop) -> Call:
    config = RunConfig.model_validate(trial.config)
    domain, spec = _find(config.domain, trial.scenario)
    try:
        environment = Environment(domain, spec, config.fidelity)
    except Refusal as refusal:
        raise PartyFailed("scenario_broken", f"{spec.name} cannot start: {refusal}", retry=False) from refusal
    inbox: asyncio.Queue[Heard] = asyncio.Queue()
    profiles: dict[Side, FrozenProfile] = {"user": config.caller, "agent": config.agent}
    theirs = {side: profiles[side] for side in SIDES if profiles[side].tools_run == "theirs"}
    return Call(
        name=f"run {trial.run_id} {trial.scenario}#{trial.number}",
        spec=spec,
        domain=domain,
        environment=environment,
        config=config,
        record=record,
        stop=stop,
        inbox=inbox,
        links={
            side: Link(side, address_of(profiles[side], side), inbox, THEIR_LIMIT if side in theirs else MAX_SEND_BYTES)
            for side in SIDES
        },
        theirs={side: TheirSide(settle_s(profile.parameters)) for side, profile in theirs.items()},
        watch=RepeatWatch(config.limits.repeated_turns),
        conditions=_conditions(config, domain, spec, trial),
    )


def _conditions(config: RunConfig, domain: Domain, spec: ScenarioSpec, trial: Claim) -> "CallConditions | None":
    if config.voice is None or config.voice.conditions is None:
        return None
    from bots.bridge.conditions import conditions_of  # arrays, which a text call does without

    return conditions_of(config.voice.conditions, domain, spec, trial.number)


def _find(domain_name: str, scenario: str) -> tuple[Domain, ScenarioSpec]:
    domain = load().get(domain_name)
    if domain is None:
        raise PartyFailed("unknown_domain", f"no domain is called {domain_name!r}", retry=False)
    if missing := domain.missing_data():
        raise PartyFailed("missing_data", missing, retry=False)
    for spec in domain.scenarios():
        if spec.name == scenario:
            return domain, spec
    raise PartyFailed("unknown_scenario", f"{domain_name} has no scenario {scenario!r}", retry=False)


async def _hold(call: Call, talk: Talk) -> None:
    call.record(CallStarted(call.config.channel))
    try:
        end = await talk()
    except PartyFailed as failure:
        _record_end(call, Ended("party_failed", failure.side, f"{failure.kind}: {failure}"), call.record.now_ms)
        raise
    duration_ms = call.record.now_ms
    if end.reason == "hang_up":
        call.record(CallIntervened("hang_up", call.stop.person))
    try:
        await pull(call, end)
    finally:  # the talk ended as it did, even if a party gives no end state
        _record_end(call, end, duration_ms)


def _record_end(call: Call, end: Ended, duration_ms: int) -> None:
    call.record(CallEnded(end.reason, end.by, duration_ms, end.message))
