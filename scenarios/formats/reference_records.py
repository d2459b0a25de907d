"""Plain records of a run and its trials, from which every form of export is written."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Any
from urllib.parse import urlsplit, urlunsplit

from scenarios.domains.base import ScenarioSpec
from scenarios.scoring.evidence import CallRecord, StoredEvent
from scenarios.sides import Side

REDACTED = "[REDACTED]"
# Names of settings that hold a secret; "key_env" holds the name of a variable and "max_tokens" a number.
_SECRET_NAME = re.compile(
    r"(?:^|[_-])(?:api_?key|key|token|secret|password|authorization|credential)s?$", re.IGNORECASE
)
_SECRET_VALUE = re.compile(r"\b(?:sk|pk|nvapi|hf|gsk|xai)[-_][A-Za-z0-9_\-]{12,}|\bBearer\s+[A-Za-z0-9._\-]{8,}")


@dataclass(frozen=True)
class SignalRecord:
    """One stored signal: ``state`` as in the breakdown, ``detail`` as scoring left it."""

    signal: str
    state: str
    value: bool | float | None
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class VerdictRecord:
    """One stored ruling on a claim or predicate."""

    signal: str
    index: int
    claim: str
    passed: bool
    reason: str
    error: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    evidence: Sequence[Mapping[str, Any]] = ()  # quotes: text, turn, seq, found
    scoring: int = 1
    fingerprint: str = ""  # of the judge, the claim and its evidence; '' for predicates
    judge: str = ""  # profile, model and the start of the version's fingerprint
    # The ruling that counts where people have spoken, and as what they did.
    effective: bool | None = None
    ruled_by: str = ""


@dataclass(frozen=True)
class JudgingRecord:
    """One stored judging: what was asked and what came back."""

    system_prompt: str
    user_content: str
    reply: str
    score: float | None
    reason: str
    error: str


@dataclass(frozen=True)
class TrialRow:
    """What the trial's own row says, for forms that do not read the call. None: unknown or not measured."""

    status: str = ""
    end_reason: str = ""
    error_kind: str = ""
    attempts: int = 1
    turns: int = 0
    is_timed: bool = True  # False: the file of another tool has no times; those of its events are all 0
    duration_ms: int | None = None
    response_p50_ms: float | None = None
    prompt_tokens: int | None = None  # the agent's in its last attempt
    completion_tokens: int | None = None
    cost: float | None = None  # dollars, of everybody in all attempts
    # What scoring alone decided where people's rulings changed the outcome, and how many they overruled.
    judged_outcome: str = ""
    overruled: int = 0
    fault: str = ""


@dataclass(frozen=True)
class ForeignRecord:
    """What the file of another tool said of an imported call; '' and None: it did not say."""

    format: str  # ``formats.imports.records.Format``
    termination_reason: str
    task_id: str
    task: Mapping[str, Any] | None  # the file's own definition
    written: Mapping[str, Any] | None  # its verdict as written
    started_at: str = ""  # as the file has it, most often without a zone
    ended_at: str = ""


@dataclass(frozen=True)
class TrialExport:
    """One ended trial. ``spec`` None: the scenario is no longer registered, so its configuration is left out."""

    scenario: str
    number: int
    outcome: str
    outcome_reason: str
    by_inaction: bool
    call: CallRecord
    success_signals: tuple[str, ...]
    other_outcome: str = ""  # by the other strictness than the run's
    signals: tuple[SignalRecord, ...] = ()
    verdicts: tuple[VerdictRecord, ...] = ()
    judging: JudgingRecord | None = None
    spec: ScenarioSpec | None = None
    reference_actions: tuple[Mapping[str, Any], ...] | None = None
    events: Sequence[StoredEvent] = ()  # of all attempts, in order
    ended_at: datetime | None = None  # in UTC
    started_at: datetime | None = None  # in UTC
    fingerprint: str = ""  # of the scenario, as the run froze it
    tags: tuple[str, ...] = ()
    row: TrialRow = field(default_factory=TrialRow)
    foreign: ForeignRecord | None = None
    # Opens the recording of an attempt, None: the one that counts; gives None where there is none.
    open_recording: Callable[[int | None], IO[bytes] | None] | None = None

    @property
    def duration_ms(self) -> int | None:
        """Return how long the call took, None where nothing says it, as in some files of other tools."""
        measured: int | None = self.call.duration_ms
        return measured if measured is not None and self.row.is_timed else self.row.duration_ms

    @property
    def folder(self) -> str:
        """Return the folder's name: the scenario's, with a suffix from the second trial on."""
        name = re.sub(r"[^\w.\-]", "_", self.scenario).lstrip(".") or "_"
        return name if self.number == 1 else f"{name}__trial{self.number}"

    def signal(self, name: str) -> SignalRecord | None:
        """Return a stored signal by its name."""
        return next((signal for signal in self.signals if signal.signal == name), None)

    def actions(self) -> list[Mapping[str, Any]]:
        """Return recorded actions in the reference's order: all of the agent's, then all of the caller's."""
        recorded = [use.action for use in self.call.tools.values() if use.action is not None]
        sides: tuple[Side, Side] = ("agent", "user")
        return [action for side in sides for action in recorded if action.get("side", "agent") == side]


@dataclass(frozen=True)
class RunExport:
    """One run: ``config`` as frozen, ``secrets`` the values that must not appear in any file."""

    run_id: int
    title: str
    started_at: datetime
    config: Mapping[str, Any]
    secrets: tuple[str, ...] = ()
    domain: str = ""
    channel: str = "text"
    fingerprint: str = ""
    is_rehearsal: bool = False
    imported_from: str = ""  # name of the file of another tool; '' for a run that was held here
    trial_count: int = 0
    not_ended: int = 0  # trials that no export holds, since they have not ended

    @property
    def strictness(self) -> str:
        """Return by which rule the outcomes were decided; '' for a run that was scored elsewhere."""
        return str(self.config.get("strictness") or "")

    def party(self, role: str) -> Mapping[str, Any]:
        """Return the frozen profile of agent, caller or judge; empty without one."""
        return self.config.get(role) or {}

    @property
    def folder(self) -> str:
        """Return the folder's name in the reference's form."""
        return f"eval_{self.started_at:%Y%m%d_%H%M%S}"


def redacted(value: Any) -> Any:
    """Return JSON without secrets: values of telling names, keys inside text, passwords inside addresses."""
    if isinstance(value, Mapping):
        return {
            key: REDACTED if item and isinstance(item, str) and _SECRET_NAME.search(str(key)) else redacted(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [redacted(item) for item in value]
    return redacted_text(value) if isinstance(value, str) else value


def redacted_text(text: str) -> str:
    """Return a text without what looks like a key, and an address without its user and password."""
    text = _SECRET_VALUE.sub(REDACTED, text)
    parts = urlsplit(text) if re.match(r"[a-z]+://[^\s/]*@", text) else None
    if parts is None:
        return text
    return urlunsplit(parts._replace(netloc=f"{REDACTED}@{parts.netloc.rpartition('@')[2]}"))
