"""The first message of a call: what a party must know before it may say a word."""

import os
import re
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from bots.bridge.wire import BadFrame, Message, decode
from scenarios.voice import PartyVoice

# Secrets of the site itself are no model keys, whatever a profile says.
_NOT_KEYS = frozenset({"SECRET_KEY", "DATABASE_URL", "REDIS_URL"})
# Speech that strangers may not choose: with it they could send this process's variables anywhere.
_WITH_KEYS = frozenset({"hosted", "pipecat"})
_KEY_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")


class Refused(Exception):
    """The preparation cannot be used: ``kind`` is short, the text names the input and the remedy."""

    def __init__(self, kind: str, message: str, request_id: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.request_id = request_id


class Endpoint(BaseModel):
    """A model behind an OpenAI-compatible endpoint; ``key_env`` names the variable of this process with its key."""

    model_config = ConfigDict(extra="forbid")

    base_url: str = Field(pattern=r"^https?://")
    model: str = Field(min_length=1)
    key_env: str = ""
    # Request parameters as the endpoint takes them; ``timeout_s`` is ours: the longest silence of a stream.
    parameters: dict[str, Any] = Field(default_factory=dict)

    @field_validator("key_env")
    @classmethod
    def _is_a_key_name(cls, value: str) -> str:
        if value and (not _KEY_NAME.fullmatch(value) or value in _NOT_KEYS):
            raise ValueError(f"{value!r} is not the name of a variable that may hold a model's key")
        return value


class ToolOffer(BaseModel):
    """A tool as a model is shown it; ``parameters`` is a JSON schema."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1)
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})


class Preparation(BaseModel):
    """The data of ``prepare``."""

    model_config = ConfigDict(extra="forbid")

    call: str = ""  # what logs call this call
    prompt: str
    tools: list[ToolOffer] = Field(default_factory=list)
    llm: Endpoint
    tool_timeout_s: float = Field(default=30, gt=0)
    voice: PartyVoice | None = None  # None: the text channel


def read_preparation(payload: bytes | str, own: Endpoint | None = None) -> tuple[Preparation, str]:
    """Return the preparation in a first frame and the id to answer under; raises Refused.

    A server with its ``own`` model uses that one, whatever the bridge names: it is served to strangers.
    """
    message = _first_message(payload)
    request = message.data.get("d")
    if own is not None and isinstance(request, dict):
        request = {**request, "llm": own.model_dump()}
    try:
        preparation = Preparation.model_validate(request)
    except ValidationError as error:
        fields = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'd'}: {e['msg']}" for e in error.errors())
        raise Refused("bad_preparation", f"the preparation is not usable: {fields}", message.id) from error
    if own is not None and preparation.voice is not None and preparation.voice.speech.service in _WITH_KEYS:
        text = f"{preparation.voice.speech.service} speech would use keys of this process: choose local speech"
        raise Refused("speech_refused", text, message.id)
    return preparation, message.id


def _first_message(payload: bytes | str) -> Message:
    try:
        message = decode(payload)
    except BadFrame as error:
        raise Refused("bad_frame", f"the first frame is no RTVI message: {error}") from error
    if message is None or message.type != "client-message" or message.data.get("t") != "prepare":
        raise Refused("not_prepared", "the first message of a call must be the client-message 'prepare'")
    return message


def read_key(endpoint: Endpoint) -> str:
    """Return the key from this process's environment; raises Refused when the variable is not set."""
    if not endpoint.key_env:
        return "none"  # the client library insists on one
    if key := os.environ.get(endpoint.key_env):
        return key
    raise Refused(
        "key_missing",
        f"the environment variable {endpoint.key_env} is not set where the party server runs: "
        "set it there and restart, or choose a profile without a key",
    )
