"""When the other side's voice begins a turn: at once, or not for a mere "mm-hm" while the bot speaks."""

import re
from collections.abc import Iterable

from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    Frame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
)
from pipecat.turns.types import ProcessFrameResult
from pipecat.turns.user_start import BaseUserTurnStartStrategy


def letters(text: str) -> str:
    """Return a phrase as backchannels are compared: lower case, letters only."""
    return re.sub(r"[^a-z]", "", text.lower())


class BackchannelTurnStart(BaseUserTurnStartStrategy):  # type: ignore[no-untyped-call]  # pipecat's own hook
    """Begins a turn with the voice, or, while the bot speaks, with the first words that are no backchannel."""

    def __init__(self, phrases: Iterable[str], *, enable_interruptions: bool) -> None:
        super().__init__(enable_interruptions=enable_interruptions)
        self._phrases = frozenset(letters(phrase) for phrase in phrases)
        self._bot_speaks = False

    async def process_frame(self, frame: Frame) -> ProcessFrameResult:
        """Look at one frame."""
        if isinstance(frame, BotStartedSpeakingFrame):
            self._bot_speaks = True
        elif isinstance(frame, BotStoppedSpeakingFrame):
            self._bot_speaks = False
        elif isinstance(frame, VADUserStartedSpeakingFrame) and not self._bot_speaks:
            await self.trigger_user_turn_started()
            return ProcessFrameResult.STOP
        elif isinstance(frame, TranscriptionFrame) and self._bot_speaks:
            if letters(frame.text) in self._phrases:
                await self.trigger_reset_aggregation()  # type: ignore[no-untyped-call]
            else:
                await self.trigger_user_turn_started()
                return ProcessFrameResult.STOP
        return ProcessFrameResult.CONTINUE
