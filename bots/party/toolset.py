"""Function calls of the model, run by the conductor: each goes out, and its result comes back by id."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from pipecat.adapters.llm.schemas.tools_schema import AdapterType, ToolsSchema
from pipecat.frames.frames import FunctionCallResultProperties
from pipecat.services.llm_service import FunctionCallParams

from bots.party.llm import PartyLLM, Send
from bots.party.preparation import ToolOffer
from bots.party.turns import TurnTracker


def offer(tools: list[ToolOffer]) -> ToolsSchema:
    """Return the tools exactly as they came: pipecat's own schema class would drop ``$defs`` and the like."""
    functions = [{"type": "function", "function": tool.model_dump()} for tool in tools]
    return ToolsSchema(standard_tools=[], custom_tools={AdapterType.OPENAI: functions})


class Toolset:
    """The open calls of one party."""

    def __init__(
        self, llm: PartyLLM, tracker: TurnTracker, send: Send, on_turn_over: Callable[[], Any], timeout_s: float
    ) -> None:
        self._llm = llm
        self._tracker = tracker
        self._send = send
        self._on_turn_over = on_turn_over
        self._timeout_s = timeout_s
        self._waiting: dict[str, asyncio.Future[Mapping[str, Any]]] = {}
        # Any name: an unknown tool is the conductor's to answer, at once.
        llm.register_function(None, self._run)

    async def take_result(self, data: Mapping[str, Any]) -> None:
        """Deliver ``{"call_id", "result", "ends_call"}``; one that nobody waits for is ignored and reported."""
        call_id = str(data.get("call_id"))
        future = self._waiting.get(call_id)
        if future is None or future.done():
            text = f"a second or unknown result for the call {call_id} was ignored"
            await self._send("note", {"level": "warning", "text": text, "kind": "tool_result_ignored"})
            return
        future.set_result(data)

    async def _run(self, params: FunctionCallParams) -> None:
        answer = await self._asked(params)
        runs_llm = self._tracker.call_answered(bool(answer.get("ends_call")))
        # An empty result would make pipecat forget to ask the model again.
        result = answer.get("result") or "(no result)"
        properties = FunctionCallResultProperties(run_llm=runs_llm, on_context_updated=self._committed)
        await params.result_callback(result, properties=properties)

    async def _asked(self, params: FunctionCallParams) -> Mapping[str, Any]:
        call_id = params.tool_call_id
        future: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[call_id] = future
        call = {
            "call_id": call_id,
            "name": params.function_name,
            "arguments": dict(params.arguments),
            "raw_arguments": self._llm.raw_arguments.pop(call_id, None),
        }
        try:
            await self._send("tool-call", call)
            async with asyncio.timeout(self._timeout_s):
                return await future
        except TimeoutError:
            text = f"no result for {params.function_name} within {self._timeout_s:g} s"
            await self._send("note", {"level": "error", "text": text, "kind": "tool_timeout"})
            return {"result": {"error": text}}
        finally:
            del self._waiting[call_id]

    async def _committed(self) -> None:
        if self._tracker.result_committed():
            await self._on_turn_over()
