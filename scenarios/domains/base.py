"""The contract of a domain: what a package must supply to be swept, and nothing about how calls are held."""

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict

from scenarios.domains.predicates import Predicate, predicates_of
from scenarios.sides import Side
from scenarios.state.overlay import Overlay, Seed

Fidelity = Literal["canonical", "reference"]
_Spelled = TypeVar("_Spelled")
ToolKind = Literal["read", "write"]
Signal = Literal[
    "is_action_match", "db_state_match", "db_state_assertion", "nl_assertion", "judge_passed", "clean_exit"
]
SIGNALS: tuple[Signal, ...] = (
    "is_action_match",
    "db_state_match",
    "db_state_assertion",
    "nl_assertion",
    "judge_passed",
    "clean_exit",
)


@dataclass(frozen=True)
class GoldAction:
    """One reference call: ``tool`` is the snake_case name, ``side`` whose tool it is."""

    tool: str
    arguments: Mapping[str, Any]
    side: Side = "agent"
    # Argument names that count when actions are compared; None means all of them.
    compare_args: tuple[str, ...] | None = None


@dataclass(frozen=True)
class InitAction:
    """One step that brings a side's database to the start of the scenario."""

    func_name: str
    arguments: Mapping[str, Any]
    side: Side


@dataclass(frozen=True)
class DbAssertion:
    """One predicate over a final database: passes when ``func_name(db, **arguments) == assert_value``."""

    func_name: str
    arguments: Mapping[str, Any]
    side: Side
    assert_value: Any = True
    message: str = ""


@dataclass(frozen=True)
class CallerBrief:
    """What the simulated caller is told. The text of a field is the benchmark's own, unchanged."""

    goal: str
    personality: str = ""
    known_info: str = ""
    unknown_info: str = ""
    background: str = ""
    name: str = ""
    instructions: tuple[str, ...] = ()


@dataclass(frozen=True)
class MatchOptions:
    """How action match compares text and counts (``spec`` names of the reference system)."""

    ignore_capitalization: bool = False
    ignore_punctuation: bool = False
    clean_text: bool = False
    disallow_extra_items: bool = False


@dataclass(frozen=True)
class ScenarioSpec:
    """One task of a domain: what the caller wants and what must be true afterwards. Immutable, hashable by name."""

    name: str  # "<prefix>__<rest>", unique over all domains
    domain: str
    task_id: str
    caller: CallerBrief
    success_signals: tuple[Signal, ...]
    title: str = ""
    max_duration_s: int = 900
    gold_actions: tuple[GoldAction, ...] = ()
    init_actions: tuple[InitAction, ...] = ()
    nl_assertions: tuple[str, ...] = ()
    db_assertions: tuple[DbAssertion, ...] = ()
    # Facts that the upstream reward wants said; informative unless a run asks for strictness "upstream".
    communicate_info: tuple[str, ...] = ()
    # Parts of upstream's reward (``scenarios.scoring.upstream.Basis``); what of it gates here, ``success_signals`` say.
    reward_basis: tuple[str, ...] = ()
    # How easy the caller is to help, in the benchmark's words; told to the caller only where a run asks for it.
    persona: str = ""
    # Judge threshold of the judge_passed signal.
    judge_threshold: float = 0.9
    match: MatchOptions = MatchOptions()
    persona_name: str = ""
    tags: tuple[str, ...] = ()
    # Anything else of the task file that pages show (notes, known errors...).
    extra: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def fingerprint(self) -> str:
        """Return a SHA-256 over everything that decides how the scenario runs and is scored."""
        decisive = {name: value for name, value in asdict(self).items() if name not in _LABELS}
        text = json.dumps(decisive, sort_keys=True, separators=(",", ":"), default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    def with_persona(self) -> Self:
        """Return the scenario with a caller that is told its persona."""
        personality = "\n\n".join(part for part in (self.caller.personality, self.persona) if part)
        return replace(self, caller=replace(self.caller, personality=personality))

    def __hash__(self) -> int:
        return hash(self.name)


# Fields of a scenario that pages show and nothing else depends on.
_LABELS = frozenset({"title", "persona_name", "tags", "extra"})


class Refusal(Exception):
    """A tool's "no": the call changes nothing, records nothing, and the model reads ``message``.

    ``kind`` is the exact failure kind (``order_not_pending``), ``error_type`` the reference's family (``value_error``).
    """

    def __init__(self, kind: str, message: str, error_type: str = "value_error") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.error_type = error_type


@dataclass
class ToolContext:
    """What a tool may touch: its side's database, and the call's own counters and choices."""

    db: Overlay
    side: Side
    fidelity: Fidelity
    now: str
    # Successful calls so far by tool name, for ids that are minted per call.
    counts: dict[str, int]
    # Set by a tool whose success changed nothing because the state was already so: nothing is recorded.
    is_noop: bool = False
    # Fields of the recorded action's ``result``; a tool that sets none records its return value by its own rule.
    record: dict[str, Any] | None = None
    # Arguments that are recorded otherwise than they were said (fidelity "canonical").
    recorded_arguments: dict[str, Any] = field(default_factory=dict)

    def spelling(self, argument: str, said: _Spelled, stored: _Spelled) -> _Spelled:
        """Return how an identifier is recorded: as the database spells it, in fidelity "reference" as it was said.

        The recorded arguments follow suit.
        """
        if self.fidelity == "reference":
            return said
        self.recorded_arguments[argument] = stored
        return stored


class ToolArguments(BaseModel):
    """Base of a tool's arguments: texts take only text, numbers and booleans also their usual spellings.

    An unknown argument is an error that the model can mend.
    """

    model_config = ConfigDict(extra="forbid")


class NoArguments(ToolArguments):
    """For tools that need nothing."""


class Tool(ABC):
    """One function of a side. Subclasses are named as in the reference (``CancelPendingOrderTool``)."""

    kind: ClassVar[ToolKind] = "read"
    description: ClassVar[str]
    side: ClassVar[Side] = "agent"
    Arguments: ClassVar[type[BaseModel]]
    # The call is over once a successful result has been delivered (end of conversation, transfer).
    ends_call: ClassVar[Literal["end_tool", "transfer"] | None] = None
    # Whether an answer to arguments that are not valid lists what is wrong (``details``) beside its text.
    lists_faults: ClassVar[bool] = True

    @classmethod
    def model_name(cls) -> str:
        """Return the name that a model sees and task files use: the class name in snake_case, without ``Tool``."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__.removesuffix("Tool")).lower()

    @abstractmethod
    def run(self, args: Any, context: ToolContext) -> Any:
        """Do the work on ``context.db`` and return JSON; raise ``Refusal`` to change nothing.

        Only a tool of kind "write" may edit the database.
        """

    def action(self, arguments: Mapping[str, Any], context: ToolContext, value: Any) -> dict[str, Any] | None:
        """Return the record of a successful write, without ``side``; None records nothing."""
        name = self.model_name()
        result = value if context.record is None else context.record
        return {"action_type": name, "name": name, "arguments": dict(arguments), "result": result}

    def invalid_type(self, fields: tuple[tuple[str, str], ...]) -> str:
        """Return the error type of arguments that are not valid; ``fields`` are (path, what was wrong)."""
        return "validation_error"


@dataclass(frozen=True)
class ToolResult:
    """What one call did. ``value`` is what the tool returned; ``for_model`` is what a model reads (never empty)."""

    tool: str  # the model's name for it; what was asked for when there is no such tool
    side: Side
    ok: bool
    value: Any
    for_model: Any
    error: str | None = None  # failure kind
    error_type: str | None = None  # family, as in the reference
    invalid_fields: tuple[tuple[str, str], ...] = ()  # (argument path, what was wrong)
    is_noop: bool = False
    is_empty: bool = False
    changes: tuple[dict[str, Any], ...] = ()  # {"side", "path", "before", "after", "op"}
    action: dict[str, Any] | None = None
    ends_call: Literal["end_tool", "transfer"] | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)  # as given


class Domain(ABC):
    """A namespace: policy, databases, tools, scenarios, predicates. One instance a process, made by ``register``."""

    name: ClassVar[str]
    title: ClassVar[str]
    description: ClassVar[str] = ""
    now: ClassVar[str] = ""

    @abstractmethod
    def missing_data(self) -> str | None:
        """Return why the domain cannot be used here (which file is absent, what to do), or None."""

    @abstractmethod
    def scenarios(self) -> Sequence[ScenarioSpec]:
        """Return all scenarios in their natural order; loaded once."""

    def voice_settings(self, spec: ScenarioSpec) -> Mapping[str, Mapping[str, Any]]:
        """Return how the scenario's persona sounds and behaves in speech, by the setting's name; {} by default."""
        return {}

    @abstractmethod
    def seeds(self, spec: ScenarioSpec) -> Mapping[Side, Seed]:
        """Return the untouched database of each side that has one; shared by all calls."""

    @abstractmethod
    def tools(self, side: Side) -> Sequence[Tool]:
        """Return the tools of a side in the order a model is shown them, end of conversation included."""

    @abstractmethod
    def agent_prompt(self, spec: ScenarioSpec) -> str:
        """Return the system prompt of the agent under test."""

    @abstractmethod
    def caller_prompt(self, spec: ScenarioSpec) -> str:
        """Return the system prompt of the simulated caller."""

    def predicates(self) -> Mapping[str, Predicate]:
        """Return the predicates of ``db_assertions`` by name: those that are registered for the domain."""
        return predicates_of(self.name)

    def initialize(self, action: InitAction, databases: Mapping[Side, Overlay], now: str) -> None:
        """Run one initialisation step as at ``now`` (ISO text); raise ``Refusal`` when it cannot be done."""
        raise Refusal("unknown_init_function", f"{self.name} has no initialisation function {action.func_name!r}")

    def sync(self, databases: Mapping[Side, Overlay]) -> None:
        """Bring the two sides' databases together after initialisation and after each tool call; nothing by default."""
        return

    def sync_delta(
        self, side: Side, changes: Sequence[Mapping[str, Any]], databases: Mapping[Side, Overlay]
    ) -> dict[str, Any]:
        """Return what a bot that keeps its own database of ``side`` must be told of a synchronisation.

        ``changes`` are that side's, in the form of events. The delta maps dotted paths to values
        (``spec/reference-system.md`` 5).
        """
        return {".".join(map(str, change["path"])): change["after"] for change in changes}

    def start_state(self, spec: ScenarioSpec, side: Side) -> dict[str, Any]:
        """Return the untouched state of a bot that keeps its own: ``db`` whole, or ``db_path`` below EVAL_DATA_ROOT."""
        seed = self.seeds(spec).get(side)
        return {} if seed is None else {"db": dict(seed.data)}

    def expected_databases(self, spec: ScenarioSpec) -> Mapping[Side, Overlay] | None:
        """Return the expected databases of a scenario that ships them; None: the gold actions lead there."""
        return None

    def tool_now(self, spec: ScenarioSpec) -> str:
        """Return the fixed "now" of a scenario as ISO text."""
        return self.now


_REGISTRY: dict[str, type[Domain]] = {}


def register(cls: type[Domain]) -> type[Domain]:
    """Register a domain by its name; a second one with the same name is refused."""
    if cls.name in _REGISTRY:
        raise ValueError(f"two domains are called {cls.name!r}: {_REGISTRY[cls.name].__module__} and {cls.__module__}")
    _REGISTRY[cls.name] = cls
    return cls


def registered() -> Mapping[str, type[Domain]]:
    """Return the registered domain classes by name (``scenarios.domains.load`` has imported their modules)."""
    return _REGISTRY
