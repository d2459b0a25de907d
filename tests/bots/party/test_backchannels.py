"""An "mm-hm" does not interrupt a bot that speaks; anything else does."""

from typing import Any

import pytest
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
)

from bots.party.backchannels import BackchannelTurnStart, letters


@pytest.fixture
def strategy(monkeypatch: pytest.MonkeyPatch) -> Any:
    made = BackchannelTurnStart(["Mm-hm", "okay"], enable_interruptions=True)
    made.happened = []  # type: ignore[attr-defined]

    async def started(**_: Any) -> None:
        made.happened.append("turn")  # type: ignore[attr-defined]

    async def reset() -> None:
        made.happened.append("reset")  # type: ignore[attr-defined]

    monkeypatch.setattr(made, "trigger_user_turn_started", started)
    monkeypatch.setattr(made, "trigger_reset_aggregation", reset)
    return made


def heard(text: str) -> TranscriptionFrame:
    return TranscriptionFrame(text, "", "")


def test_phrases_are_compared_by_their_letters() -> None:
    assert letters("Mm-hm!") == letters("mm hm") == "mmhm"


async def test_a_voice_begins_a_turn_while_the_bot_is_quiet(strategy: Any) -> None:
    await strategy.process_frame(VADUserStartedSpeakingFrame())
    assert strategy.happened == ["turn"]


async def test_a_backchannel_while_the_bot_speaks_is_dropped(strategy: Any) -> None:
    for frame in (BotStartedSpeakingFrame(), VADUserStartedSpeakingFrame(), heard("Okay.")):
        await strategy.process_frame(frame)
    assert strategy.happened == ["reset"]


async def test_other_words_while_the_bot_speaks_interrupt(strategy: Any) -> None:
    for frame in (BotStartedSpeakingFrame(), VADUserStartedSpeakingFrame(), heard("Okay, but wait.")):
        await strategy.process_frame(frame)
    assert strategy.happened == ["turn"]


async def test_after_the_bot_has_spoken_a_backchannel_is_an_answer(strategy: Any) -> None:
    for frame in (BotStartedSpeakingFrame(), BotStoppedSpeakingFrame(), VADUserStartedSpeakingFrame()):
        await strategy.process_frame(frame)
    assert strategy.happened == ["turn"]
