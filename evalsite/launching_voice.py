"""The fields of the launch form that only the voice channel has."""

from collections.abc import Mapping
from typing import Any

from django import forms

from scenarios.speech_services import BUILT_IN, speech_services
from scenarios.voice import VoiceConfig

CLOCKS = [("lockstep", "lockstep"), ("realtime", "real time")]
# Options of ``manage.py evaluate`` and the fields they stand for.
VOICE_OPTIONS = {"--clock": "clock", "--agent-speech": "agent_speech", "--caller-speech": "caller_speech"}


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
    return {"clock": data.get("clock") or "lockstep", "voice": VoiceConfig(agent=agent, caller=caller)}


def voice_like(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the initial values of the fields for a run like one with this stored configuration."""
    voice = config.get("voice")
    if not voice:
        return {}
    found = {"clock": config["clock"]}
    try:
        services = speech_services()
    except ValueError:
        services = dict(BUILT_IN)
    for side in ("agent", "caller"):
        same = (name for name, service in services.items() if service.model_dump(mode="json") == voice[side])
        found[f"{side}_speech"] = next(same, "local")
    return found
