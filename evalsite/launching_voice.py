"""The fields of the launch form that only the voice channel has."""

from collections.abc import Mapping
from typing import Any

from django import forms

from evalsite.number_fields import WholeNumber
from scenarios.domains.base import Domain
from scenarios.speech_services import BUILT_IN, speech_services
from scenarios.voice import VoiceConfig
from scenarios.voice_conditions import BEHAVIOURS, LINES, PERSONA, chosen, names_of, persona_settings

CLOCKS = [("lockstep", "lockstep"), ("realtime", "real time")]
# Options of ``manage.py evaluate`` and the fields they stand for.
VOICE_OPTIONS = {
    "--clock": "clock",
    "--agent-speech": "agent_speech",
    "--caller-speech": "caller_speech",
    "--acoustics": "acoustics",
    "--behaviour": "behaviour",
    "--voice-seed": "voice_seed",
}


class VoiceFields(forms.Form):
    """Clock and speech of a voice run."""

    clock = forms.ChoiceField(
        choices=CLOCKS,
        initial="lockstep",
        required=False,
        help_text="Lockstep: as fast as the parties compute. Real time: to listen to, and for latencies.",
    )
    agent_speech = forms.ChoiceField(label="Agent's speech", initial="local", required=False)
    caller_speech = forms.ChoiceField(
        label="Caller's speech",
        initial="local",
        required=False,
        help_text="What it hears and speaks with. Tones are a stand-in: such a run is a rehearsal.",
    )

    acoustics = forms.ChoiceField(
        initial="clean",
        required=False,
        help_text="What the agent hears the caller over. A persona's setting also says how the caller behaves.",
    )
    behaviour = forms.ChoiceField(
        label="Caller's behaviour",
        choices=[(name, f"{name}: {choice}" if name != "waits" else name) for name, choice in BEHAVIOURS.items()],
        initial="waits",
        required=False,
        help_text="While the agent speaks; all but waits need the clock real time.",
    )
    voice_seed = WholeNumber(
        label="Seed of both",
        min_value=0,
        max_value=2**31,
        initial=1,
        required=False,
        help_text="The same seed: the same noise, losses and interruptions, trial by trial.",
    )

    def choose_acoustics(self, domain: Domain | None) -> None:
        """Offer the lines, and the settings of the personas of a domain that has them."""
        field = self.fields["acoustics"]
        assert isinstance(field, forms.ChoiceField)
        personas = persona_settings(domain) if domain else []
        field.choices = [
            *((name, f"{name}: {line}" if name != "clean" else name) for name, line in LINES.items()),
            *((PERSONA + name, f"the persona's own: {name}") for name in personas),
        ]

    def choose_speech(self) -> None:
        """Offer the services there are; the built-in ones where the file of the others cannot be read."""
        try:
            names = list(speech_services())
        except ValueError:
            names = list(BUILT_IN)
        for name in ("agent_speech", "caller_speech"):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [(each, each) for each in names]


def voice_config(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a run's configuration that the voice fields stand for. ValueError names an unknown service."""
    if data["channel"] != "voice":
        return {}
    services = speech_services()
    agent, caller = (services[data.get(name) or "local"] for name in ("agent_speech", "caller_speech"))
    seed = data.get("voice_seed")
    names = (data.get("acoustics") or "clean", data.get("behaviour") or "waits")
    conditions = chosen(*names, seed=1 if seed is None else seed)
    voice = VoiceConfig(agent=agent, caller=caller, conditions=conditions)
    return {"clock": data.get("clock") or "lockstep", "voice": voice}


def voice_like(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the initial values of the fields for a run like one with this stored configuration."""
    voice = config.get("voice")
    if not voice:
        return {}
    found = {"clock": config["clock"]}
    found["acoustics"], found["behaviour"], found["voice_seed"] = names_of(voice.get("conditions"))
    try:
        services = speech_services()
    except ValueError:
        services = dict(BUILT_IN)
    for side in ("agent", "caller"):
        same = (name for name, service in services.items() if service.model_dump(mode="json") == voice[side])
        found[f"{side}_speech"] = next(same, "local")
    return found
