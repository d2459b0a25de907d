"""What a voice run does to the caller's speech on its way to the agent, and how its caller behaves on the telephone.

Plain choices as a run keeps them; ``bots`` makes them sound. A run may also take them from a persona's setting of
the benchmark (``tasks_voice.json``), scenario by scenario.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from scenarios.domains.base import Domain
from scenarios.sides import Side

ONLY_REALTIME = "in lockstep a turn is heard when it is over, so nobody can speak into it; choose the clock realtime"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LineChoice(_Frozen):
    """The line from the caller to the agent; the other direction is clean, as in the reference."""

    telephone: bool = False  # 300 to 3400 Hz, mu-law
    noise: Literal["pink", "street", "babble"] | None = None
    snr_db: float = Field(default=15, ge=-20, le=60)  # level of active speech over the noise
    loss_rate: float = Field(default=0, ge=0, le=0.5)  # share of packets lost
    loss_burst_ms: float = Field(default=20, ge=20, le=2000)  # mean length of a loss; 20: losses are independent
    concealment: Literal["silence", "repeat"] = "silence"

    def __str__(self) -> str:
        """Return it in words."""
        words = [
            "telephone band" if self.telephone else "",
            f"{self.noise} noise at {self.snr_db:g} dB" if self.noise else "",
            f"{self.loss_rate:.1%} of packets lost, {self.loss_burst_ms:g} ms at a time, filled with {self.concealment}"
            if self.loss_rate
            else "",
        ]
        return ", ".join(filter(None, words)) or "clean"


class BehaviourChoice(_Frozen):
    """What the caller does while the agent speaks; by default nothing."""

    interruption_chance: float = Field(default=0, ge=0, le=1)  # of cutting into an agent's turn
    interrupt_after_s: tuple[float, float] = (1.5, 6.0)  # of its sound, drawn between these
    backchannel_chance: float = Field(default=0, ge=0, le=1)  # at each pause for an "mm-hm"
    backchannel_every_s: float = Field(default=4, gt=0, le=60)  # between such pauses
    asides_per_minute: float = Field(default=0, ge=0, le=30)  # words to somebody else in the room

    @property
    def is_patient(self) -> bool:
        """Return whether the caller is silent while the agent speaks."""
        return not (self.interruption_chance or self.backchannel_chance or self.asides_per_minute)

    def __str__(self) -> str:
        """Return it in words."""
        words = [
            f"cuts into {self.interruption_chance:.0%} of the agent's turns" if self.interruption_chance else "",
            f"backchannels at {self.backchannel_chance:.0%} of the pauses for one" if self.backchannel_chance else "",
            f"{self.asides_per_minute:g} asides a minute" if self.asides_per_minute else "",
        ]
        return ", ".join(filter(None, words)) or "waits"


LINES: Mapping[str, LineChoice] = {
    "clean": LineChoice(),
    "telephone": LineChoice(telephone=True),
    "noisy": LineChoice(telephone=True, noise="street", snr_db=15, loss_rate=0.02, loss_burst_ms=60),
}
BEHAVIOURS: Mapping[str, BehaviourChoice] = {
    "waits": BehaviourChoice(),
    "backchannels": BehaviourChoice(backchannel_chance=0.3),
    "interrupts": BehaviourChoice(interruption_chance=0.25, backchannel_chance=0.3),
}


class Conditions(_Frozen):
    """The conditions of a run. A persona's setting, where one is named, holds both line and behaviour."""

    line: LineChoice = LineChoice()
    behaviour: BehaviourChoice = BehaviourChoice()
    persona: str = ""  # name of a setting in tasks_voice.json
    seed: int = Field(default=1, ge=0, le=2**31)

    def seed_of(self, scenario: str, number: int, side: Side) -> int:
        """Return the seed of a trial and direction: the same when it is held again, and in every run with this seed."""
        digest = hashlib.sha256(f"{self.seed}/{scenario}/{number}/{side}".encode()).digest()
        return int.from_bytes(digest[:6], "big")


PERSONA = "persona:"  # before the name of a setting, where a line is chosen by name


def chosen(acoustics: str, behaviour: str, seed: int) -> Conditions | None:
    """Return the conditions of two names (of ``LINES`` or ``persona:NAME``, and of ``BEHAVIOURS``); None for none.

    ValueError lists the names there are.
    """
    if behaviour not in BEHAVIOURS:
        raise ValueError(f"behaviour: there is no {behaviour!r}; there are {', '.join(BEHAVIOURS)}")
    if acoustics.startswith(PERSONA):
        if behaviour != "waits":
            raise ValueError("behaviour: a persona's setting says how its caller behaves; leave this at waits")
        return Conditions(persona=acoustics.removeprefix(PERSONA), seed=seed)
    if acoustics not in LINES:
        names = ", ".join([*LINES, f"{PERSONA}NAME"])
        raise ValueError(f"acoustics: there is no {acoustics!r}; there are {names}")
    found = Conditions(line=LINES[acoustics], behaviour=BEHAVIOURS[behaviour], seed=seed)
    return None if found == Conditions(seed=seed) else found


def names_of(conditions: Mapping[str, Any] | None) -> tuple[str, str, int]:
    """Return the names and the seed that stored conditions were chosen by; what has no name is ``clean``, ``waits``."""
    if not conditions:
        return "clean", "waits", 1
    kept = Conditions.model_validate(conditions)
    line = next((name for name, line in LINES.items() if line == kept.line), "clean")
    behaviour = next((name for name, one in BEHAVIOURS.items() if one == kept.behaviour), "waits")
    return (f"{PERSONA}{kept.persona}" if kept.persona else line), behaviour, kept.seed


def is_busy(setting: Mapping[str, Any]) -> bool:
    """Return whether a persona's setting has a caller who speaks while the agent does."""
    speech = setting.get("speech_effects_config") or {}
    return bool(
        setting.get("enable_interruptions")
        or setting.get("backchannel_min_threshold") is not None
        or speech.get("enable_non_directed_phrases")
    )


def persona_settings(domain: Domain) -> list[str]:
    """Return the names of the persona settings that a domain's files have; none where they are absent."""
    specs = domain.scenarios() if domain.missing_data() is None else ()
    return list(domain.voice_settings(specs[0])) if specs else []


def check_persona(name: str, domain: Domain, scenarios: Sequence[str], *, can_be_busy: bool) -> None:
    """Refuse a persona's setting that a scenario does not have, or whose caller cannot behave like that.

    ``can_be_busy``: the clock is realtime and the caller built in. Raises ValueError.
    """
    specs = {spec.name: spec for spec in domain.scenarios()}
    for scenario in scenarios:
        settings = domain.voice_settings(specs[scenario])
        if name not in settings:
            there = ", ".join(settings) or "none: tasks_voice.json is absent (manage.py fetch_benchmarks)"
            raise ValueError(f"acoustics: {scenario} has no persona setting {name!r}; there are {there}")
        if not can_be_busy and is_busy(settings[name]):
            quiet = ", ".join(other for other, setting in settings.items() if not is_busy(setting))
            raise ValueError(
                f"acoustics: the callers of persona setting {name!r} speak while the agent does; {ONLY_REALTIME} and "
                f"a built-in caller, or a setting whose callers wait ({quiet})"
            )
