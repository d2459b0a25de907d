"""Filters of lists: read from the address, so that every view of a list can be linked to.

An unknown value filters nothing away and is named beside the form, so that a mistyped link is no riddle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.contrib.auth.models import User
from django.core.paginator import Page, Paginator
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import QueryDict

from scenarios.analysis.fault import FAULT_SIDES
from scenarios.domains.base import SIGNALS
from scenarios.faults import FAILED
from scenarios.models import Run, Scenario, SignalResult, Trial
from scenarios.scoring.config import STRICTNESSES, Strictness
from scenarios.scoring.results import OUTCOMES
from scenarios.searchable import composed, searchable
from scenarios.standing import OPEN, prefix_of
from scenarios.validity import NEVER, Tally, is_so

RUN_STATES: Mapping[str, str] = {"open": "open", "paused": "paused", "finished": "finished", "cancelled": "cancelled"}
KINDS: Mapping[str, str] = {"model": "models", "rehearsal": "rehearsals"}
# Whose fault a failed call is; "undecided": nobody's yet.
FAULTS: Mapping[str, str] = {**dict.fromkeys(FAULT_SIDES, ""), "undecided": ""}
RUNS_A_PAGE = 25
SCENARIOS_A_PAGE = 50


@dataclass
class RunFilter:
    """Which runs: by state, domain, agent, words, day (the reader's own) and person."""

    state: str = ""
    domain: str = ""
    agent: str = ""
    kind: str = ""
    q: str = ""
    day: date | None = None
    mine: bool = False
    problems: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, query: QueryDict) -> "RunFilter":
        """Read the filter from an address."""
        found = cls(
            domain=_text(query, "domain"),
            agent=_text(query, "agent"),
            q=_text(query, "q"),
            mine=query.get("mine") == "1",
        )
        found.state = _known(query.get("state", ""), RUN_STATES, "state", found.problems)
        found.kind = _known(query.get("kind", ""), KINDS, "kind", found.problems)
        if text := query.get("day", ""):
            try:
                found.day = date.fromisoformat(text)
            except ValueError:
                found.problems.append(f"{text!r} is no day; write it like 2026-11-30.")
        return found

    @property
    def is_on(self) -> bool:
        """Return whether anything is filtered away."""
        return any((self.state, self.domain, self.agent, self.kind, self.q, self.day, self.mine))

    def apply(self, runs: QuerySet[Run], reader: Any) -> QuerySet[Run]:
        """Return the runs that match."""
        wanted = Q()
        if self.domain:
            wanted &= Q(domain=self.domain)
        if self.agent:
            wanted &= Q(config__agent__slug=self.agent)
        if self.kind:
            wanted &= Q(is_rehearsal=self.kind == "rehearsal")
        if self.day:
            wanted &= Q(launched_at__date=self.day)
        if self.mine and isinstance(reader, User):
            wanted &= Q(launched_by=reader)
        if self.q:
            wanted &= Q(title__icontains=self.q) | _number(self.q)
        return runs.filter(wanted, _in_state(self.state))


@dataclass
class TrialFilter:
    """Which scenarios of a run: those with a trial that has this outcome or failed this signal; tag and words.

    ``people``: with a trial on which people overruled the judge.
    """

    outcome: str = ""
    signal: str = ""
    fault: str = ""
    tag: str = ""
    q: str = ""
    people: bool = False
    problems: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, query: QueryDict) -> "TrialFilter":
        """Read the filter from an address."""
        found = cls(tag=_text(query, "tag"), q=_text(query, "q"), people=query.get("people") == "1")
        states = dict.fromkeys(map(str, (*OUTCOMES, *OPEN)))
        found.outcome = _known(query.get("outcome", ""), states, "outcome", found.problems)
        found.signal = _known(query.get("signal", ""), dict.fromkeys(SIGNALS), "signal", found.problems)
        found.fault = _known(query.get("fault", ""), FAULTS, "side at fault", found.problems)
        return found

    @property
    def is_on(self) -> bool:
        """Return whether anything is filtered away."""
        return any((self.outcome, self.signal, self.fault, self.tag, self.q, self.people))

    def scenarios(self, run: Run) -> list[tuple[int, str, list[str]]]:
        """Return (primary key, name, tags) of the run's scenarios that match, in the run's order."""
        rows = run.trials.filter(number=1).order_by("position")
        if self.q:
            rows = rows.filter(scenario__search_text__contains=searchable(self.q)) | rows.filter(
                scenario__name__icontains=self.q
            )
        found = [*rows.values_list("scenario_id", "scenario__name", "scenario__tags")]
        if self.outcome or self.signal or self.fault or self.people:
            # In a query of its own: PostgreSQL, while it has no statistics of a new run, asks a subquery once a row.
            matching = {*self.trials(run.trials.order_by()).values_list("scenario_id", flat=True)}
            found = [row for row in found if row[0] in matching]
        return [row for row in found if not self.tag or self.tag in row[2]]

    def trials(self, trials: QuerySet[Trial]) -> QuerySet[Trial]:
        """Return the trials that have the outcome and failed the signal."""
        if self.outcome:
            trials = trials.filter(Q(outcome=self.outcome) | Q(status=self.outcome, outcome=""))
        if self.signal:
            trials = trials.filter(Exists(_failed(self.signal)))
        if self.fault:
            side = "" if self.fault == "undecided" else self.fault
            trials = trials.filter(outcome__in=FAILED, fault=side)
        if self.people:
            trials = trials.filter(Q(overruled_count__gt=0) | ~Q(judged_outcome=""))
        return trials


# What the known errors of a task do to a score.
KNOWN_WORDS: Mapping[str, str] = {
    "too_easy": "a wrong call may pass",
    "too_hard": "a right call may fail",
    "either": "the gold is disputed",
    "not_comparable": "older results are not comparable",
    "none": "no score depends on it",
}
# What can be odd about a scenario, in the words of its kinds (``scenarios.validity.FINDINGS``).
HEALTH: Mapping[str, str] = {
    "odd": "anything odd",
    "inaction": "passes by inaction",
    "start": "a predicate holds at the start",
    "broken": "cannot start",
    "write": "a gold write fails",
    "read": "a gold read finds nothing",
    "duplicate": "same as another",
    "unwritten": "a part of upstream's reward has nothing written",
    **{key: f"known: {word}" for key, word in KNOWN_WORDS.items()},
}
RECORD_WORDS: Mapping[str, str] = {
    "stable_pass": "stable pass",
    "stable_fail": "stable fail",
    "flaky": "flaky",
    "once": "one call only",
    "by_agent": "depends on the agent",
    "never": "never run",
}


@dataclass
class ScenarioFilter:
    """Which scenarios of a domain: by words, prefix, tag, persona, claims, soundness and record over runs.

    ``strictness`` and ``parties`` say by what rule and by whose calls soundness and record are read.
    """

    q: str = ""
    prefix: str = ""
    tag: str = ""
    persona: str = ""
    claims: bool = False
    health: str = ""
    record: str = ""
    strictness: Strictness = "reference"
    parties: str = "model"
    problems: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, query: QueryDict) -> "ScenarioFilter":
        """Read the filter from an address."""
        found = cls(
            q=_text(query, "q"),
            tag=_text(query, "tag"),
            persona=_text(query, "persona"),
            claims=query.get("claims") == "1",
            prefix=_text(query, "prefix"),
        )
        asked = _known(query.get("strictness", ""), dict.fromkeys(STRICTNESSES), "strictness", found.problems)
        found.strictness = "upstream" if asked == "upstream" else "reference"
        found.parties = _known(query.get("parties", ""), KINDS, "kind of parties", found.problems) or "model"
        found.record = _known(query.get("record", ""), RECORD_WORDS, "record", found.problems)
        found.health = _known(query.get("health", ""), HEALTH, "kind of oddity", found.problems)
        return found

    @property
    def is_on(self) -> bool:
        """Return whether anything is filtered away."""
        return any((self.q, self.prefix, self.tag, self.persona, self.claims, self.health, self.record))

    def apply(self, rows: QuerySet[Scenario], tallies: Mapping[int, Tally]) -> list[Scenario]:
        """Return the scenarios that match, in their natural order; ``tallies`` are those of ``parties``."""
        if self.q:
            rows = rows.filter(Q(search_text__contains=searchable(self.q)) | Q(name__icontains=self.q))
        if self.persona:
            rows = rows.filter(persona_name=self.persona)
        if self.claims:
            rows = rows.filter(claim_count__gt=0)
        return [
            row
            for row in rows
            if (not self.prefix or prefix_of(row.name) == self.prefix)
            and (not self.tag or self.tag in row.tags)
            and (not self.health or is_so(row, self.health, self.strictness))
            and (not self.record or tallies.get(row.pk, NEVER).record == self.record)
        ]


def tags_of(scenarios: QuerySet[Scenario]) -> list[str]:
    """Return the tags that occur, sorted."""
    return sorted({tag for tags in scenarios.values_list("tags", flat=True) for tag in tags})


def page_of(rows: Any, number: Any, size: int) -> Page[Any]:
    """Return a page; one beyond the end is the last, nonsense is the first."""
    return Paginator(rows, size).get_page(number)


def _text(query: QueryDict, name: str) -> str:
    """Return what was typed, in composed form and without NUL, which PostgreSQL refuses."""
    return composed(query.get(name, "").replace("\0", "").strip())


def _known(value: str, values: Mapping[str, Any], name: str, problems: list[str]) -> str:
    if not value or value in values:
        return value
    problems.append(f"There is no {name} {value!r}; there are {', '.join(values)}.")
    return ""


def _failed(signal: str) -> QuerySet[SignalResult]:
    """Return the results that say a trial failed this signal by its newest scoring, whether it gates or not."""
    newer = SignalResult.objects.filter(trial=OuterRef("trial"), scoring__gt=OuterRef("scoring"))
    failed = Q(state="failed") | Q(state="excluded", value=False)
    return SignalResult.objects.filter(failed, ~Exists(newer), trial=OuterRef("pk"), signal=signal)


def _number(text: str) -> Q:
    digits = text.lstrip("#")
    return Q(pk=int(digits)) if digits.isascii() and digits.isdigit() and len(digits) < 10 else Q()


def _in_state(state: str) -> Q:
    is_open = Exists(Trial.objects.filter(run=OuterRef("pk"), status__in=OPEN))
    choices: dict[str, Sequence[Any]] = {
        "open": (is_open,),
        "paused": (is_open, Q(paused_at__isnull=False)),
        "finished": (~is_open, Q(cancel_requested_at=None)),
        "cancelled": (Q(cancel_requested_at__isnull=False),),
    }
    return Q(*choices.get(state, ()))
