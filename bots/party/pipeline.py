"""One call of one party: its pipeline, and the conversation with the bridge that drives it."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from fastapi import WebSocket
from pipecat.frames.frames import LLMMessagesAppendFrame, OutputTransportMessageUrgentFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.processors.frameworks.rtvi.models import ClientMessage
from pipecat.processors.frameworks.rtvi.observer import RTVIFunctionCallReportLevel, RTVIObserverParams
from pipecat.processors.frameworks.rtvi.processor import RTVIProcessor
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams, FastAPIWebsocketTransport
from pipecat.turns.user_turn_strategies import ExternalUserTurnStrategies
from pipecat.workers.runner import WorkerRunner

from bots.bridge.wire import LABEL, MAX_FRAME_BYTES
from bots.party.llm import PartyLLM
from bots.party.preparation import Preparation
from bots.party.toolset import Toolset, offer
from bots.party.turns import TurnTracker

LONGEST_SETTLE_S = 10.0
# A page of a context leaves room for the envelope below the bridge's limit on frames.
PAGE_CHARACTERS = MAX_FRAME_BYTES // 8
_SILENT = RTVIObserverParams(
    bot_output_enabled=False,
    bot_llm_enabled=False,
    bot_tts_enabled=False,
    bot_speaking_enabled=False,
    user_llm_enabled=False,
    user_speaking_enabled=False,
    user_mute_enabled=False,
    user_input_enabled=False,
    metrics_enabled=False,
    function_call_report_level={"*": RTVIFunctionCallReportLevel.DISABLED},
)
# Deprecated by pipecat 1.13 without a replacement: as an argument it warns on the terminal of all who start a site.
_SILENT.user_transcription_enabled = False


class PartyCall:
    """A pipeline without speech, built from a preparation, that lives as long as its socket."""

    def __init__(self, websocket: WebSocket, preparation: Preparation, key: str) -> None:
        self._transport = self._build_transport(websocket)
        self._tracker = TurnTracker()
        self._context = LLMContext(tools=offer(preparation.tools))
        self._llm = PartyLLM(preparation.llm, key, preparation.prompt, self._tracker, self.send)
        self._toolset = Toolset(self._llm, self._tracker, self.send, self._turn_over, preparation.tool_timeout_s)
        self._worker = self._build_worker()

    def _build_transport(self, websocket: WebSocket) -> FastAPIWebsocketTransport:
        params = FastAPIWebsocketParams(serializer=ProtobufFrameSerializer(), allowed_origins=[])
        return FastAPIWebsocketTransport(websocket, params)

    def _user_params(self) -> LLMUserAggregatorParams:
        strategies = ExternalUserTurnStrategies(enable_interruptions=False)
        return LLMUserAggregatorParams(user_turn_strategies=strategies)

    def _stages(self, user: FrameProcessor, assistant: FrameProcessor) -> list[FrameProcessor]:
        return [self._transport.input(), user, self._llm, self._transport.output(), assistant]

    def _pipeline_params(self) -> PipelineParams:
        return PipelineParams()

    def _build_worker(self) -> PipelineWorker:
        user, assistant = LLMContextAggregatorPair(self._context, user_params=self._user_params())
        assistant.add_event_handler("on_assistant_turn_stopped", self._on_committed)
        self._transport.add_event_handler("on_client_disconnected", self._on_disconnected)
        worker = PipelineWorker(
            Pipeline(self._stages(user, assistant)),
            params=self._pipeline_params(),
            rtvi_observer_params=_SILENT,
            enable_turn_tracking=False,
            idle_timeout_secs=None,
            check_dangling_tasks=False,
        )
        worker.rtvi.add_event_handler("on_client_message", self._on_message)
        return worker

    async def run(self) -> None:
        """Run the pipeline until the bridge closes the socket."""
        runner = WorkerRunner(handle_sigint=False, check_dangling_tasks=False)
        await runner.add_workers(self._worker)
        await runner.run()

    async def send(self, kind: str, data: dict[str, Any]) -> None:
        """Send a ``server-message``, past the pipeline: nothing in it waits for one."""
        await self._send_message("server-message", {"type": kind, **data})

    async def _send_message(self, type_: str, data: dict[str, Any], id_: str = "") -> None:
        message = {"label": LABEL, "type": type_, "id": id_, "data": data}
        await self._transport.output().send_message(OutputTransportMessageUrgentFrame(message=message))

    async def _on_message(self, rtvi: RTVIProcessor, message: ClientMessage) -> None:
        data: Mapping[str, Any] = message.data if isinstance(message.data, dict) else {}
        match message.type:
            case "say":
                await self._hear(message.msg_id, data)
            case "tool-result":
                await self._toolset.take_result(data)
            case "context":
                await self._show_context(message.msg_id, data)
            case _:
                await self._take_other(message.msg_id, message.type, data)

    async def _take_other(self, id_: str, kind: str, data: Mapping[str, Any]) -> None:
        await self._refuse(id_, f"there is no message {kind!r}")

    async def _refuse(self, id_: str, error: str) -> None:
        await self._send_message("error-response", {"error": error}, id_)

    async def _hear(self, id_: str, data: Mapping[str, Any]) -> None:
        text, turn = data.get("text"), data.get("turn")
        if not isinstance(text, str) or not isinstance(turn, int):
            await self._refuse(id_, "'say' needs a text and a turn number")
            return
        if not self._tracker.idle.is_set():
            # Whoever only listens is never told a number: its turns begin with what it hears.
            owed = f"turn {self._tracker.turn} is not over" if self._tracker.turn else "it still owes an answer"
            await self._refuse(id_, f"{owed}, so turn {turn} cannot begin")
            return
        self._tracker.begin(turn)
        append = LLMMessagesAppendFrame(messages=[{"role": "user", "content": text}], run_llm=True)
        await self._worker.queue_frame(append)

    async def _on_committed(self, *_: Any) -> None:
        if self._tracker.text_committed():
            await self._turn_over()

    async def _turn_over(self) -> None:
        tracker = self._tracker
        complete = {
            "turn": tracker.turn,
            "text": tracker.text,
            "requests": tracker.take_requests(),
            **self._more_of_turn(),
        }
        if len(tracker.text) * 4 > MAX_FRAME_BYTES // 2:  # UTF-8 takes up to four bytes a character
            text = f"the model wrote {len(tracker.text)} characters in one turn"
            await self.send("failed", {"kind": "reply_too_large", "message": text, "is_passing": False})
            return
        tracker.close()
        await self.send("turn-complete", complete)

    def _more_of_turn(self) -> dict[str, Any]:
        """Return what else ``turn-complete`` says."""
        return {}

    async def _show_context(self, id_: str, data: Mapping[str, Any]) -> None:
        """Answer with the messages from ``start`` on, as many as fit; ``next`` is None after the last one."""
        start, wait_s = data.get("start") or 0, data.get("wait_s") or 0.0
        if not isinstance(start, int) or not isinstance(wait_s, int | float):
            await self._refuse(id_, "'context' takes the numbers start and wait_s")
            return
        is_settled = await self._settled(min(wait_s, LONGEST_SETTLE_S))
        messages = self._context.get_messages()
        page: list[Any] = []
        size = 0
        for message in messages[start:]:
            size += len(json.dumps(message))
            if page and size > PAGE_CHARACTERS:
                break
            page.append(message)
        following = start + len(page)
        answer = {
            "messages": page,
            "next": following if following < len(messages) else None,
            "is_settled": is_settled,
            "requests": self._tracker.take_requests(),
        }
        await self._send_message("server-response", {"t": "context", "d": answer}, id_)

    async def _settled(self, wait_s: float) -> bool:
        """Wait a little for open calls and replies; False when the context is read in the middle of something."""
        try:
            async with asyncio.timeout(wait_s):
                await self._tracker.idle.wait()
        except TimeoutError:
            return False
        return True

    async def _on_disconnected(self, *_: Any) -> None:
        await self._worker.cancel(reason="the bridge closed the socket")
