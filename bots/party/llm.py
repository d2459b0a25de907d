"""The model of a party: one whole reply at a time, asked for again when the endpoint falters."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import Any

import httpx2 as httpx
import openai
from pipecat.frames.frames import FunctionCallFromLLM
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.services.openai.llm import OpenAILLMService

from bots.party.faults import TRIES, EmptyReply, Fault, StreamCut, classify
from bots.party.patience import patiently
from bots.party.preparation import Endpoint
from bots.party.reply import Nonsense, Reply
from bots.party.turns import TurnTracker

Send = Callable[[str, dict[str, Any]], Awaitable[None]]
DEFAULT_TIMEOUT_S = 60.0
_SETTINGS = frozenset(
    {
        "temperature",
        "top_p",
        "seed",
        "max_tokens",
        "max_completion_tokens",
        "frequency_penalty",
        "presence_penalty",
    }
)


class ModelFailed(Exception):
    """The endpoint gave no usable reply and the bridge was told."""


@lru_cache(maxsize=32)
def _shared_client(base_url: str, key: str) -> openai.AsyncOpenAI:
    """Return one client a process for each endpoint: its connections outlive a call."""
    limits = httpx.Limits(max_connections=1000, max_keepalive_connections=100, keepalive_expiry=60)
    http_client = openai.DefaultAsyncHttpxClient(limits=limits)
    return openai.AsyncOpenAI(api_key=key, base_url=base_url, max_retries=0, http_client=http_client)


class PartyLLM(OpenAILLMService):
    """Asks for a stream, waits for all of it, and only then says or calls anything.

    On the text channel nobody hears half a reply, so a stream that breaks can be asked for again without a trace in
    the context, and function calls are whole before they are parsed.
    """

    supports_developer_role = False  # many OpenAI-compatible servers refuse it

    def __init__(self, endpoint: Endpoint, key: str, prompt: str, tracker: TurnTracker, send: Send) -> None:
        parameters = dict(endpoint.parameters)
        self._timeout_s = float(parameters.pop("timeout_s", DEFAULT_TIMEOUT_S))
        known = {name: parameters.pop(name) for name in _SETTINGS & parameters.keys()}
        if parameters:
            known["extra"] = {"extra_body": parameters}
        self._prompt = prompt
        self._where = f"{endpoint.model} at {endpoint.base_url}"
        self._tracker = tracker
        self._send = send
        self._seen_ids: set[str] = set()
        self.raw_arguments: dict[str, str] = {}
        # Awaited before each request: a voice party first says what it heard.
        self.before_asking: Callable[[LLMContext], Awaitable[None]] | None = None
        # What of a reply is for the other side: a voice party speaks no markers of a model's template.
        self.spoken: Callable[[str], str] = str
        super().__init__(
            api_key=key,
            base_url=endpoint.base_url,
            settings=OpenAILLMService.Settings(model=endpoint.model, system_instruction=prompt, **known),
            run_in_parallel=False,
        )

    def create_client(self, *_: Any, **options: Any) -> openai.AsyncOpenAI:
        """Return the shared client of the endpoint."""
        return _shared_client(options["base_url"], options["api_key"])

    async def _process_context(self, context: LLMContext) -> None:
        """Ask the model about the context; push its text and run its function calls."""
        self._tracker.inference_begun()
        if self.before_asking is not None:
            await self.before_asking(context)
        started = time.monotonic()
        reply = await self._insist(context)
        self._name_calls(reply)
        self._tracker.replied(reply, (time.monotonic() - started) * 1000)
        if said := self.spoken(reply.text):
            await self._push_llm_text(said)
        if reply.calls:
            await self.run_function_calls([self._function_call(call, context) for call in reply.calls])

    async def _insist(self, context: LLMContext) -> Reply:
        """Return a reply, trying a few times; report each failure, and the last one as the party's."""
        for failures in range(1, TRIES + 1):
            try:
                return await patiently(self._ask(context), lambda: self._send("working", {}))
            except Exception as error:
                fault = classify(error, self._where)
            if not fault.is_passing or failures == TRIES:
                break
            await self._send("note", {"level": "warning", "text": f"{fault.message}; asked again", "kind": fault.kind})
            await asyncio.sleep(fault.wait_s(failures))
        if fault.kind == "llm_empty":
            return Reply(is_finished=True)
        await self._fail(fault)
        raise ModelFailed(fault.message)

    async def _fail(self, fault: Fault) -> None:
        self._tracker.has_failed = True
        data = {"kind": fault.kind, "message": fault.message, "is_passing": fault.is_passing}
        await self._send("failed", data)

    async def _ask(self, context: LLMContext) -> Reply:
        invocation = await self.get_llm_adapter().get_llm_invocation_params(
            context,
            system_instruction=self._prompt,
            convert_developer_to_user=not self.supports_developer_role,
        )
        params = self.build_chat_completion_params(invocation)
        streaming = self._client.chat.completions.with_streaming_response
        # As extra_body they go out as they are; as arguments the client would hold every message and tool against its
        # type hints, 5 ms of CPU a request.
        plain = {**params.pop("extra_body", {}), "messages": params.pop("messages"), "tools": params.pop("tools")}
        if not plain["tools"]:
            del plain["tools"]
        async with streaming.create(**params, messages=(), extra_body=plain, timeout=self._timeout_s) as response:
            if "json" in response.headers.get("content-type", ""):
                return _whole(await response.json())
            reply = Reply()
            async for line in response.iter_lines():
                reply.add_line(line)
        return _checked(reply)

    def _name_calls(self, reply: Reply) -> None:
        """Give each call an id of its own: some servers begin at call_0 with every reply."""
        for call in reply.calls:
            if call.id in self._seen_ids:
                call.id = f"{call.id}_{len(self._seen_ids)}"
            self._seen_ids.add(call.id)

    def _function_call(self, call: Any, context: LLMContext) -> FunctionCallFromLLM:
        arguments, raw = call.arguments()
        if raw is not None:
            self.raw_arguments[call.id] = raw
        return FunctionCallFromLLM(context=context, tool_call_id=call.id, function_name=call.name, arguments=arguments)


def _whole(completion: Any) -> Reply:
    reply = Reply()
    reply.add(completion)
    return _checked(reply)


def _checked(reply: Reply) -> Reply:
    if not reply.is_finished:
        if reply.is_empty and reply.prompt_tokens is None:
            raise Nonsense("an empty body, or one that is no event stream")
        raise StreamCut
    if reply.is_empty:
        raise EmptyReply
    return reply
