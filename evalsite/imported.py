"""What a run's page shows of an import: how far the replay went, and what the lint found."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q

from scenarios.models import Finding, ForeignResult, Run

# Calls that a group names; the count of all is given.
MAX_NAMED = 5
MAX_FINDINGS = 500


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
    counts = results.aggregate(
        replayed=Count("pk", filter=Q(our_db_match__isnull=False)),
        compared=Count("pk", filter=Q(agrees__isnull=False)),
        agreeing=Count("pk", filter=Q(agrees=True)),
        differing=Count("pk", filter=Q(agrees=False)),
    )
    reasons = results.exclude(why_not_replayed="").values_list("why_not_replayed").annotate(count=Count("pk"))
    findings = Finding.objects.filter(run=run).select_related("trial__scenario", "accepted_by")[:MAX_FINDINGS]
    return {
        "foreign": {**counts, "why_not": list(reasons.order_by("-count")[:5])},
        "findings": grouped(findings),
        "open_errors": open_errors(run),
    }


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
