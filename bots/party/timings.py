"""When what happened in a turn of a voice party, by the wall clock."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipecat.frames.frames import Frame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor


class Lookout(FrameProcessor):
    """Passes every frame on and shows it to somebody."""

    def __init__(self, look: Callable[[Frame], Awaitable[None]]) -> None:
        super().__init__()
        self._look = look

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Show a frame that goes downstream, then pass it on."""
        await super().process_frame(frame, direction)
        if direction is FrameDirection.DOWNSTREAM:
            await self._look(frame)
        await self.push_frame(frame, direction)


@dataclass
class Timings:
    """Moments of the turn a party is in, in seconds of a monotonic clock; None: not come to yet."""

    vad_stop_s: float  # the silence that ends a turn
    stopped: float | None = None  # the voice detection took the other for finished
    transcribed: float | None = None
    asked: float | None = None  # the model, for the first time
    replied: float | None = None  # the model, last before the first sound
    sounded: float | None = None
    model_ms: float = 0.0

    def clear(self) -> None:
        """Begin with the next turn."""
        self.stopped = self.transcribed = self.asked = self.replied = self.sounded = None
        self.model_ms = 0.0

    def sound(self, replied_at: float, requests: Sequence[Mapping[str, Any]]) -> None:
        """Note the first sound; what the model is asked after it is no part of the response time."""
        self.sounded = time.monotonic()
        self.replied = replied_at
        self.model_ms = sum(request["model_ms"] for request in requests)

    def told(self) -> dict[str, float]:
        """Return the parts of the response time that are known, in milliseconds.

        ``response``: from the true end of the other's speech to the first sound; the silence that the voice detection
        waits for is counted by its length, since that much speech time has passed however fast it was played.
        """
        parts: dict[str, float] = {}
        if self.stopped is not None and self.transcribed is not None and self.asked is not None:
            parts["stt"] = max(0.0, self.transcribed - self.stopped) * 1000
            waited = max(0.0, self.asked - max(self.transcribed, self.stopped)) * 1000
            parts["endpointing"] = self.vad_stop_s * 1000 + waited
        if self.asked is not None and self.sounded is not None:
            parts["model"] = self.model_ms
            if self.replied is not None:
                parts["tts"] = max(0.0, self.sounded - self.replied) * 1000
            begun = self.asked if self.stopped is None else self.stopped
            waiting = 0.0 if self.stopped is None else self.vad_stop_s
            parts["response"] = (waiting + self.sounded - begun) * 1000
        return {name: round(ms, 1) for name, ms in parts.items()}
