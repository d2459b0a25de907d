"""A bot server as the reference's are on the wire, without its speech: keeps tools, state and log itself.

Written from ``spec/reference-system.md`` 1.2 and 5, not from the bridge: only frames and the domains' tools are shared.
A script says what it does in each turn; ``Faults`` how it misbehaves.
"""

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from bots.bridge.wire import Message, decode, encode
from scenarios import domains
from scenarios.domains.arguments import InvalidArguments, check
from scenarios.domains.base import InitAction, Refusal, Tool, ToolContext
from scenarios.domains.conversation import EndConversationTool
from scenarios.domains.tau2_telecom import phone, store
from scenarios.sides import Side
from scenarios.state.overlay import Overlay, Seed

EXIT = "<exit>The conversation is over.</exit>"


@dataclass(frozen=True)
class Use:
    """A tool call in a turn."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


Step = str | Use  # words, a tool call; EXIT ends the call


@dataclass
class Faults:
    """How a bot misbehaves; message names are those of the six control messages."""

    silent: frozenset[str] = frozenset()  # never answers these
    foreign: frozenset[str] = frozenset()  # answers these under another id
    late_s: Mapping[str, float] = field(default_factory=dict)  # answers these after a while
    answers: Mapping[str, Any] = field(default_factory=dict)  # answers these with this
    errors: frozenset[str] = frozenset()  # answers these with an error-response
    garbage: frozenset[str] = frozenset()  # answers these with bytes that are no frame
    closes: frozenset[str] = frozenset()  # hangs up when asked these, or "send-text"
    hash: str | None = None
    huge: frozenset[str] = frozenset()  # "summary", "db" or "history": over 1 MiB
    hides: frozenset[str] = frozenset()  # "actions", "db", "ready"
    reports_calls: bool = False  # RTVI's function-call messages, with names and results


class ReferenceBot:
    """One bot server; a second client is refused while it has one."""

    def __init__(self, side: Side, script: Sequence[Sequence[Step]], faults: Faults | None = None) -> None:
        self.side: Side = side
        self.faults = faults or Faults()
        self.heard: list[str] = []
        self.asked: list[tuple[str, Any]] = []
        self.prompt = ""
        self._script = script
        self._turn = 0
        self._tools: dict[str, Tool] = {}
        self._domain = ""
        self._messages: list[dict[str, Any]] = []
        self._actions: list[dict[str, Any]] = []
        self._counts: dict[str, int] = {}
        self._db: Overlay | None = None
        self._calls = 0
        self._socket: ServerConnection | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def db(self) -> Overlay:
        assert self._db is not None
        return self._db

    async def handle(self, socket: ServerConnection) -> None:
        if self._socket is not None:
            await socket.close(1013, "one client at a time")
            return
        self._socket = socket
        try:
            async for payload in socket:
                message = decode(payload)
                assert message is not None
                await self._take(message)
        finally:
            self._socket = None

    async def _take(self, message: Message) -> None:
        if message.type == "client-ready" and "ready" not in self.faults.hides:
            await self.send("bot-ready", {"version": "1.1.0"}, message.id)
        elif message.type == "send-text":
            if "send-text" in self.faults.closes:
                await self._socket_now.close()
                return
            self.heard.append(message.data["content"])
            # Like a pipeline: control messages are answered while it speaks.
            task = asyncio.create_task(self._speak(message.data["content"]))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif message.type == "client-message":
            await self._answer(message.data["t"], message.data.get("d") or {}, message.id)

    @property
    def _socket_now(self) -> ServerConnection:
        assert self._socket is not None
        return self._socket

    async def send(self, type_: str, data: Any, id_: str = "") -> None:
        await self._socket_now.send(encode(type_, data, id_))

    async def _answer(self, kind: str, data: Mapping[str, Any], id_: str) -> None:
        faults = self.faults
        self.asked.append((kind, data))
        if kind in faults.closes:
            await self._socket_now.close()
            return
        if kind in faults.silent:
            return
        if kind in faults.garbage:
            await self._socket_now.send(b"\xff\xfe\xfd")
            return
        if kind in faults.errors:
            await self.send("error-response", {"error": f"no {kind} here"}, id_)
            return
        answer = faults.answers[kind] if kind in faults.answers else getattr(self, f"_{kind}")(data)
        await asyncio.sleep(faults.late_s.get(kind, 0))
        await self.send("server-response", {"t": kind, "d": answer}, "foreign" if kind in faults.foreign else id_)

    # The six control messages.

    def _reset(self, data: Mapping[str, Any]) -> bool:
        self._messages = self._messages[:1]
        self._turn = 0
        return True

    def _update_system_prompt(self, data: Mapping[str, Any]) -> bool:
        self._db, self._actions, self._counts = None, [], {}
        self._domain = data["tool_domain"]
        known: dict[str, Tool] = {"EndConversationTool": EndConversationTool()}  # of the namespace "default"
        if self._domain != "default":
            known |= {type(tool).__name__: tool for tool in domains.load()[self._domain].tools(self.side)}
        try:
            tools = [known[name] for name in json.loads(data["tools"])]
        except KeyError:
            return False
        self._tools = {tool.model_name(): tool for tool in tools}
        self.prompt = data["prompt"]
        self._messages = [{"role": "system", "content": self.prompt}]
        return True

    def _apply_initialization(self, data: Mapping[str, Any]) -> dict[str, Any]:
        state, errors = json.loads(data["shared_state_init"]), []
        if "db_path" in state:
            self._db = Overlay(_read(Path(os.environ["EVAL_DATA_ROOT"]) / state["db_path"]))
        elif "db" in state:
            self._db = Overlay(Seed(state["db"]))
        for step in data["actions"]:
            try:
                self._initialize(InitAction(step["func_name"], step["arguments"], step["side"]))
            except Refusal as refusal:
                errors.append(str(refusal))
        return {"success": not errors, "errors": errors}

    def _initialize(self, action: InitAction) -> None:
        domain = domains.load()[self._domain]
        with self.db.transaction():
            domain.initialize(action, {self.side: self.db}, domain.now)

    def _apply_sync_delta(self, data: Mapping[str, Any]) -> dict[str, Any]:
        with self.db.transaction():
            for path, value in data["delta"].items():
                table, _, name = path.partition(".")
                if "[" in table:
                    table, _, key = table.rstrip("]").partition("[")
                    store.edit(self.db, table, key)[name] = value
                else:
                    self.db.edit(table)[name] = value
            if any(path.startswith("surroundings.") for path in data["delta"]):
                phone.search_network(self.db)
        return {"success": True, "errors": []}

    def _get_context_history(self, data: Mapping[str, Any]) -> dict[str, Any]:
        huge = [{"role": "user", "content": "x" * 2**21}] if "history" in self.faults.huge else []
        return {"context": repr([*self._messages, *huge])}

    def _get_scenario_summary(self, data: Mapping[str, Any]) -> dict[str, Any]:
        summary: dict[str, Any] = {"actions": self._actions, "db_hash": self._db.hash if self._db else None}
        if self.faults.hash is not None:
            summary["db_hash"] = self.faults.hash
        if data.get("include_db") and self._db and "db" not in self.faults.hides:
            summary["db"] = self._db.to_json()
        if "summary" in self.faults.huge or ("db" in self.faults.huge and data.get("include_db")):
            summary["padding"] = "x" * 2**21
        return summary

    # What it says and does.

    async def _speak(self, heard: str) -> None:
        self._messages.append({"role": "user", "content": heard})
        steps = self._script[min(self._turn, len(self._script) - 1)]
        self._turn += 1
        with contextlib.suppress(ConnectionClosed):
            for step in steps:
                if isinstance(step, Use):
                    await self._use(step)
                elif step.startswith("<exit>"):
                    await self.send("server-message", {"text": step})
                else:
                    await self._say(step)

    async def _say(self, text: str) -> None:
        self._messages.append({"role": "assistant", "content": text})
        await self.send("bot-started-speaking", {})
        half = len(text) // 2
        for part in (text[:half], text[half:]):
            await self.send("bot-tts-text", {"text": part})
        await self.send("bot-stopped-speaking", {})
        await self.send("metrics", {"tokens": [{"prompt_tokens": 100, "completion_tokens": 10}]})

    async def _use(self, use: Use) -> None:
        self._calls += 1
        id_ = f"call_{self._calls}"
        name, reports = use.tool, self.faults.reports_calls
        begun = {"tool_call_id": id_} | ({"function_name": name, "arguments": dict(use.arguments)} if reports else {})
        await self.send("llm-function-call-in-progress", begun)
        result, action = self._run(self._tools[name], use.arguments)
        if action is not None:
            self._actions.append(action)
            if "actions" not in self.faults.hides:
                report = {"type": "action-applied", "action": action, "tool_domain": self._domain}
                await self.send("server-message", report)
        ended: dict[str, Any] = {"tool_call_id": id_, "cancelled": False}
        if reports:
            ended |= {"function_name": name, "result": result}
        await self.send("llm-function-call-stopped", ended)
        function = {"name": type(self._tools[name]).__name__, "arguments": json.dumps(dict(use.arguments))}
        self._messages += [
            {"role": "assistant", "tool_calls": [{"id": id_, "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": id_, "content": json.dumps(result)},
        ]
        if self._tools[name].ends_call:
            await self.send("server-message", {"text": EXIT})

    def _run(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple[Any, dict[str, Any] | None]:
        db = self._db or Overlay(Seed({}))
        now = str(db.to_json().get("_current_date") or domains.load()[self._domain].now)
        context = ToolContext(db, self.side, "canonical", now, dict(self._counts))
        try:
            checked = check(tool.Arguments, dict(arguments))
            if tool.kind == "read":
                return tool.run(checked, context), None
            with db.transaction():
                value = tool.run(checked, context)
        except (Refusal, InvalidArguments) as refusal:
            return {"status": "error", "message": str(refusal)}, None
        self._counts[tool.model_name()] = self._counts.get(tool.model_name(), 0) + 1
        return value, None if context.is_noop else tool.action(checked.model_dump(), context, value)


@cache
def _read(path: Path) -> Seed:
    """Return ``<path>.json``, else a folder of one file a table."""
    file = path.with_name(path.name + ".json")
    if file.exists():
        return Seed(json.loads(file.read_text()))
    return Seed({shard.stem: json.loads(shard.read_text()) for shard in sorted(path.glob("*.json"))})


@asynccontextmanager
async def serving(bot: ReferenceBot) -> AsyncIterator[str]:
    """Serve a bot in the test's own loop; yields its address."""
    async with serve(bot.handle, "127.0.0.1", 0, compression=None, max_size=2**20) as server:
        yield f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
