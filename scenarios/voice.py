"""How a voice call sounds: what each side hears and speaks with, and who may interrupt whom."""

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from scenarios.sides import Side
from scenarios.voice_conditions import Conditions, LineChoice

Clock = Literal["lockstep", "realtime"]
Service = Literal["local", "hosted", "pipecat", "tones"]
# Voices of the local service: the one model, as it is and a little higher.
LOCAL_VOICES = ("joe", "joe-high")
DEFAULT_VOICES: dict[Side, str] = {"agent": "joe", "user": "joe-high"}
# What a caller says to show that it listens.
BACKCHANNELS = ("Mhm.", "Okay.", "Right.", "Yeah.", "Uh-huh.")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Speech(_Frozen):
    """Recognition and synthesis of one side.

    ``local``: Whisper and Piper in the party's process (extra ``voice``). ``hosted``: an OpenAI-compatible endpoint
    (``/audio/speech``, ``/audio/transcriptions``). ``pipecat``: pipecat's own services by dotted name. ``tones``: a
    stand-in for tests and rehearsals that turns letters into tones and back.
    """

    service: Service = "local"
    voice: str = ""  # "": the side's usual one
    stt_model: str = ""
    tts_model: str = ""
    base_url: str = Field(default="", pattern=r"^(https?://.*)?$")
    key_env: str = Field(default="", pattern=r"^([A-Z_][A-Z0-9_]*)?$")  # the variable's name, never the key
    stt: str = ""  # dotted names of classes, such as pipecat.services.deepgram.stt.DeepgramSTTService
    tts: str = ""
    stt_parameters: dict[str, Any] = Field(default_factory=dict)  # arguments of those classes
    tts_parameters: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.service == "hosted" and not (self.base_url and self.stt_model and self.tts_model):
            raise ValueError("hosted speech needs a base_url, an stt_model and a tts_model")
        if self.service == "pipecat":
            for name in (self.stt, self.tts):
                if not name.startswith("pipecat.services.") or not name.replace(".", "_").isidentifier():
                    raise ValueError(
                        f"{name!r} is no service of pipecat: write a whole name such as "
                        "pipecat.services.deepgram.stt.DeepgramSTTService"
                    )
        if self.service == "local" and self.voice not in ("", *LOCAL_VOICES):
            raise ValueError(f"there is no local voice {self.voice!r}; there are {', '.join(LOCAL_VOICES)}")
        return self


class VoiceConfig(_Frozen):
    """The voice settings of a run."""

    agent: Speech = Speech()
    caller: Speech = Speech()
    # Off for benchmark runs: each side then hears the other out, as nobody's echo or cough cuts a sentence.
    interruptions: bool = False
    # Words of the listener that do not interrupt, such as "mm-hm" and "okay"; compared by letters only.
    backchannels: tuple[str, ...] = ()
    # Silence after which a side takes the other to have finished. 0.2 s cuts a spelled id into pieces.
    vad_stop_s: float = Field(default=0.8, ge=0.2, le=3)
    # None: the line is clean and the caller waits until the agent has finished.
    conditions: Conditions | None = None

    @model_validator(mode="after")
    def _can_be_heard(self) -> Self:
        """Refuse conditions that the chosen speech cannot bear."""
        if self.conditions is None:
            return self
        is_clean = self.conditions.line == LineChoice() and not self.conditions.persona
        if self.agent.service == "tones" and not is_clean:
            raise ValueError(
                "acoustics: tones are no speech, and noise or a telephone band would be taken for words; "
                "choose other speech for the agent, or a clean line"
            )
        if not self.conditions.behaviour.is_patient and self.caller.service == "pipecat":
            raise ValueError(
                "behaviour: what the caller says into the agent's turns is made with local, hosted or tones speech; "
                "choose one of them for the caller, or a caller that waits"
            )
        return self

    @property
    def is_standin(self) -> bool:
        """Return whether a side hears or speaks through a stand-in."""
        return "tones" in (self.agent.service, self.caller.service)

    def stored(self) -> dict[str, Any]:
        """Return the JSON that a run keeps: without conditions where there are none, as before there was a choice."""
        return self.model_dump(mode="json", exclude={"conditions"} if self.conditions is None else None)

    def of(self, side: Side, clock: Clock, *, is_spoken_into: bool = False) -> "PartyVoice":
        """Return what the party of a side is told; ``is_spoken_into``: the other may speak while it does."""
        speech = self.agent if side == "agent" else self.caller
        if not speech.voice and speech.service == "local":
            speech = speech.model_copy(update={"voice": DEFAULT_VOICES[side]})
        return PartyVoice(
            speech=speech,
            clock=clock,
            # Who is spoken into must be able to stop, and to tell an "mm-hm" from words.
            interruptions=self.interruptions or is_spoken_into,
            backchannels=(*self.backchannels, *(BACKCHANNELS if is_spoken_into else ())),
            vad_stop_s=self.vad_stop_s,
        )


class PartyVoice(_Frozen):
    """What one party is told about the voice call it is prepared for."""

    speech: Speech
    clock: Clock
    interruptions: bool = False
    backchannels: tuple[str, ...] = ()
    vad_stop_s: float = Field(default=0.8, ge=0.2, le=3)
