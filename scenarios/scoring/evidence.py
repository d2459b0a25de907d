"""What scoring reads: the record of one call, gathered from its events and nothing else.

The live call and a stored one are scored through the same function, so scoring again cannot differ from scoring first.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Protocol, cast

from scenarios import domains
from scenarios.domains.base import Fidelity, ScenarioSpec
from scenarios.domains.environment import Environment
from scenarios.events import EndReason
from scenarios.scoring.end_state import end_states
from scenarios.scoring.farewell import goodbyes_at_end
from scenarios.sides import SIDES, Side
from scenarios.state.changes import Change
from scenarios.state.overlay import Overlay


class StoredEvent(Protocol):
    """An event as it was recorded: a database row or what the recorder keeps in memory."""

    @property
    def seq(self) -> int: ...
    @property
    def at_ms(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def side(self) -> str: ...  # "" when the event belongs to neither
    @property
    def data(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True)
class Turn:
    """One utterance; ``seq`` is the event that holds it."""

    seq: int
    turn: int
    side: Side
    said: str
    heard: str | None
    started_ms: int
    ended_ms: int
    interrupted: bool

    @property
    def is_blank(self) -> bool:
        """Return whether nothing was said."""
        return not self.said.strip()


@dataclass(frozen=True)
class ToolUse:
    """One tool call with its answer (``ok`` None: never answered)."""

    seq: int  # of tool.called
    call: int
    side: Side
    tool: str
    arguments: Mapping[str, Any]
    ok: bool | None
    result: Any
    error: str | None
    changes: tuple[Mapping[str, Any], ...]
    action: Mapping[str, Any] | None
    ends_call: bool = False


@dataclass(frozen=True)
class Evidence:
    """The record of the last attempt of one trial."""

    turns: tuple[Turn, ...]
    tools: tuple[ToolUse, ...]
    actions: tuple[Mapping[str, Any], ...]  # recorded writes, agent's and user's, in order
    # Final state: rebuilt from seed and changes, or as pulled from a side that keeps it itself.
    databases: Mapping[Side, Overlay]
    end_reason: EndReason | None  # None: the call never ended, so nothing can be scored
    duration_ms: int
    agent_turns: int  # how often the agent had the word and said something; a monologue is one turn
    intervened_by: str | None
    usage: Mapping[Side, Mapping[str, int]]  # n_calls, prompt, completion
    response_ms: Mapping[Side, tuple[float, ...]]
    # Set when the record itself broke (a bot, socket or model endpoint failed): short kind and message.
    infra_error: tuple[str, str] | None = None
    end_message: str = ""  # with the limit and what was measured, where a limit ended the call
    # Number of the first turn of a loop of goodbyes: what was done after it is not graded.
    goodbye_turn: int | None = None
    # Hashes that sides which keep their own database gave at the end; such a side is never scored on a seed.
    pulled_hashes: Mapping[Side, str] = field(default_factory=dict)
    # Why the database of such a side is not in ``databases``, though its hash may be known.
    unread: Mapping[Side, str] = field(default_factory=dict)

    def hash_of(self, side: Side) -> str | None:
        """Return the hash of a side's final database: what the side gave, else that of the database held here."""
        if side in self.pulled_hashes:
            return self.pulled_hashes[side]
        return self.databases[side].hash if side in self.databases else None


def gather(spec: ScenarioSpec, events: Iterable[StoredEvent], fidelity: Fidelity = "canonical") -> Evidence:
    """Build the evidence from a trial's events; only those after the last ``attempt.started`` count.

    Events are read in the order of ``seq``, whatever their times say. Turns and tool calls that begin after the first
    ``call.ended`` are kept apart and not graded, nor are tool calls after the first goodbye of a loop of goodbyes.
    A turn or tool result that was delivered twice counts once.
    """
    record = read_events(events)
    turns = tuple(record.turns.values())
    goodbye = first_goodbye(record)
    tools = tuple(use for use in record.tools.values() if goodbye is None or use.seq < goodbye.seq)
    databases = start_databases(spec, fidelity)
    for seq, changes in record.written:
        if goodbye is None or seq < goodbye.seq:
            _apply(databases, seq, changes)
    ends = end_states(record, databases)
    return Evidence(
        turns=turns,
        tools=tools,
        actions=_actions(record, tools),
        databases=ends.databases,
        end_reason=record.end_reason,
        duration_ms=record.duration_ms,
        agent_turns=_words_taken(turns, "agent"),
        intervened_by=record.intervened_by,
        usage=record.usage,
        response_ms={side: tuple(row.response_ms for row in record.latencies if row.side == side) for side in SIDES},
        infra_error=record.infra_error or ends.infra_error,
        end_message=record.end_message,
        goodbye_turn=goodbye.turn if goodbye else None,
        pulled_hashes=ends.hashes,
        unread=ends.unread,
    )


def read_events(events: Iterable[StoredEvent]) -> "CallRecord":
    """Return what the last attempt's events say, without rebuilding any database (for pages and exports)."""
    record = CallRecord()
    for event in _last_attempt(events):
        record.read(event)
    return record


def start_databases(spec: ScenarioSpec, fidelity: Fidelity) -> Mapping[Side, Overlay]:
    """Return fresh databases as they are when the call begins: seed, initialisation and one synchronisation."""
    return Environment(domains.load()[spec.domain], spec, fidelity).databases


def first_goodbye(record: "CallRecord") -> Turn | None:
    """Return the turn from which on both sides said nothing but goodbye until the loop was noticed."""
    turns = [turn for turn in record.turns.values() if not turn.is_blank]
    count = goodbyes_at_end(turn.said for turn in turns) if record.end_reason == "loop" else 0
    return turns[-count] if count > 1 else None


def _actions(record: "CallRecord", tools: Sequence[ToolUse]) -> tuple[Mapping[str, Any], ...]:
    """Return the recorded writes in order; a side that keeps its own log is taken at that, agent before caller."""
    logs = {side: pulled["actions"] for side, pulled in record.pulled.items()}
    own = [use.action for use in tools if use.action is not None and use.side not in logs]
    told = {side: [{**action, "side": side} for action in logs.get(side, ())] for side in SIDES}
    return (*told["agent"], *own, *told["user"])


def _words_taken(turns: Iterable[Turn], side: Side) -> int:
    """Return how often a side spoke until the other did: going on alone is no exchange."""
    speakers = groupby(turn.side for turn in turns if not turn.is_blank)
    return sum(speaker == side for speaker, _ in speakers)


def _apply(databases: Mapping[Side, Overlay], seq: int, changes: Iterable[Mapping[str, Any]]) -> None:
    for side, rows in groupby(changes, key=lambda row: row["side"]):
        if side not in databases:
            raise ValueError(f"event {seq} changes a database of side {side!r}, which the scenario has not")
        databases[side].apply(Change.from_json(row) for row in rows)


def _last_attempt(events: Iterable[StoredEvent]) -> Sequence[StoredEvent]:
    ordered = sorted({event.seq: event for event in events}.values(), key=lambda event: event.seq)
    starts = [i for i, event in enumerate(ordered) if event.kind == "attempt.started"]
    return ordered[starts[-1] :] if starts else ordered


@dataclass(frozen=True)
class Latency:
    """Response time of a side for one of its turns, in milliseconds."""

    side: Side
    turn: int
    response_ms: float


@dataclass
class CallRecord:
    """What has been read so far; one small method an event kind."""

    turns: dict[tuple[Side, int], Turn] = field(default_factory=dict)
    tools: dict[int, ToolUse] = field(default_factory=dict)
    written: list[tuple[int, Sequence[Mapping[str, Any]]]] = field(default_factory=list)
    end_reason: EndReason | None = None
    end_message: str = ""
    ended_by: Side | None = None
    duration_ms: int = 0
    intervened_by: str | None = None
    usage: dict[Side, dict[str, int]] = field(
        default_factory=lambda: {side: {"n_calls": 0, "prompt": 0, "completion": 0} for side in SIDES}
    )
    latencies: list[Latency] = field(default_factory=list)
    contexts: dict[Side, list[dict[str, Any]]] = field(default_factory=dict)
    prepared: dict[Side, Mapping[str, Any]] = field(default_factory=dict)  # data of party.prepared
    pulled: dict[Side, Mapping[str, Any]] = field(default_factory=dict)  # data of state.pulled
    infra_error: tuple[str, str] | None = None
    backwards: list[tuple[int, int]] = field(default_factory=list)  # seq, milliseconds before the event before it
    _at_ms: int | None = None

    def read(self, event: StoredEvent) -> None:
        reader = _READERS.get(event.kind)
        if reader is not None:
            reader(self, event)
        if self._at_ms is not None and event.at_ms < self._at_ms:
            self.backwards.append((event.seq, self._at_ms - event.at_ms))
        if self._at_ms is not None or event.kind == "call.started":  # time zero: what is before it has no time
            self._at_ms = event.at_ms
        if self.end_reason is None:
            self.duration_ms = max(self.duration_ms, event.at_ms)

    def turn_ended(self, event: StoredEvent) -> None:
        data, side = event.data, cast(Side, event.data["side"])
        if self.end_reason is not None:
            return
        before = self.turns.get((side, data["turn"]))
        self.turns[side, data["turn"]] = Turn(
            seq=event.seq,
            turn=data["turn"],
            side=side,
            said=data["said"],
            heard=data["heard"],
            started_ms=data["started_ms"],
            ended_ms=event.at_ms if data.get("ended_ms") is None else data["ended_ms"],
            interrupted=bool(data.get("interrupted")) or bool(before and before.interrupted),
        )

    def tool_called(self, event: StoredEvent) -> None:
        data = event.data
        if self.end_reason is not None or data["call"] in self.tools:
            return
        self.tools[data["call"]] = ToolUse(
            seq=event.seq,
            call=data["call"],
            side=data["side"],
            tool=data["tool"],
            arguments=data["arguments"],
            ok=None,
            result=None,
            error=None,
            changes=(),
            action=None,
        )

    def tool_returned(self, event: StoredEvent) -> None:
        data = event.data
        use = self.tools.get(int(data["call"]))
        if use is None or use.ok is not None:
            return
        changes = tuple(data.get("changes") or ())
        self.tools[use.call] = replace(
            use,
            ok=data["ok"],
            result=data["result"],
            error=data.get("error"),
            changes=changes,
            action=data.get("action"),
            ends_call=bool(data.get("ends_call")),
        )
        self.written.append((event.seq, changes))

    def state_synced(self, event: StoredEvent) -> None:
        changes = event.data["changes"]
        self.written.append((event.seq, changes))
        # What a call brought about on the other side is its doing as well: a diff names it as the cause.
        call = event.data.get("after_call")
        if call in self.tools:
            use = self.tools[call]
            self.tools[call] = replace(use, changes=(*use.changes, *changes))

    def latency_measured(self, event: StoredEvent) -> None:
        data = event.data
        self.latencies.append(Latency(data["side"], data["turn"], float(data["response_ms"])))

    def context_pulled(self, event: StoredEvent) -> None:
        self.contexts[event.data["side"]] = list(event.data["messages"])

    def party_prepared(self, event: StoredEvent) -> None:
        self.prepared[event.data["side"]] = event.data

    def state_pulled(self, event: StoredEvent) -> None:
        self.pulled[event.data["side"]] = event.data

    def usage_reported(self, event: StoredEvent) -> None:
        usage = self.usage[event.data["side"]]
        usage["n_calls"] += 1
        usage["prompt"] += event.data["prompt_tokens"]
        usage["completion"] += event.data["completion_tokens"]

    def call_intervened(self, event: StoredEvent) -> None:
        self.intervened_by = self.intervened_by or event.data["person"] or "somebody"

    def attempt_failed(self, event: StoredEvent) -> None:
        self.infra_error = (event.data["error"], event.data["message"])

    def call_ended(self, event: StoredEvent) -> None:
        if self.end_reason is not None:
            return
        self.end_reason, self.duration_ms = event.data["reason"], event.data["duration_ms"]
        self.end_message, self.ended_by = event.data.get("message") or "", event.data.get("by")
        if self.end_reason == "party_failed" and self.infra_error is None:
            self.infra_error = ("party_failed", event.data.get("message") or "a party failed")


_READERS = {
    "party.prepared": CallRecord.party_prepared,
    "context.pulled": CallRecord.context_pulled,
    "state.pulled": CallRecord.state_pulled,
    "turn.ended": CallRecord.turn_ended,
    "tool.called": CallRecord.tool_called,
    "tool.returned": CallRecord.tool_returned,
    "state.synced": CallRecord.state_synced,
    "latency.measured": CallRecord.latency_measured,
    "usage.reported": CallRecord.usage_reported,
    "call.intervened": CallRecord.call_intervened,
    "attempt.failed": CallRecord.attempt_failed,
    "call.ended": CallRecord.call_ended,
}
