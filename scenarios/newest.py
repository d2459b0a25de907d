"""The rows that count where a call was scored more than once: those of its newest scoring."""

from collections.abc import Iterable
from typing import Protocol, TypeVar

from django.db.models import Exists, OuterRef, QuerySet

from scenarios.models import Verdict


class _Scored(Protocol):
    scoring: int


Row = TypeVar("Row", bound=_Scored)


def newest(rows: Iterable[Row]) -> list[Row]:
    """Return those of one call's rows that are of its newest scoring, in their order."""
    rows = list(rows)
    latest = max((row.scoring for row in rows), default=0)
    return [row for row in rows if row.scoring == latest]


def newest_claims() -> QuerySet[Verdict]:
    """Return the newest rulings on the claims of all calls; finding them costs a look-up a row."""
    newer = Verdict.objects.filter(trial=OuterRef("trial"), signal="nl_assertion", scoring__gt=OuterRef("scoring"))
    return Verdict.objects.filter(~Exists(newer), signal="nl_assertion")
