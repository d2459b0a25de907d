"""From a filled launch form to a run with its trials, in one transaction."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, Self

from django.conf import settings
from django.db import IntegrityError, transaction
from pydantic import BaseModel, ConfigDict, Field, model_validator

from scenarios import catalogue, voice_capacity
from scenarios.domains import load
from scenarios.lifecycle import cost_of
from scenarios.models import Run, Scenario, Trial
from scenarios.scoring.config import Strictness
from scenarios.searchable import composed
from scenarios.versions import versions
from scenarios.voice import Clock, VoiceConfig
from scenarios.voice_conditions import ONLY_REALTIME, check_persona

MAX_TRIALS = 100_000


class FrozenProfile(BaseModel):
    """A profile as a run keeps it (``Profile.frozen``)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    slug: str
    kind: Literal["agent", "caller", "judge"]
    model: str = ""
    base_url: str = ""
    key_env: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    address: str = ""
    tools_run: Literal["ours", "theirs"] = "ours"
    # Judges only: the version of what they are told ("": the built-in text), and how replies are asked for.
    prompt_version: str = ""
    structure: Literal["auto", "schema", "plain"] = "auto"
    prompt_price: float | None = None
    completion_price: float | None = None
    is_standin: bool = False

    @model_validator(mode="before")
    @classmethod
    def _find_standin(cls, data: Any) -> Any:
        """A stand-in is wherever its endpoint is now: the port may differ from the one at launch."""
        if isinstance(data, dict) and data.get("is_standin") and not data.get("base_url"):
            return {**data, "base_url": settings.STANDIN_URL}
        return data

    @model_validator(mode="after")
    def _can_be_reached(self) -> Self:
        if not self.model and not self.address:
            raise ValueError(f"profile {self.slug!r} names neither a model nor a socket address: edit the profile")
        return self


class Limits(BaseModel):
    """Where a call or a run is stopped. Times in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_turns: int = Field(default=100, ge=1, le=1000)  # turns of both sides
    max_duration_s: int | None = Field(default=None, ge=1)  # None: the scenario's own
    silence_s: float = Field(default=30, gt=0)  # nobody owes or says anything
    repeated_turns: int = Field(default=3, ge=2)  # the same exchange this many times in a row is a loop
    concurrency: int | None = Field(default=None, ge=1)  # calls of this run at once; None: what the lanes hold
    max_cost: float | None = Field(default=None, gt=0)  # dollars; refused when a price is unknown


class ScenarioRef(BaseModel):
    """A scenario as it was when the run was launched."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    fingerprint: str


class RunConfig(BaseModel):
    """The whole frozen configuration of a run: ``Run.config`` is its JSON, ``Run.fingerprint`` its SHA-256."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    domain: str
    scenarios: list[ScenarioRef]
    trials: int = Field(ge=1, le=100)
    agent: FrozenProfile
    caller: FrozenProfile
    judge: FrozenProfile | None
    channel: Literal["text", "voice"] = "text"
    # Of the voice channel: lockstep is as fast as the parties compute, realtime as fast as people listen.
    clock: Clock | None = None
    voice: VoiceConfig | None = None
    fidelity: Literal["canonical", "reference"] = "canonical"
    limits: Limits = Limits()
    pace_s: float = Field(default=0, ge=0, le=60)  # seconds that a turn takes at least, so that people can watch
    min_agent_turns: int = Field(default=3, ge=0)
    strict_match: bool = False
    strictness: Strictness = "reference"
    persona: bool = False  # the caller is told the scenario's persona text, where it has one
    versions: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _speak(cls, data: Any) -> Any:
        """A voice run that says no more is held in lockstep with local speech."""
        if isinstance(data, dict) and data.get("channel") == "voice":
            return {**data, "clock": data.get("clock") or "lockstep", "voice": data.get("voice") or VoiceConfig()}
        return data

    @model_validator(mode="after")
    def _has_one_channel(self) -> Self:
        if self.channel == "text" and (self.clock or self.voice):
            raise ValueError(
                "clock: only the voice channel has one; choose the channel voice, or leave clock and voice"
            )
        if self.clock == "lockstep" and self.voice is not None and self.voice.interruptions:
            raise ValueError(
                "voice.interruptions: in lockstep nobody hears the other while they speak; choose the clock realtime"
            )
        if self.voice is not None and self.voice.conditions and not self.voice.conditions.behaviour.is_patient:
            self._check_behaviour()
        if self.channel == "voice" and self.pace_s:
            raise ValueError("pace_s: speech has its own pace; on the voice channel choose the clock realtime")
        return self

    def _check_behaviour(self) -> None:
        """Refuse a caller that speaks into the agent's turns where it cannot."""
        if self.clock == "lockstep":
            raise ValueError(f"voice.behaviour: {ONLY_REALTIME}, or a caller that waits")
        if self.caller.address:
            raise ValueError(
                f"voice.behaviour: {self.caller.slug!r} is a bot with an address, which behaves as it does; "
                "choose a built-in caller, or one that waits"
            )

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        for role, profile in (("agent", self.agent), ("caller", self.caller), ("judge", self.judge)):
            if profile is not None and profile.kind != role:
                raise ValueError(f"{role}: {profile.slug!r} is a profile of a {profile.kind}; choose one of a {role}")
            if profile is not None and profile.tools_run == "theirs" and not profile.address:
                raise ValueError(
                    f"{role}: {profile.slug!r} keeps its tools with the bot but names no bot: give its socket address, "
                    "or set 'tools run' to 'with us' in the profile"
                )
        if not self.scenarios:
            raise ValueError("scenarios: none chosen; a run needs at least one")
        twice = [name for name, count in Counter(ref.name for ref in self.scenarios).items() if count > 1]
        if twice:
            raise ValueError(f"scenarios: {twice[0]!r} is listed twice; set trials to hold it more than once")
        if len(self.scenarios) * self.trials > MAX_TRIALS:
            raise ValueError(f"trials: {len(self.scenarios)} scenarios x {self.trials} are more than {MAX_TRIALS:,}")
        if self.limits.max_cost is not None and (unknown := self.unpriced):
            raise ValueError(
                f"limits.max_cost: no cap can be kept, since the price of {', '.join(unknown)} is unknown; "
                "enter prices in the profile or launch without a cap"
            )
        return self

    @property
    def parties(self) -> tuple[FrozenProfile, ...]:
        """Return agent, caller and (if there is one) judge."""
        return (self.agent, self.caller, *([self.judge] if self.judge else []))

    @property
    def unpriced(self) -> list[str]:
        """Return the profiles whose price is unknown."""
        return [profile.slug for profile in self.parties if cost_of(profile.model_dump(), ()) is None]

    @property
    def is_rehearsal(self) -> bool:
        """Return whether a party or the judge is a stand-in."""
        return any(profile.is_standin for profile in self.parties) or (self.voice is not None and self.voice.is_standin)

    def stored(self) -> dict[str, Any]:
        """Return the JSON that a run keeps: without the momentary address of the stand-ins."""
        data = self.model_dump(mode="json")
        if self.channel == "text":  # as before there was a voice channel, so that old fingerprints stay
            del data["clock"], data["voice"]
        elif self.voice is not None:
            data["voice"] = self.voice.stored()
        for profile in (data["agent"], data["caller"], data["judge"]):
            for name, usual in (("prompt_version", ""), ("structure", "auto")):  # as before there was a choice
                if profile and profile[name] == usual:
                    del profile[name]
            if profile and profile["is_standin"] and profile["base_url"] == settings.STANDIN_URL:
                profile["base_url"] = ""
        return data

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of the whole configuration as it is stored."""
        text = json.dumps(self.stored(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def check_conditions(config: RunConfig) -> None:
    """Refuse a persona's setting that the scenarios do not have or that cannot be played. Raises ValueError."""
    conditions = config.voice.conditions if config.voice else None
    if conditions is not None and conditions.persona:
        names = [ref.name for ref in config.scenarios]
        can_be_busy = config.clock == "realtime" and not config.caller.address
        check_persona(conditions.persona, load()[config.domain], names, can_be_busy=can_be_busy)


def launch(config: RunConfig, *, person: Any, title: str = "", launch_key: str | None = None) -> Run:
    """Write a run and its trials in one transaction; the same ``launch_key`` returns the run it already made.

    The configuration is frozen with the versions it runs on. The caller wakes the lanes (``bots.wake.wake_lanes``)
    after the transaction. Trials are queued repetition by repetition, so a run that is stopped early has covered the
    scenarios evenly.
    """
    if launch_key and (made := Run.objects.filter(launch_key=launch_key).first()):
        return made
    frozen = config.model_copy(
        update={"versions": {**versions(), **config.versions}, "limits": kept_limits(config)},
    )
    rows = _scenario_rows(frozen)
    try:
        with transaction.atomic():
            return _write(frozen, rows, person, title, launch_key)
    except IntegrityError:
        made = Run.objects.filter(launch_key=launch_key).first() if launch_key else None
        if made is None:
            raise
        return made  # somebody pressed twice, and the other press won


def kept_limits(config: RunConfig) -> Limits:
    """Return the limits, with the calls at once that bots and this machine can bear where the run does not say.

    A bot that keeps its own state holds one conversation (``spec/reference-system.md`` 1.2), so more would only wait
    for each other. Voice calls are work for this machine, in real time above all.
    """
    if config.limits.concurrency is not None:
        return config.limits
    if any(profile.tools_run == "theirs" for profile in (config.agent, config.caller)):
        return config.limits.model_copy(update={"concurrency": 1})
    if config.clock is None:
        return config.limits
    return config.limits.model_copy(update={"concurrency": voice_capacity.limit(config.clock).calls})


def expand(domain: str, names: Sequence[str]) -> list[ScenarioRef]:
    """Return the registered scenarios called ``names`` with their fingerprints; ValueError names the unknown ones."""
    known = {spec.name: spec for spec in catalogue.specs(domain)}
    if unknown := [name for name in names if name not in known]:
        listed = ", ".join(map(repr, unknown[:5])) + (f" and {len(unknown) - 5} more" if len(unknown) > 5 else "")
        raise ValueError(f"domain {domain!r} has no scenario {listed}; its names look like {next(iter(known), '-')!r}")
    return [ScenarioRef(name=name, fingerprint=known[name].fingerprint) for name in names]


def _scenario_rows(config: RunConfig) -> dict[str, int]:
    """Return primary keys by scenario name; mirrors the domain into rows first when some are missing."""
    names = [ref.name for ref in config.scenarios]
    rows = dict(Scenario.objects.filter(domain=config.domain).values_list("name", "pk"))
    if any(name not in rows for name in names):
        catalogue.sync()
        rows = dict(Scenario.objects.filter(domain=config.domain).values_list("name", "pk"))
    if missing := [name for name in names if name not in rows]:
        raise ValueError(f"domain {config.domain!r} has no scenario {missing[0]!r}")
    return rows


def _write(config: RunConfig, rows: dict[str, int], person: Any, title: str, launch_key: str | None) -> Run:
    run = Run.objects.create(
        title=composed(title),
        domain=config.domain,
        channel=config.channel,
        config=config.stored(),
        fingerprint=config.fingerprint,
        launch_key=launch_key,
        trial_count=len(config.scenarios) * config.trials,
        is_rehearsal=config.is_rehearsal,
        launched_by=person,
        cost=None if config.unpriced else 0.0,
    )
    size = len(config.scenarios)
    Trial.objects.bulk_create(
        (
            Trial(run=run, scenario_id=rows[ref.name], number=number + 1, position=number * size + index)
            for number in range(config.trials)
            for index, ref in enumerate(config.scenarios)
        ),
        batch_size=1000,
    )
    return run
