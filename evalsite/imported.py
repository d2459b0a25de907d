"""What a run's page shows of an import: how far the replay went, and what the lint found."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from scenarios.importing.agreement import counted
from scenarios.models import Finding, ForeignResult, Run

# Calls that a group names; the count of all is given.
MAX_NAMED = 5
MAX_FINDINGS = 500
CHECK_NAMES = {"action": "calls to make", "communicate": "facts to say", "db_state_assertion": "predicates"}


@dataclass(frozen=True)
class CheckLine:
    """How many of the file's rulings of one kind came out again; those of calls that were not replayed apart."""

    name: str
    agreeing: int
    differing: int
    not_replayed: int

    @property
    def compared(self) -> int:
        """Return how many there is one of ours for."""
        return self.agreeing + self.differing


@dataclass(frozen=True)
class FindingGroup:
    """The same kind of thing found in one or several calls."""

    first: Finding
    count: int
    named: list[Finding]

    @property
    def is_open_error(self) -> bool:
        """Return whether it keeps the run from being compared."""
        return self.first.severity == Finding.Severity.ERROR and self.first.accepted_at is None


def imported_context(run: Run) -> dict[str, Any]:
    """Return the context of ``runs/_imported.html``: errors first, then warnings."""
    results = ForeignResult.objects.filter(trial__run=run)
    reasons = results.exclude(why_not_replayed="").values_list("why_not_replayed").annotate(count=Count("pk"))
    findings = Finding.objects.filter(run=run).select_related("trial__scenario", "accepted_by")[:MAX_FINDINGS]
    foreign = counted(run)
    return {
        "foreign": {
            **foreign,
            "why_not": list(reasons.order_by("-count")[:5]),
            "checks": checks_of(foreign["checks"]),
        },
        "findings": grouped(findings),
        "open_errors": open_errors(run),
    }


def checks_of(counts: Counter[tuple[str, str]]) -> list[CheckLine]:
    """Return a line for each kind of check that the file gives rulings on."""
    lines = [
        CheckLine(name, counts[kind, "agree"], counts[kind, "differ"], counts[kind, "not replayed"])
        for kind, name in CHECK_NAMES.items()
    ]
    return [line for line in lines if line.compared or line.not_replayed]


def grouped(findings: Iterable[Finding]) -> list[FindingGroup]:
    """Return findings of one kind as one group each, in the order of the first."""
    groups: dict[tuple[Any, ...], list[Finding]] = {}
    for finding in findings:
        key = (finding.severity, finding.code, finding.accepted_at)
        groups.setdefault(key, []).append(finding)
    return [FindingGroup(found[0], len(found), found[:MAX_NAMED]) for found in groups.values()]


def open_errors(run: Run) -> int:
    """Return how many errors of a run nobody has accepted: it cannot be compared while there are any."""
    return Finding.objects.filter(run=run, severity=Finding.Severity.ERROR, accepted_at=None).count()
