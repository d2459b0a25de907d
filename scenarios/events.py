"""The numbered facts of a trial: the record that pages, exports and scoring all read.

An event is stored once as ``(trial, seq, at_ms, kind, side, data)`` and never changed. ``data`` holds only what the
classes below say; times are milliseconds from the start of the call. Audio and partial transcripts are not events.
A new attempt of a trial goes on in the same sequence with an ``attempt.started``; only
what follows the last one counts.
"""

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal

from scenarios.sides import Side

EndReason = Literal[
    "end_tool",  # the agent called the end-of-conversation tool: a clean exit
    "transfer",  # the agent handed the caller to a person: a clean exit
    "hang_up",  # a person pressed hang-up on the call page
    "time_limit",
    "turn_limit",
    "silence",  # nobody said anything for the limit: both sides wait
    "loop",  # the same lines again and again, goodbyes included
    "cancelled",
    "over_budget",
    "party_failed",  # a bot, its socket or its model failed
    "site_stopping",
]
CLEAN_ENDS: frozenset[EndReason] = frozenset({"end_tool", "transfer"})


@dataclass(frozen=True)
class Event:
    """Base of all events; a subclass fixes ``kind`` and its own fields are the stored ``data``."""

    kind: ClassVar[str]

    def data(self) -> dict[str, Any]:
        """Return the JSON-ready payload."""
        return asdict(self)


@dataclass(frozen=True)
class AttemptStarted(Event):
    """A lane took the trial; ``attempt`` counts from 1."""

    kind: ClassVar[str] = "attempt.started"
    attempt: int
    lane: str


@dataclass(frozen=True)
class AttemptFailed(Event):
    """The attempt broke down: ``error`` is a short kind (``llm_http_429``...), ``message`` the text."""

    kind: ClassVar[str] = "attempt.failed"
    error: str
    message: str
    will_retry: bool


@dataclass(frozen=True)
class PartyPrepared(Event):
    """One side is ready to talk: what it was told and with what it may act. ``model`` is '' for an external party.

    ``tools_run`` is "theirs" for a bot that keeps tools and database itself: its final state is what ``state.pulled``
    says, and the changes of its tool calls are what our copy of its database made of the actions it reported.
    """

    kind: ClassVar[str] = "party.prepared"
    side: Side
    profile: str
    model: str
    prompt: str
    tools: list[dict[str, Any]]
    is_standin: bool
    tools_run: Literal["ours", "theirs"] = "ours"


@dataclass(frozen=True)
class CallStarted(Event):
    """Time zero of the call."""

    kind: ClassVar[str] = "call.started"
    channel: str


@dataclass(frozen=True)
class TurnStarted(Event):
    """A side began to speak (or, on the text channel, to write). ``turn`` counts turns of both sides from 1."""

    kind: ClassVar[str] = "turn.started"
    side: Side
    turn: int


@dataclass(frozen=True)
class TurnEnded(Event):
    """A whole utterance: ``said`` is what was meant, ``heard`` what reached the other side (None: not measured)."""

    kind: ClassVar[str] = "turn.ended"
    side: Side
    turn: int
    said: str
    heard: str | None
    started_ms: int
    interrupted: bool = False
    # Text of the model before control tokens were taken out, when it differs from ``said``.
    raw: str | None = None
    # When its sound ended; None on the text channel, where the event's own time says so.
    ended_ms: int | None = None


@dataclass(frozen=True)
class ToolCalled(Event):
    """A side asked for a tool. ``call`` counts calls of both sides from 1; ``call_id`` is the model's own id."""

    kind: ClassVar[str] = "tool.called"
    side: Side
    call: int
    tool: str
    arguments: dict[str, Any]
    call_id: str
    # The model's text when it was not a JSON object; ``arguments`` is then empty.
    raw_arguments: str | None = None


@dataclass(frozen=True)
class ToolReturned(Event):
    """The answer to ``tool.called`` with the same ``call`` and the exact change it made.

    ``changes`` is a list of ``{"side", "path", "before", "after", "op"}`` (see ``scenarios.state.changes``);
    ``action`` is the recorded write (``{"action_type", "name", "arguments", "result", "side"}``) or None.
    """

    kind: ClassVar[str] = "tool.returned"
    side: Side
    call: int
    tool: str
    ok: bool
    result: Any
    duration_ms: float
    error: str | None = None
    changes: list[dict[str, Any]] = field(default_factory=list)
    action: dict[str, Any] | None = None
    ends_call: bool = False


@dataclass(frozen=True)
class StateSynced(Event):
    """The two sides' databases were brought together; same ``changes`` as in ``tool.returned``.

    A side that keeps its own database was told by ``apply_sync_delta``: ``deltas`` is what it was sent (dotted path to
    value, by side), ``acknowledged_ms`` how long each took to say that it was applied. The first synchronisation has
    no ``changes``: every call begins with them made.
    """

    kind: ClassVar[str] = "state.synced"
    changes: list[dict[str, Any]]
    after_call: int | None = None
    deltas: dict[str, dict[str, Any]] = field(default_factory=dict)
    acknowledged_ms: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class StatePulled(Event):
    """The end state of a side that keeps tools and database itself, asked of it while the socket was open.

    ``db_hash`` is the SHA-256 the bot gave (None: it has no database), ``actions`` its own log of successful writes.
    ``changes`` lead from the untouched seed to the database it gave (same form as in ``tool.returned``); None where it
    gave none, and ``no_database`` says why. ``copy_hash`` is that of our copy, which followed the actions it reported.
    """

    kind: ClassVar[str] = "state.pulled"
    side: Side
    db_hash: str | None
    actions: list[dict[str, Any]]
    changes: list[dict[str, Any]] | None = None
    no_database: str = ""
    copy_hash: str | None = None


@dataclass(frozen=True)
class LatencyMeasured(Event):
    """Response time of ``side`` for ``turn``: end of the other side's turn to this one's first output."""

    kind: ClassVar[str] = "latency.measured"
    side: Side
    turn: int
    response_ms: float
    # endpointing, stt, model, tools, tts, transport, residual: absent parts were not measured.
    parts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class UsageReported(Event):
    """Tokens of one model request of a side."""

    kind: ClassVar[str] = "usage.reported"
    side: Side
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True)
class CallIntervened(Event):
    """A person touched the call (``action`` is ``hang_up``...); the trial is then tainted."""

    kind: ClassVar[str] = "call.intervened"
    action: str
    person: str


@dataclass(frozen=True)
class Noted(Event):
    """Something worth knowing that is none of the above: blank turns, repeats, retries, truncations, duplicates."""

    kind: ClassVar[str] = "note"
    level: Literal["info", "warning", "error"]
    text: str
    side: Side | None = None


@dataclass(frozen=True)
class ContextPulled(Event):
    """The message history of a side as its model saw it, pulled while the socket was still open."""

    kind: ClassVar[str] = "context.pulled"
    side: Side
    messages: list[dict[str, Any]]


@dataclass(frozen=True)
class CallEnded(Event):
    """The conversation is over; ``by`` says which side ended it, None when neither did."""

    kind: ClassVar[str] = "call.ended"
    reason: EndReason
    by: Side | None
    duration_ms: int
    message: str = ""


@dataclass(frozen=True)
class SignalScored(Event):
    """One of the six signals was decided: ``state`` is passed, failed, not_applicable, excluded or undecided."""

    kind: ClassVar[str] = "signal.scored"
    signal: str
    state: str
    value: bool | float | None
    gating: bool


@dataclass(frozen=True)
class VerdictGiven(Event):
    """The ruling on one assertion, as it came; reasons and evidence are in the verdict's own row."""

    kind: ClassVar[str] = "verdict.given"
    signal: str
    index: int
    passed: bool
    is_error: bool


@dataclass(frozen=True)
class TrialFinished(Event):
    """The outcome, with the reason in words."""

    kind: ClassVar[str] = "trial.finished"
    outcome: str
    reason: str


@dataclass(frozen=True)
class OutcomeRevised(Event):
    """People's rulings on claims, or a quarantine of the judge, changed the outcome after the call had ended."""

    kind: ClassVar[str] = "outcome.revised"
    before: str
    outcome: str
    reason: str
