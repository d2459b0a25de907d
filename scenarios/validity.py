"""Whether a domain's scenarios measure anything: what an idle agent passes, odd gold, known errors, record over runs.

Read from the rows that mirror the catalogue, so that it can be shown where a domain's files are missing as well.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from django.db.models import Count, Q

from scenarios.analysis.trials import stability_of
from scenarios.configurations import identities, normal
from scenarios.domains.known_errors import EFFECTS, Effect
from scenarios.models import Run, Scenario, Trial
from scenarios.scoring.config import STRICTNESSES, Strictness
from scenarios.scoring.results import RATED
from scenarios.scoring.rollup import OutcomeCount, Rate, do_nothing_rate, success_rate
from scenarios.standing import INACTION, prefix_of

# stable_pass, stable_fail, flaky, once: as ``analysis.trials.stability_of`` has them, for each configuration by itself.
# by_agent: no configuration is flaky, but not all of them do alike. never: no rated call.
Record = Literal["stable_pass", "stable_fail", "flaky", "once", "by_agent", "never"]
RECORDS: tuple[Record, ...] = get_args(Record)
# The newest runs of a domain that a record looks at.
RUNS_OF_A_RECORD = 200
_Is = Callable[[Scenario, Strictness], bool]


def effects(row: Scenario, strictness: Strictness) -> set[Effect]:
    """Return what the known errors of a scenario do to a score by this strictness."""
    return {(error[2] or error[1]) if strictness == "upstream" else error[1] for error in row.health["known_errors"]}


def _has(effect: Effect) -> _Is:
    return lambda row, strictness: effect in effects(row, strictness)


# What can be odd about a scenario, by the word that pages filter by.
FINDINGS: Mapping[str, _Is] = {
    "inaction": lambda row, strictness: bool(getattr(row, INACTION[strictness])),
    "start": lambda row, _: bool(row.health["true_at_start"]),
    # Rows that were written before this was looked for lack it.
    "broken": lambda row, _: bool(row.health.get("cannot_start")),
    "write": lambda row, _: bool(row.health["failing_writes"]),
    "read": lambda row, _: bool(row.health["failing_reads"]),
    "duplicate": lambda row, _: bool(row.health["duplicate_of"]),
    "unwritten": lambda row, _: bool(row.health["nothing_written"]),
    **{effect: _has(effect) for effect in EFFECTS},
}


def is_so(row: Scenario, finding: str, strictness: Strictness) -> bool:
    """Return whether a finding (or, for "odd", any) is true of a scenario."""
    if finding == "odd":
        return any(test(row, strictness) for test in FINDINGS.values())
    return FINDINGS[finding](row, strictness)


@dataclass(frozen=True)
class IdleLine:
    """What an agent passes that does nothing but end the call: on all scenarios, and on two kinds of them."""

    everything: Rate
    writing: Rate  # the expected state is another than the one the call starts with
    still: Rate  # it is the same


@dataclass(frozen=True)
class Soundness:
    """What is known about the scenarios of one reporting prefix."""

    prefix: str
    scenarios: int
    idle: Mapping[Strictness, IdleLine]
    findings: Mapping[str, int]  # key of FINDINGS -> scenarios, by the strictness asked for
    predicates: tuple[int, int]  # that hold before the first word, of how many
    # Record -> scenarios with it by each kind of party that was handed in, in that order.
    records: Mapping[Record, Sequence[int]]

    @property
    def odd(self) -> list[tuple[str, int]]:
        """Return how many scenarios have each finding of the replay."""
        return [(key, count) for key, count in self.findings.items() if key not in EFFECTS]

    @property
    def known(self) -> list[tuple[Effect, int]]:
        """Return how many scenarios have a known error with each effect."""
        return [(effect, self.findings[effect]) for effect in EFFECTS]


def soundness(rows: Iterable[Scenario], strictness: Strictness, *kinds: Mapping[int, "Tally"]) -> list[Soundness]:
    """Return the findings of each reporting prefix; figures of different prefixes never stand in one sum.

    ``kinds`` are the tallies of each kind of party.
    """
    groups: dict[str, list[Scenario]] = defaultdict(list)
    for row in rows:
        groups[prefix_of(row.name)].append(row)
    return [_soundness(prefix, group, strictness, kinds) for prefix, group in groups.items()]


@dataclass(frozen=True)
class Tally:
    """The rated calls of a scenario by one kind of party, and what they say about the scenario."""

    record: Record
    rate: Rate


NEVER = Tally("never", success_rate(()))


def tallies(domain: str, strictness: Strictness, *, rehearsals: bool) -> Mapping[int, Tally]:
    """Return the record of each scenario (by primary key) that was called, over the domain's newest runs.

    Stand-ins play rehearsals, so these stand apart. Every call is taken by ``strictness``, whatever its run went by.
    """
    newest = Run.objects.filter(domain=domain, is_rehearsal=rehearsals).order_by("-launched_at")[:RUNS_OF_A_RECORD]
    runs = {pk: (_but_strictness(key), key.get("strictness")) for pk, key in identities(newest).items()}
    rated = Trial.objects.filter(Q(outcome__in=RATED) | Q(other_outcome__in=RATED), run__in=runs).order_by()
    rows = rated.values_list("scenario_id", "run_id", "outcome", "other_outcome", "by_inaction").annotate(Count("pk"))
    counts: dict[int, dict[str, list[OutcomeCount]]] = defaultdict(lambda: defaultdict(list))
    for scenario, run, outcome, other, by_inaction, count in rows:
        configuration, own = runs[run]
        taken = outcome if own in (strictness, None) else other
        counts[scenario][configuration].append(OutcomeCount(taken, by_inaction, count))
    return {pk: _tally(by_configuration.values()) for pk, by_configuration in counts.items()}


def _but_strictness(key: Mapping[str, Any]) -> str:
    """Return a configuration as text; by what strictness it was launched does not matter here."""
    return normal({name: value for name, value in key.items() if name != "strictness"})


def record_counts(rows: Sequence[Scenario], found: Mapping[int, Tally]) -> dict[Record, int]:
    """Return how many scenarios have each record."""
    counted = Counter(found.get(row.pk, NEVER).record for row in rows)
    return {record: counted[record] for record in RECORDS}


def _soundness(
    prefix: str, rows: Sequence[Scenario], strictness: Strictness, kinds: Sequence[Mapping[int, Tally]]
) -> Soundness:
    counted = [record_counts(rows, found) for found in kinds]
    return Soundness(
        prefix=prefix,
        scenarios=len(rows),
        idle={name: _idle_line(rows, name) for name in STRICTNESSES},
        findings={key: sum(test(row, strictness) for row in rows) for key, test in FINDINGS.items()},
        predicates=(
            sum(len(row.health["true_at_start"]) for row in rows),
            sum(row.predicate_count for row in rows),
        ),
        records={record: [counts[record] for counts in counted] for record in RECORDS},
    )


def _idle_line(rows: Sequence[Scenario], strictness: Strictness) -> IdleLine:
    def line(chosen: Sequence[Scenario]) -> Rate:
        return do_nothing_rate(len(chosen), sum(FINDINGS["inaction"](row, strictness) for row in chosen))

    return IdleLine(
        everything=line(rows),
        writing=line([row for row in rows if not row.health["gold_equals_seed"]]),
        still=line([row for row in rows if row.health["gold_equals_seed"]]),
    )


def _tally(by_configuration: Iterable[Sequence[OutcomeCount]]) -> Tally:
    configurations = list(by_configuration)
    rates = [rate for rate in map(success_rate, configurations) if rate.total]
    whole = success_rate(count for counts in configurations for count in counts)
    return Tally(_record(rates, whole), whole)


def _record(rates: Sequence[Rate], whole: Rate) -> Record:
    if not rates:
        return "never"
    if "flaky" in {stability_of(rate.passes, rate.total) for rate in rates}:
        return "flaky"
    together = stability_of(whole.passes, whole.total)
    return "by_agent" if together == "flaky" else together
