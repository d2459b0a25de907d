"""When a caller interrupts, says "mhm" or makes a noise: decided by seed, before the agent has said a word of the turn.

Plain functions of settings, seed and turn number, so that a call held again meets the same caller. Times are counted
from the agent's first audio of the turn; an event that lies after its end does not happen.
"""

import hashlib
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from scenarios.voice import BACKCHANNELS

CUT_INS = ("Sorry, wait a moment.", "Hold on, just a second.", "Wait, can I say something?")
# What a person says to somebody else in the room, and the sounds of one who has a cold.
ASIDES = ("Not now, please.", "I'm on the telephone.", "Just a minute.", "Can you wait a moment?")

Kind = Literal["backchannel", "aside"]
# Speech of about this many words a second turns a threshold in words into a time.
_WORDS_PER_SECOND = 2.6


@dataclass(frozen=True)
class SpeechBehaviour:
    """How a caller of a run behaves on the telephone; the default one waits and is silent while the agent speaks."""

    interruption_chance: float = 0.0  # of cutting into an agent turn that is long enough
    interrupt_after_s: tuple[float, float] = (1.5, 6.0)
    backchannel_chance: float = 0.0  # at each pause for one
    backchannel_every_s: float = 4.0
    backchannel_after_words: int = 3
    asides_per_minute: float = 0.0

    def __post_init__(self) -> None:
        """Refuse chances beyond 0 to 1 and times that run backwards."""
        for name in ("interruption_chance", "backchannel_chance"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)}: choose 0 to 1")
        first, last = self.interrupt_after_s
        if not 0 <= first <= last:
            raise ValueError(f"interrupt_after_s is {first} to {last} s: choose two times, the earlier first")
        if self.backchannel_every_s <= 0 or self.backchannel_after_words < 0:
            raise ValueError("backchannel_every_s must be above 0 and backchannel_after_words 0 or more")
        if not 0 <= self.asides_per_minute <= 30:
            raise ValueError(f"asides_per_minute is {self.asides_per_minute}: choose 0 to 30")

    @classmethod
    def from_voice_config(cls, config: Mapping[str, Any]) -> Self:
        """Return one persona setting of ``tasks_voice.json``.

        The benchmark lets a model decide when; here the persona's tendency sets the chance, so that it costs nothing
        and repeats.
        """
        speech, persona = config.get("speech_effects_config") or {}, config.get("persona_config") or {}
        cuts_in = bool(config.get("enable_interruptions")) and persona.get("interrupt_tendency") == "interrupts"
        threshold = config.get("backchannel_min_threshold")
        says_asides = bool(speech.get("enable_non_directed_phrases"))
        return cls(
            interruption_chance=0.25 if cuts_in else 0.0,
            backchannel_chance=0.0 if threshold is None else 0.3,
            backchannel_after_words=3 if threshold is None else int(threshold),
            asides_per_minute=float(speech.get("speech_insert_events_per_minute", 0.0)) if says_asides else 0.0,
        )


@dataclass(frozen=True)
class CutIn:
    """The caller takes the word ``after_s`` into the agent's turn."""

    after_s: float
    text: str


@dataclass(frozen=True)
class Sound:
    """Something short that does not take the word."""

    kind: Kind
    after_s: float
    text: str


def cut_in(behaviour: SpeechBehaviour, seed: int, turn: int) -> CutIn | None:
    """Return when the caller would cut into agent turn ``turn``, or None when it lets the agent finish."""
    dice = _dice(seed, turn, "cut in")
    if dice.random() >= behaviour.interruption_chance:
        return None
    return CutIn(dice.uniform(*behaviour.interrupt_after_s), dice.choice(CUT_INS))


def sounds(behaviour: SpeechBehaviour, seed: int, turn: int, length_s: float) -> list[Sound]:
    """Return the backchannels and asides of an agent turn of ``length_s`` seconds in the order of time.

    None comes after the caller has cut in. A longer turn keeps those of a shorter one, so a turn whose length is not
    known yet may be asked about again as it goes on.
    """
    if not math.isfinite(length_s) or length_s < 0:
        raise ValueError(f"an agent turn of {length_s} s: the length must be 0 or more")
    cut = cut_in(behaviour, seed, turn)
    end = length_s if cut is None else min(length_s, cut.after_s)
    found = [*_backchannels(behaviour, seed, turn, end), *_asides(behaviour, seed, turn, end)]
    return sorted(found, key=lambda sound: sound.after_s)


def _backchannels(behaviour: SpeechBehaviour, seed: int, turn: int, end_s: float) -> list[Sound]:
    if not behaviour.backchannel_chance:
        return []
    dice = _dice(seed, turn, "backchannel")
    found = []
    at = max(
        behaviour.backchannel_after_words / _WORDS_PER_SECOND, behaviour.backchannel_every_s * dice.uniform(0.5, 1)
    )
    while at < end_s:
        chance, text, wait = dice.random(), dice.choice(BACKCHANNELS), dice.uniform(0.75, 1.25)
        if chance < behaviour.backchannel_chance:
            found.append(Sound("backchannel", at, text))
        at += behaviour.backchannel_every_s * wait
    return found


def _asides(behaviour: SpeechBehaviour, seed: int, turn: int, end_s: float) -> list[Sound]:
    """Return asides as they come by chance, so many a minute on average (Poisson)."""
    if not behaviour.asides_per_minute:
        return []
    dice = _dice(seed, turn, "aside")
    found: list[Sound] = []
    at = dice.expovariate(behaviour.asides_per_minute / 60)
    while at < end_s:
        found.append(Sound("aside", at, dice.choice(ASIDES)))
        at += dice.expovariate(behaviour.asides_per_minute / 60)
    return found


def _dice(seed: int, turn: int, what: str) -> random.Random:
    """Return dice of their own for each decision: one more of the one kind moves none of the other."""
    digest = hashlib.sha256(f"{seed}/{turn}/{what}".encode()).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))  # noqa: S311 - repeatable on purpose
