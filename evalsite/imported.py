"""What a run's page shows of an import: how far the replay went, and what the lint found."""

from typing import Any

from django.db.models import Count, Q

from scenarios.models import Finding, ForeignResult, Run

MAX_FINDINGS = 50


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
    findings = Finding.objects.filter(run=run).select_related("trial__scenario", "accepted_by")
    total = findings.count()
    return {
        "foreign": {**counts, "why_not": list(reasons.order_by("-count")[:5])},
        "findings": list(findings[:MAX_FINDINGS]),
        "findings_left_out": max(0, total - MAX_FINDINGS),
        "open_errors": open_errors(run),
    }


def open_errors(run: Run) -> int:
    """Return how many errors of a run nobody has accepted: it cannot be compared while there are any."""
    return Finding.objects.filter(run=run, severity=Finding.Severity.ERROR, accepted_at=None).count()
