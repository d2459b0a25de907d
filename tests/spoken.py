"""Voice calls for tests and for looking at pages: a record with the times of speech, and a recording to match."""

import io
import math
import wave
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from scenarios.events import LatencyMeasured, ToolCalled, ToolReturned, TurnEnded, TurnStarted
from scenarios.models import Run, Trial
from scenarios.playback import recording_of
from scenarios.sides import Side
from tests.calls import Call

RATE = 16_000
_HEARD_AFTER_MS = 900


@dataclass(frozen=True)
class Line:
    """One turn: who, what, what the other side heard (None: not measured), and when its sound begins and ends."""

    side: Side
    said: str
    heard: str | None
    started_ms: int
    ended_ms: int
    interrupted: bool = False


DIALOGUE = (
    Line("agent", "Hello, how can I help?", "Hello, how can I help?", 100, 1400),
    Line("user", "I want to cancel order W two three.", "I want to cancel order W two tree.", 2200, 4100),
    Line("agent", "It is cancelled. Goodbye!", None, 5000, 6300),
)


def voice_run(run: Run, clock: str = "lockstep") -> Run:
    """Make a run one of the voice channel."""
    run.channel, run.config = Run.Channel.VOICE, {**run.config, "channel": "voice", "clock": clock}
    run.save()
    return run


def speak(trial: Trial, lines: Sequence[Line] = DIALOGUE, **measured: Mapping[str, float]) -> Call:
    """Record the turns of a call as the voice channel does: a turn has ended when the other side said what it heard."""
    call = Call(trial).begin()
    ended_ms = 0
    for number, line in enumerate(lines, 1):
        call.at_ms, call.turns = line.started_ms, number
        call.add(TurnStarted(line.side, number))
        if number > 1:
            parts = dict(measured.get("parts", {"endpointing": 400.0, "model": 150.0}))
            call.add(LatencyMeasured(line.side, number, float(line.started_ms - ended_ms), parts))
        call.at_ms = line.ended_ms + _HEARD_AFTER_MS
        spoken = TurnEnded(line.side, number, line.said, line.heard, line.started_ms, line.interrupted)
        call.add(replace(spoken, ended_ms=line.ended_ms))
        ended_ms = line.ended_ms
        if line.side == "user":
            call.calls += 1
            call.at_ms = line.ended_ms + 500
            call.add(ToolCalled("agent", call.calls, "cancel_order", {"order_id": "#W23"}, f"id-{call.calls}"))
            call.add(ToolReturned("agent", call.calls, "cancel_order", True, "ok", 3.0))
    call.at_ms = ended_ms + 200
    return call


def wav(lines: Sequence[Line] = DIALOGUE, tail_ms: int = 200) -> bytes:
    """Return a stereo recording in which each turn is a tone from its beginning to its end."""
    length = (max((line.ended_ms for line in lines), default=0) + tail_ms) * RATE // 1000
    both = array("h", bytes(4 * length))
    for line in lines:
        channel, hertz = (0, 300) if line.side == "user" else (1, 200)
        for sample in range(line.started_ms * RATE // 1000, line.ended_ms * RATE // 1000):
            both[2 * sample + channel] = round(9000 * math.sin(2 * math.pi * hertz * sample / RATE))
    return packed(both.tobytes())


def packed(frames: bytes, channels: int = 2, rate: int = RATE, width: int = 2) -> bytes:
    """Return a WAV file of these frames."""
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(channels)
        writer.setsampwidth(width)
        writer.setframerate(rate)
        writer.writeframes(frames)
    return file.getvalue()


def keep(trial: Trial, content: bytes, attempt: int | None = None) -> str:
    """Put a recording where the trial's is looked for; returns its storage name."""
    name = recording_of(trial, attempt)
    default_storage.delete(name)
    return default_storage.save(name, ContentFile(content))


def keep_in(folder: Path, settings: Any) -> None:
    """Let recordings go into a folder of the test's own."""
    backend = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": folder}}
    settings.STORAGES = {**settings.STORAGES, "default": backend}
