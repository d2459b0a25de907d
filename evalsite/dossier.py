"""What is known about a domain and a scenario: gold with its changes, health in words, history over runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scenarios.domains.base import Domain, GoldAction, ScenarioSpec, ToolResult
from scenarios.models import Run, Scenario, Trial
from scenarios.replay import Gold, gold_replay
from scenarios.scoring.rollup import OutcomeCount, Rate, success_rate
from scenarios.scoring.success import asserts_nothing
from scenarios.scoring.upstream import passes_by_inaction
from scenarios.validity import Soundness, soundness


@dataclass(frozen=True)
class DomainRow:
    """A domain, whether it can be used, and its counts from the mirrored rows."""

    domain: Domain

    @cached_property
    def missing(self) -> str | None:
        """Return why the domain cannot be used here."""
        return self.domain.missing_data()

    @cached_property
    def rows(self) -> list[Scenario]:
        """Return the mirrored scenarios."""
        return list(Scenario.objects.filter(domain=self.domain.name, is_registered=True))

    @property
    def with_claims(self) -> int:
        """Return how many scenarios have claims."""
        return sum(row.claim_count > 0 for row in self.rows)

    @cached_property
    def sound(self) -> list[Soundness]:
        """Return what an agent scores that does nothing, and other findings, for each reporting prefix."""
        return soundness(self.rows, "reference")


@dataclass(frozen=True)
class GoldStep:
    """A reference call with what it returned and changed."""

    action: GoldAction
    result: ToolResult

    @property
    def changes(self) -> list[Mapping[str, Any]]:
        """Return the changes with their paths as text."""
        return [{**change, "where": ".".join(map(str, change["path"]))} for change in self.result.changes]


@dataclass(frozen=True)
class HistoryRow:
    """A scenario in one run: its trials and their rate."""

    run: Run
    trials: Sequence[Trial]

    @property
    def rate(self) -> Rate:
        """Return the rate over this run's trials of the scenario."""
        return success_rate(OutcomeCount(trial.outcome, trial.by_inaction, 1) for trial in self.trials)


def gold_steps(spec: ScenarioSpec) -> list[GoldStep]:
    """Return the reference calls in order."""
    return [GoldStep(*pair) for pair in zip(spec.gold_actions, gold_replay(spec).calls, strict=True)]


def health_notes(spec: ScenarioSpec, gold: Gold) -> list[tuple[str, str]]:
    """Return (severity, sentence) of everything odd about the scenario itself; severity is "warning" or "info"."""
    health = gold.health
    notes = []
    if asserts_nothing(spec, gold):
        notes.append(
            ("warning", "Nothing is asserted: no signal that gates has anything to decide. No call is scored.")
        )
    if health.cannot_start:
        notes.append(("warning", f"The call cannot start: {health.cannot_start}. No call of it can be held."))
    for position in health.failing_writes:
        tool = spec.gold_actions[position].tool
        notes.append(
            ("warning", f"Reference call {position + 1}, {tool}, is a write that is refused: the gold may be broken.")
        )
    for position in health.failing_reads:
        tool = spec.gold_actions[position].tool
        notes.append(
            ("info", f"Reference call {position + 1}, {tool}, is a read that finds nothing: harmless for the state.")
        )
    if health.passes_by_inaction:
        by_upstream = "" if passes_by_inaction(spec, gold) else " By upstream strictness it fails."
        notes.append(
            (
                "warning",
                "An agent that does nothing but end the call passes. Such passes are counted beside each rate."
                + by_upstream,
            )
        )
    elif health.gold_equals_seed:
        notes.append(("info", "The expected database is the one the call starts with: only what is said can fail it."))
    if health.true_at_start:
        held = f"{len(health.true_at_start)} of {len(spec.db_assertions)} predicates hold"
        notes.append(("info", f"{held} before the first word: nobody has to do anything for them."))
    if health.duplicate_of:
        notes.append(("info", f"Same caller and same reference calls as {health.duplicate_of}."))
    return notes


def neighbours(domain: Domain, spec: ScenarioSpec) -> tuple[ScenarioSpec | None, ScenarioSpec | None]:
    """Return the scenarios before and after this one."""
    specs = domain.scenarios()
    place = next(index for index, other in enumerate(specs) if other.name == spec.name)
    return specs[place - 1] if place else None, specs[place + 1] if place + 1 < len(specs) else None


def history(row: Scenario, limit: int) -> list[HistoryRow]:
    """Return how the scenario fared in the newest runs that held it."""
    trials = Trial.objects.filter(scenario=row)
    runs = list(Run.objects.filter(pk__in=trials.values("run_id")).order_by("-launched_at")[:limit])
    held: dict[int, list[Trial]] = {run.pk: [] for run in runs}
    for trial in trials.filter(run__in=runs).select_related("scenario").order_by("number"):
        held[trial.run_id].append(trial)
    return [HistoryRow(run, held[run.pk]) for run in runs]
