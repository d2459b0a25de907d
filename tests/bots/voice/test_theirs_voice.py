"""Bots that keep their own tools, spoken to and speaking: a turn is over when they are quiet."""

import contextlib
from pathlib import Path

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from bots.bridge.wire import AudioFrame, Message, encode_audio, read_frame
from bots.party.speech.tones import decode, encode
from scenarios.domains.base import ScenarioSpec
from tests.bots.conftest import Stage
from tests.bots.endpoint import say
from tests.bots.reference_bot import ReferenceBot
from tests.bots.theirs_stage import gold_script, hold, spec_of
from tests.bots.voice.sound import check_turns, squeezed

QUIET_BYTES = 25_600  # 0.8 s


class SpokenBot(ReferenceBot):
    """The reference's bot with its speech: hears frames, answers after a silence, tells what it heard."""

    async def handle(self, socket: ServerConnection) -> None:
        self._socket, heard, quiet = socket, bytearray(), 0
        with contextlib.suppress(ConnectionClosed):
            async for payload in socket:
                frame = read_frame(payload)
                if isinstance(frame, Message):
                    await self._take(frame)
                elif isinstance(frame, AudioFrame):
                    quiet = 0 if any(frame.pcm) else quiet + len(frame.pcm)
                    if heard or not quiet:
                        heard += frame.pcm
                    if heard and quiet >= QUIET_BYTES:
                        text = decode(bytes(heard))
                        heard.clear()
                        self.heard.append(text)
                        await self.send("user-transcription", {"text": text, "final": True})
                        await self._speak(text)
        self._socket = None

    async def _say(self, text: str) -> None:
        await self.send("bot-started-speaking", {})
        speech = encode(text)
        for at in range(0, len(speech), 1280):
            await self._socket_now.send(encode_audio(speech[at : at + 1280], 16_000))
        await self.send("bot-tts-text", {"text": text})
        await self.send("bot-stopped-speaking", {})


@pytest.fixture(scope="module")
def cancels() -> ScenarioSpec:
    return spec_of("tau2_retail", "tau2_retail__81")


@pytest.mark.usefixtures("benchmarks")
@pytest.mark.parametrize("clock", ["lockstep", "realtime"])
async def test_a_bot_with_its_own_tools_is_heard_and_passes(
    stage: Stage, cancels: ScenarioSpec, recordings: Path, clock: str
) -> None:
    stage.script([], [say("I need help with my order."), say("Thank you, bye then.")])
    bot = SpokenBot("agent", gold_script(cancels))
    speech = {"service": "tones"}
    voice = {"agent": speech, "caller": speech}
    held = await hold(stage, cancels, [bot], channel="voice", clock=clock, voice=voice)
    assert held.failure is None, held.failure
    assert (held.end["reason"], held.end["by"]) == ("end_tool", "agent")
    said = ["Hello", "I need help with my order.", "Thank you, bye then."]
    assert list(map(squeezed, bot.heard)) == list(map(squeezed, said))
    turns = held.record.of("turn.ended")
    assert [turn["said"] for turn in turns if turn["side"] == "user"] == said[1:]
    assert [turn["heard"] for turn in turns if turn["side"] == "user"] == bot.heard[1:]
    assert held.signal("db_state_match").passed
    check_turns(recordings / "1" / cancels.name / "1" / "attempt1.wav", turns)
