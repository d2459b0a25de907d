"""One voice call of one party: voice detection, recognition, model, synthesis.

The order of the stages and every figure here were found by trial: ``bots/README.md`` says what each of them prevents.
"""

import asyncio
import base64
import time
from collections.abc import Mapping
from typing import Any

from fastapi import WebSocket
from loguru import logger
from pipecat.audio.vad.vad_analyzer import VADAnalyzer
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.worker import PipelineParams
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMUserAggregatorParams
from pipecat.processors.audio.vad_processor import VADProcessor
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from pipecat.transports.websocket.fastapi import (
    FastAPIWebsocketOutputTransport,
    FastAPIWebsocketParams,
    FastAPIWebsocketTransport,
)
from pipecat.turns.empty_user_turn import EmptyUserTurnConfig
from pipecat.turns.user_start import BaseUserTurnStartStrategy, VADUserTurnStartStrategy
from pipecat.turns.user_stop import SpeechTimeoutUserTurnStopStrategy
from pipecat.turns.user_turn_strategies import UserTurnStrategies

from bots.bridge.audio.pcm import trailing_silence_s
from bots.bridge.said import clean
from bots.party.backchannels import BackchannelTurnStart
from bots.party.pipeline import PartyCall
from bots.party.preparation import Preparation
from bots.party.speech import RATE
from bots.party.speech.choice import build
from bots.party.speech.engines import SpeechFailed
from bots.party.timings import Lookout, Timings

# It advises a stop time that cuts spelled ids into pieces.
logger.disable("pipecat.turns.user_stop.speech_timeout_user_turn_stop_strategy")

# The pause is in the voice detection's stop time already.
AFTER_SPEECH_S = 0.1
# pipecat's 5 s closes a turn without its words when recognition is late.
TURN_STOP_TIMEOUT_S = 30.0
MAX_EMPTY_TURNS = 3
MAX_PHRASE = 200  # characters of what is said out of turn
LEAD_S = 0.1
_NOT_UNDERSTOOD = (
    "The other person said something, but you did not understand it. Say so briefly and ask them to say that again."
)
# Pieces of 10 ms that go out as one frame: small where they are heard live, large where only the whole turn counts.
_CHUNKS = {"realtime": 2, "lockstep": 20}


class _Unpaced(FastAPIWebsocketOutputTransport):
    """Sends speech as fast as it is made; the bridge's virtual clock says when it is heard."""

    async def _write_audio_sleep(self) -> None:
        await asyncio.sleep(0)


class _Paced(FastAPIWebsocketOutputTransport):
    """Sends speech as fast as it is heard, but a little ahead, so that a late piece leaves no gap."""

    _due = 0.0

    async def _write_audio_sleep(self) -> None:
        now = time.monotonic()
        self._due = max(self._due, now - LEAD_S) + self._send_interval
        await asyncio.sleep(max(0.0, self._due - now))


class _Transport(FastAPIWebsocketTransport):
    def __init__(self, websocket: WebSocket, params: FastAPIWebsocketParams, *, paced: bool) -> None:
        super().__init__(websocket, params)
        output = _Paced if paced else _Unpaced
        self._output = output(self, self._client, self._params, name=self._output_name)


def _speakable(text: str) -> str:
    """Return a reply without reasoning and markers, which would be read out."""
    return clean(text)[0]


class VoiceCall(PartyCall):
    """A pipeline with speech, built from a preparation, that lives as long as its socket."""

    def __init__(self, websocket: WebSocket, preparation: Preparation, key: str, vad: VADAnalyzer) -> None:
        assert preparation.voice is not None
        self._vad = vad
        self._told = preparation.voice
        self._timings = Timings(preparation.voice.vad_stop_s)
        self._speech = build(preparation.voice, self._speech_failed, lambda: self.send("working", {}))
        # How much of the context was reported as heard, and what of it came as text.
        self._reported = 0
        self._given: list[str] = []
        self._quiet_s = 0.0  # length of the silence heard last
        super().__init__(websocket, preparation, key)
        self._llm.before_asking = self._before_asking
        self._llm.spoken = _speakable
        self._worker.add_event_handler("on_pipeline_error", self._on_error)

    def _build_transport(self, websocket: WebSocket) -> FastAPIWebsocketTransport:
        params = FastAPIWebsocketParams(
            serializer=ProtobufFrameSerializer(),
            allowed_origins=[],
            audio_in_enabled=True,
            audio_out_enabled=True,
            audio_out_10ms_chunks=_CHUNKS[self._told.clock],
            audio_out_end_silence_secs=0,
        )
        return _Transport(websocket, params, paced=self._told.clock == "realtime")

    def _pipeline_params(self) -> PipelineParams:
        return PipelineParams(audio_in_sample_rate=RATE, audio_out_sample_rate=RATE)

    def _user_params(self) -> LLMUserAggregatorParams:
        start: BaseUserTurnStartStrategy
        if self._told.interruptions and self._told.backchannels:
            start = BackchannelTurnStart(self._told.backchannels, enable_interruptions=True)
        else:
            start = VADUserTurnStartStrategy(enable_interruptions=self._told.interruptions)
        stop = SpeechTimeoutUserTurnStopStrategy(user_speech_timeout=AFTER_SPEECH_S)
        return LLMUserAggregatorParams(
            audio_idle_timeout=0,
            user_turn_strategies=UserTurnStrategies(start=[start], stop=[stop]),
            user_turn_stop_timeout=TURN_STOP_TIMEOUT_S,
            empty_user_turn=EmptyUserTurnConfig(
                interrupted_prompt=_NOT_UNDERSTOOD,
                idle_prompt=_NOT_UNDERSTOOD,
                max_consecutive_recoveries=MAX_EMPTY_TURNS,
            ),
        )

    def _stages(self, user: FrameProcessor, assistant: FrameProcessor) -> list[FrameProcessor]:
        return [
            self._transport.input(),
            # Before recognition, so that a frame is judged before the next one is buffered.
            VADProcessor(vad_analyzer=self._vad, audio_idle_timeout=0),
            self._speech.stt,
            Lookout(self._look_at_hearing),
            user,
            self._llm,
            self._speech.tts,
            Lookout(self._look_at_speaking),
            self._transport.output(),
            assistant,
        ]

    async def _take_other(self, id_: str, kind: str, data: Mapping[str, Any]) -> None:
        """Take ``listen`` (the speech that follows is this turn's to answer) and ``speak`` (say it to the bridge)."""
        turn = data.get("turn")
        if kind == "speak":
            await self._speak(id_, str(data.get("text") or "")[:MAX_PHRASE])
            return
        if kind != "listen" or not isinstance(turn, int):
            await super()._take_other(id_, kind, data)
            return
        self._tracker.turn = turn

    async def _speak(self, id_: str, text: str) -> None:
        """Answer with the speech of a phrase: for what the bridge lets this side say out of turn."""
        if self._speech.voice is None:
            await self._refuse(id_, "this side's speech service makes no phrase out of turn")
            return
        try:
            pcm = b"".join([piece async for piece in self._speech.voice.speak(text)])
        except SpeechFailed as failure:
            await self._refuse(id_, str(failure))
            return
        answer = {"pcm": base64.b64encode(pcm).decode(), "rate": RATE}
        await self._send_message("server-response", {"t": "speak", "d": answer}, id_)

    async def _hear(self, id_: str, data: Mapping[str, Any]) -> None:
        if self._tracker.idle.is_set():
            self._timings.clear()
            self._given.append(str(data.get("text")))
        await super()._hear(id_, data)

    async def _look_at_hearing(self, frame: Frame) -> None:
        if isinstance(frame, VADUserStartedSpeakingFrame):
            if self._tracker.idle.is_set():
                self._timings.clear()
            await self.send("hearing", {})
        elif isinstance(frame, VADUserStoppedSpeakingFrame):
            self._timings.stopped, self._timings.quiet_s = time.monotonic(), self._quiet_s
        elif isinstance(frame, InputAudioRawFrame):
            quiet_s = trailing_silence_s(frame.audio)
            self._quiet_s = quiet_s + (self._quiet_s if quiet_s >= len(frame.audio) / 2 / RATE else 0.0)
        elif isinstance(frame, TranscriptionFrame):
            self._timings.transcribed = time.monotonic()

    async def _look_at_speaking(self, frame: Frame) -> None:
        if isinstance(frame, TTSAudioRawFrame):
            self._timings.sound(self._tracker.replied_at, self._tracker.requests)

    async def _before_asking(self, context: LLMContext) -> None:
        """Report what was heard before anything comes of it."""
        self._timings.ask()
        messages = context.get_messages()
        fresh = [
            m for m in messages[self._reported :] if isinstance(m, dict) and m.get("role") in ("user", "developer")
        ]
        self._reported = len(messages)
        for message in fresh:
            text = str(message.get("content"))
            if text in self._given:
                self._given.remove(text)
            else:
                await self.send("heard", {"text": text if message["role"] == "user" else "", **self._heard_ms()})

    def _heard_ms(self) -> dict[str, float]:
        return {name: ms for name, ms in self._timings.told().items() if name == "stt"}

    def _more_of_turn(self) -> dict[str, Any]:
        told = self._timings.told()
        self._timings.clear()
        return {"timings": told, "interrupted": self._tracker.was_interrupted}

    async def _on_committed(self, aggregator: Any, message: Any) -> None:
        if not message.interrupted:
            await super()._on_committed()
        elif not self._tracker.idle.is_set():
            # Only what was spoken so far is in the context, and so it is all that was said.
            self._tracker.interrupted(message.content)
            await self._turn_over()

    async def _speech_failed(self, failure: SpeechFailed) -> None:
        self._tracker.has_failed = True
        data = {"kind": failure.kind, "message": str(failure), "is_passing": failure.is_passing}
        await self.send("failed", data)

    async def _on_error(self, _: Any, frame: Any) -> None:
        """Report an error of one of pipecat's own services; what the model's endpoint did was reported already."""
        if not self._tracker.has_failed:
            self._tracker.has_failed = True
            await self.send("failed", {"kind": "bot_error", "message": str(frame.error)[:2000], "is_passing": True})
