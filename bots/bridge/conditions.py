"""The conditions of one voice call: the caller's line to the agent, and what it says into the agent's turns.

Resolved before anybody is called: a persona's setting is the scenario's own, the dice are the trial's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bots.bridge.acoustics import Acoustics, Line
from bots.bridge.audio.pcm import RATE
from bots.bridge.contract import PartyFailed
from bots.party.speech_behaviour import SpeechBehaviour
from scenarios.domains.base import Domain, ScenarioSpec
from scenarios.voice_conditions import Conditions, LineChoice


@dataclass(frozen=True)
class CallConditions:
    """``behaviour`` None: the caller waits. ``seed`` is the trial's, of the caller's direction."""

    acoustics: Acoustics
    behaviour: SpeechBehaviour | None
    seed: int
    persona: str = ""

    def line(self) -> Line | None:
        """Return a fresh line from the caller to the agent; None where it changes nothing. Takes up to a second."""
        return None if self.acoustics.is_clean else Line(self.acoustics, RATE, self.seed)

    def __str__(self) -> str:
        """Return what the record says of them."""
        values = {name: getattr(self.acoustics, name) for name in LineChoice.model_fields}
        line = ", ".join(filter(None, (str(LineChoice(**values)), self.acoustics.more)))
        told = f"the agent hears the caller over a line that is: {line} (seed {self.seed})"
        told += f"; by persona setting {self.persona}" if self.persona else ""
        skipped = self.acoustics.not_simulated
        return told + (f"; not simulated of it: {', '.join(skipped)}" if skipped else "")


def conditions_of(chosen: Conditions, domain: Domain, spec: ScenarioSpec, number: int) -> CallConditions:
    """Return the conditions of a trial. Raises PartyFailed when the persona's setting is not there any more."""
    seed = chosen.seed_of(spec.name, number, "user")
    if chosen.persona:
        setting = _setting(chosen.persona, domain, spec)
        behaviour = SpeechBehaviour.from_voice_config(setting)
        acoustics = Acoustics.from_voice_config(setting)
    else:
        behaviour = SpeechBehaviour(**chosen.behaviour.model_dump())
        acoustics = Acoustics(**chosen.line.model_dump())
    return CallConditions(acoustics, None if behaviour == SpeechBehaviour() else behaviour, seed, chosen.persona)


def _setting(name: str, domain: Domain, spec: ScenarioSpec) -> Mapping[str, Any]:
    found = domain.voice_settings(spec).get(name)
    if found is None:
        text = f"{spec.name} has no persona setting {name!r}: is tasks_voice.json there (manage.py fetch_benchmarks)?"
        raise PartyFailed("missing_data", text, retry=False)
    return found
