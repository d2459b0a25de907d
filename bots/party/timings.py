"""When what happened in a turn of a voice party, by the wall clock."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
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
    """The parts of a response time, taken down as they happen. Moments are seconds of a monotonic clock."""

    vad_stop_s: float  # the silence that ends a turn
    stopped: float | None = None  # the voice detection took the other for finished
    quiet_s: float = 0.0  # the silence that it had heard by then: the true end of speech is so long ago
    transcribed: float | None = None
    # In milliseconds, as ``latency.measured`` names them, and ``response``, the whole.
    parts: dict[str, float] = field(default_factory=dict)
    _asked: float | None = None  # the model, for the first time
    _stopped_when_asked: float | None = None
    _has_sounded: bool = False

    def clear(self) -> None:
        """Begin with the next turn."""
        self.stopped = self.transcribed = self._asked = self._stopped_when_asked = None
        self.parts, self._has_sounded = {}, False

    @property
    def _waited_s(self) -> float:
        """Return the silence before the end of a turn was seen; under noise no end can be heard, so what was set."""
        return max(self.vad_stop_s, self.quiet_s)

    def ask(self) -> None:
        """Note that the model is asked; only the first request answers what was heard.

        What the voice detection finds from now on belongs to the next turn.
        """
        if self._asked is not None:
            return
        self._asked, self._stopped_when_asked = time.monotonic(), self.stopped
        if self.stopped is None or self.transcribed is None or self.transcribed < self.stopped:
            return  # asked in writing, or before all was recognised
        self.parts["stt"] = (self.transcribed - self.stopped) * 1000
        self.parts["endpointing"] = self._waited_s * 1000 + (self._asked - self.transcribed) * 1000

    def sound(self, replied_at: float, requests: Sequence[Mapping[str, Any]]) -> None:
        """Note the first sound; what the model is asked after it is no part of the response time.

        ``response`` begins at the true end of the other's speech: the silence that the voice detection waits for is
        counted by its length, since that much speech time has passed however fast it was played.
        """
        if self._has_sounded or self._asked is None:
            return
        self._has_sounded = True
        now = time.monotonic()
        self.parts["model"] = float(sum(request["model_ms"] for request in requests))
        self.parts["tts"] = max(0.0, now - replied_at) * 1000
        begun, waited_s = self._asked, 0.0
        if self._stopped_when_asked is not None:
            begun, waited_s = self._stopped_when_asked, self._waited_s
        self.parts["response"] = (waited_s + now - begun) * 1000

    def told(self) -> dict[str, float]:
        """Return the parts that are known, in milliseconds."""
        return {name: round(ms, 1) for name, ms in self.parts.items()}
