"""What travels on the socket between bridge and party: RTVI messages as JSON in pipecat's protobuf frames.

What comes in is untrusted: parsed as strict JSON, limited in size, and cleaned of what no database stores
(NUL, half surrogates). ``bots/README.md`` lists the messages.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from google.protobuf.message import DecodeError
from pipecat.frames.protobufs import frames_pb2

from scenarios.storable import storable

LABEL = "rtvi-ai"
RTVI_VERSION = "2.2.0"
# A party that sends more in one frame ends the call; what goes to a party may be larger (prompts, tool results).
MAX_FRAME_BYTES = 2**20
MAX_SEND_BYTES = 2**24
# The module's classes are made when it is imported, so a type checker does not see them.
_Frame: Any = vars(frames_pb2)["Frame"]


class BadFrame(ValueError):
    """A frame that is no RTVI message: the text says why."""


@dataclass(frozen=True)
class AudioFrame:
    """A piece of a party's speech: 16-bit little-endian samples, channels interleaved, at ``rate`` samples a second."""

    pcm: bytes
    rate: int
    channels: int = 1


@dataclass(frozen=True)
class Interruption:
    """The party was interrupted: what it said and nobody heard yet is void."""


@dataclass(frozen=True)
class Message:
    """One RTVI message. ``data`` is {} where the sender put no object."""

    type: str
    data: Mapping[str, Any]
    id: str = ""


def encode(type_: str, data: Mapping[str, Any], id_: str = "") -> bytes:
    """Return the frame of one RTVI message."""
    frame = _Frame()
    frame.message.data = json.dumps({"label": LABEL, "type": type_, "id": id_, "data": data}, ensure_ascii=False)
    payload: bytes = frame.SerializeToString()
    return payload


def encode_audio(pcm: bytes, rate: int) -> bytes:
    """Return the frame of a piece of mono speech."""
    frame = _Frame()
    frame.audio.audio = pcm
    frame.audio.sample_rate = rate
    frame.audio.num_channels = 1
    payload: bytes = frame.SerializeToString()
    return payload


def decode(payload: bytes | str) -> Message | None:
    """Return the message of a frame; None for frames that carry none (audio, interruptions). Raises BadFrame."""
    frame = read_frame(payload)
    return frame if isinstance(frame, Message) else None


def read_frame(payload: bytes | str) -> Message | AudioFrame | Interruption | None:
    """Return what a frame carries; None for what is nothing to the bridge (text, transcription). Raises BadFrame."""
    if isinstance(payload, str):
        raise BadFrame("a text frame where a protobuf frame was expected")
    try:
        frame = _Frame.FromString(payload)
    except DecodeError as error:
        raise BadFrame(f"not a protobuf frame: {error}") from error
    match frame.WhichOneof("frame"):
        case "message":
            return _read_message(frame)
        case "audio":
            audio = frame.audio
            return AudioFrame(audio.audio, audio.sample_rate, audio.num_channels)
        case "interruption":
            return Interruption()
    return None


def _read_message(frame: Any) -> Message:
    content = _parse(frame.message.data)
    if not isinstance(content, dict) or content.get("label") != LABEL or not isinstance(content.get("type"), str):
        raise BadFrame(f"not an RTVI message: {frame.message.data[:80]!r}")
    data = content.get("data")
    return Message(content["type"], data if isinstance(data, dict) else {}, str(content.get("id") or ""))


def _parse(text: str) -> Any:
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"not JSON: {error}") from error
    return storable(content) if "\\u" in text or "\x00" in text else content


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
