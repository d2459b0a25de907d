"""What any foreign result file is read into. None means that the file does not say; nothing is filled in."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from scenarios.sides import SIDES, Side

MappedVerdict = Literal["pass", "fail", "judge_error", "not_scored", "excluded"]
Severity = Literal["info", "warning", "error"]
Format = Literal[
    "tau2", "tau2_directory", "tau2_simulation", "tau2_evaluation", "tau_bench", "reference", "eva", "inspect"
]


@dataclass(frozen=True)
class Remark:
    """Something odd about a file: ``place`` is a path inside it, such as ``simulations[3].messages[7].content``."""

    severity: Severity
    place: str
    text: str


@dataclass(frozen=True)
class SourceFile:
    """The bytes that were read. ``content_sha256`` is of what a packed file unpacks to, so it survives repacking."""

    path: Path
    sha256: str
    content_sha256: str
    size: int
    content_size: int


@dataclass(frozen=True)
class ImportedTask:
    """A task as the file has it; ``definition`` is the file's own object, tau2's or tau-bench's."""

    id: str
    definition: Mapping[str, Any]


@dataclass(frozen=True)
class ImportedParty:
    """One side as the run declares it; ``settings`` holds its other fields, secrets taken out."""

    implementation: str | None = None
    model: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ImportedToolCall:
    """One call of a tool in the order of the file, with the answer recorded for it.

    ``arguments`` is None when the file has no JSON object there; ``raw_arguments`` then holds what it has.
    ``is_executed`` is False where the harness answered without running the tool, ``not_executed`` says why.
    """

    position: int
    id: str | None
    side: Side
    tool: str
    arguments: Mapping[str, Any] | None
    raw_arguments: str | None = None
    result: str | None = None
    # None: the file does not mark errors.
    is_error: bool | None = None
    paired_by: Literal["id", "position", "none"] = "none"
    message: int | None = None  # index of the message that holds the call
    tick: int | None = None
    not_executed: str = ""
    # Milliseconds from the start of the call, where the file gives them.
    at_ms: int | None = None
    # How many turns came before it, where the file tells neither a message of the turns nor a time.
    after_turn: int | None = None

    @property
    def is_executed(self) -> bool:
        """Return whether the tool was run."""
        return not self.not_executed


@dataclass(frozen=True)
class ImportedMessage:
    """One message; ``calls`` are positions of tool calls that it holds, ``answers`` that of the call it answers."""

    index: int
    role: str
    content: str | None
    calls: tuple[int, ...] = ()
    answers: int | None = None
    timestamp: str | None = None
    cost: float | None = None
    usage: Mapping[str, Any] | None = None
    raw: Any = None  # the provider's own reply, secrets taken out


@dataclass(frozen=True)
class ImportedTurn:
    """A stretch of speech or text of one side; times are milliseconds from the start of the call.

    ``said`` is what was meant where the file tells it apart from what was spoken, ``spoken`` the words that were.
    """

    side: Side
    spoken: str
    said: str | None = None
    started_ms: int | None = None
    ended_ms: int | None = None
    started_at: str | None = None
    first_message: int | None = None
    first_tick: int | None = None
    last_tick: int | None = None


@dataclass(frozen=True)
class ImportedTick:
    """What a fifth of a second of a voice call held: all that timing metrics need, without provider chatter."""

    index: int
    timestamp: str | None
    duration_ms: float | None
    agent_speaks: bool | None
    user_speaks: bool | None
    agent_text: str
    user_text: str
    user_action: str | None  # wait, generate_message, keep_talking, stop_talking, backchannel
    effects: Mapping[str, Any]
    voice_activity: tuple[str, ...]  # speech_started, speech_stopped, interrupted


@dataclass(frozen=True)
class ImportedAudio:
    """A recording that lies beside the file: only its header was read. ``sides`` names the channels in order.

    ``duration_s`` is by the number of frames, ``width`` the bytes of one sample.
    """

    path: Path
    name: str  # inside the run's folder
    channels: int
    rate: int
    width: int
    duration_s: float
    size: int
    sides: tuple[Side, ...]  # a channel with both sides mixed is not named


@dataclass(frozen=True)
class ForeignVerdict:
    """A verdict as written, and what it counts as here. ``why`` explains every mapping that is not the plain one."""

    mapped: MappedVerdict
    why: str
    reward: float | None
    written: Mapping[str, Any] | None
    # Whether the databases matched; None where the file does not say and it does not follow.
    db_match: bool | None = None
    action_checks: tuple[Mapping[str, Any], ...] = ()
    communicate_checks: tuple[Mapping[str, Any], ...] = ()
    env_assertions: tuple[Mapping[str, Any], ...] = ()
    nl_assertions: tuple[Mapping[str, Any], ...] = ()
    reward_basis: tuple[str, ...] | None = None
    # Whose databases ``db_match`` is about: the reference system compares the agent's only.
    db_sides: tuple[Side, ...] = SIDES


@dataclass(frozen=True)
class ImportedTrial:
    """One conversation of a foreign run; ``place`` is where it stands in its file.

    ``trial`` tells the trials of one task apart; it counts from 0 where it is known what the file counts from.
    ``domain_name`` is what the file calls this trial's own
    domain, where its run may mix several.
    """

    place: str
    id: str | None
    task_id: str | None
    task: ImportedTask | None
    trial: int | None
    seed: int | None
    termination_reason: str | None
    verdict: ForeignVerdict
    messages: tuple[ImportedMessage, ...]
    turns: tuple[ImportedTurn, ...]
    tool_calls: tuple[ImportedToolCall, ...]
    started_at: str | None = None
    ended_at: str | None = None
    duration_s: float | None = None
    agent_cost: float | None = None
    user_cost: float | None = None
    mode: str | None = None
    policy: str | None = None
    ticks: tuple[ImportedTick, ...] = ()
    domain_name: str | None = None
    audio: tuple[ImportedAudio, ...] = ()
    # Our canonical hash of the databases that the call ended with, where the file has the databases or this very hash.
    end_hashes: Mapping[Side, str] = field(default_factory=dict)
    # Everything else the file says of the trial (reviews, speech environment, usage), secrets taken out.
    facts: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()


@dataclass
class ImportedRun:
    """One foreign run. Its trials are read one at a time, so that a file need not fit in memory.

    ``refused`` fills while trials are read: those of which nothing could be made.
    """

    source: SourceFile
    format: Format
    version: str | None
    domain_name: str | None  # as the file calls it
    agent: ImportedParty
    user: ImportedParty
    tasks: Mapping[str, ImportedTask]
    read_trials: Callable[["ImportedRun"], Iterator[ImportedTrial]]
    timestamp: str | None = None
    git_commit: str | None = None
    num_trials: int | None = None  # as declared; an interrupted run has fewer
    max_steps: int | None = None
    max_errors: int | None = None
    seed: int | None = None
    policy: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)
    refused: list[Remark] = field(default_factory=list)
    # The domain that the tools of its calls tell, "" when they do not; None: nobody has asked yet.
    domain_told: str | None = None

    def trials(self) -> Iterator[ImportedTrial]:
        """Yield the trials in the order of the file; DamagedFile where it breaks off, after those before."""
        self.refused.clear()
        yield from self.read_trials(self)
