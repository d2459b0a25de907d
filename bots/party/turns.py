"""When a turn is over: a party owes nothing any more.

``bot-llm-stopped`` comes before the text is in the context and before a function call is answered, so it says nothing.
A turn is complete when no inference is asked for or running, no function call is open, and all text is committed.
"""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

from bots.party.reply import Reply


@dataclass
class TurnTracker:
    """Counts what the party owes in the turn it is in; every method is called from the party's one loop."""

    turn: int = 0
    has_failed: bool = False
    was_interrupted: bool = False
    replied_at: float = 0.0  # when the last reply was whole, monotonic seconds
    parts: list[str] = field(default_factory=list)
    # One entry a model request of the turn: prompt_tokens, completion_tokens (None: not told), model_ms.
    requests: list[dict[str, Any]] = field(default_factory=list)
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    _owed: int = 0  # inferences asked for and not begun
    _inferring: int = 0  # begun, text not committed
    _open_calls: int = 0  # asked for by the model, result not in the context
    _ends_call: bool = False

    def __post_init__(self) -> None:
        self.idle.set()

    def begin(self, turn: int) -> None:
        """Start a turn that will be answered with one inference at least."""
        self.turn, self.parts, self._ends_call = turn, [], False
        self.owe_inference()

    def interrupted(self, spoken: str) -> None:
        """Note that the other side cut in: the turn is over with what was spoken of it."""
        self.parts = [spoken] if spoken.strip() else []
        self.was_interrupted = True
        self._owed = self._inferring = self._open_calls = 0
        self.idle.set()

    def owe_inference(self) -> None:
        """Note that an inference was asked for."""
        self._owed += 1
        self.idle.clear()

    def inference_begun(self) -> None:
        """Note that the model is being asked."""
        self._owed = max(0, self._owed - 1)
        self._inferring += 1
        self.idle.clear()

    def replied(self, reply: Reply, model_ms: float) -> None:
        """Note what the model wants, before any of it happens."""
        self.replied_at = time.monotonic()
        self._open_calls += len(reply.calls)
        if reply.text.strip():
            self.parts.append(reply.text)
        self.requests.append(
            {
                "prompt_tokens": reply.prompt_tokens,
                "completion_tokens": reply.completion_tokens,
                "model_ms": round(model_ms, 1),
            }
        )

    def text_committed(self) -> bool:
        """Note that a reply's text is in the context; return whether the turn is over."""
        self._inferring = max(0, self._inferring - 1)
        return self._settle()

    def call_answered(self, ends_call: bool) -> bool:
        """Note that a call has its result; return whether the model is to be asked again (the batch is answered)."""
        self._ends_call = self._ends_call or ends_call
        if self._open_calls > 1 or self._ends_call:
            return False
        self.owe_inference()
        return True

    def result_committed(self) -> bool:
        """Note that a call's result is in the context; return whether the turn is over."""
        self._open_calls = max(0, self._open_calls - 1)
        return self._settle()

    def take_requests(self) -> list[dict[str, Any]]:
        """Return the model requests not reported yet."""
        requests, self.requests = self.requests, []
        return requests

    def close(self) -> None:
        """Forget the words of a turn that was reported: the next one may begin by itself."""
        self.parts, self.was_interrupted, self._ends_call = [], False, False

    @property
    def text(self) -> str:
        """Return all the party said in this turn."""
        return "\n".join(self.parts)

    def _settle(self) -> bool:
        if self._owed or self._inferring or self._open_calls:
            return False
        self.idle.set()
        return not self.has_failed
