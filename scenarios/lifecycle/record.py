"""Appending events, fenced by the lease: one transaction for all trials of a lane."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Case, F, PositiveIntegerField, Value, When
from django.utils import timezone

from scenarios.events import Event
from scenarios.models import Trial, TrialEvent

if TYPE_CHECKING:
    from scenarios.lifecycle.claims import Claim


@dataclass(frozen=True)
class NewEvent:
    """An event that is numbered but not stored yet; has the shape that scoring reads (StoredEvent)."""

    seq: int
    at_ms: int
    kind: str
    side: str  # "" when the event belongs to neither
    data: Mapping[str, Any]
    created_at: datetime


@dataclass
class FlushReport:
    """What a flush found out: leases that are gone, and what people asked for."""

    lost: set[int] = field(default_factory=set)
    cancelled: set[int] = field(default_factory=set)
    hung_up: dict[int, str] = field(default_factory=dict)  # trial id -> username


class _Row(NamedTuple):
    pk: int
    lease: UUID | None
    last_seq: int
    cancel_requested: bool
    hang_up_requested: bool
    hang_up_by: int | None


_CHUNK = 1000
_COLUMNS = ("pk", "lease", "last_seq", "cancel_requested", "hang_up_requested", "hang_up_by")


def flush(batches: Mapping["Claim", Sequence[NewEvent]]) -> FlushReport:
    """Append events of all the lane's trials in one transaction fenced by their leases; renew the heartbeats.

    Events that are stored already (a commit whose answer got lost) are passed over, so a flush can be repeated.
    """
    with transaction.atomic():
        rows = _read(batches, lock=True)
        held = {claim.trial_id: claim for claim in batches if _holds(rows.get(claim.trial_id), claim)}
        fresh = {pk: unstored(rows[pk].last_seq, batches[claim]) for pk, claim in held.items()}
        TrialEvent.objects.bulk_create(as_row(pk, event) for pk, events in fresh.items() for event in events)
        ends = [When(pk=pk, then=Value(events[-1].seq)) for pk, events in fresh.items() if events]
        changes: dict[str, Any] = (
            {"last_seq": Case(*ends, default=F("last_seq"), output_field=PositiveIntegerField())} if ends else {}
        )
        Trial.objects.filter(pk__in=held).update(heartbeat_at=timezone.now(), **changes)
    return _report(batches, rows)


def look(claims: Iterable["Claim"]) -> FlushReport:
    """Read what a flush would report, writing nothing: cheap enough for several times a second."""
    claims = list(claims)
    return _report(claims, _read(claims, lock=False))


def unstored(last_seq: int, events: Sequence[NewEvent]) -> Sequence[NewEvent]:
    """Return the events that follow ``last_seq``; RuntimeError when that would leave a hole."""
    fresh = [event for event in events if event.seq > last_seq]
    for expected, event in enumerate(fresh, start=last_seq + 1):
        if event.seq != expected:
            raise RuntimeError(f"event {event.seq} does not follow event {expected - 1}")
    return fresh


def as_row(trial_id: int, event: NewEvent) -> TrialEvent:
    """Return the row of a numbered event."""
    return TrialEvent(
        trial_id=trial_id,
        seq=event.seq,
        at_ms=event.at_ms,
        kind=event.kind,
        side=event.side,
        data=event.data,
        created_at=event.created_at,
    )


def note(trials: Iterable[Trial], event: Event) -> None:
    """Append the same event to trials whose rows the caller has locked."""
    rows = list(trials)
    for some in (rows[start : start + _CHUNK] for start in range(0, len(rows), _CHUNK)):
        at_ms = _last_at_ms([trial.pk for trial in some if trial.last_seq])
        now = timezone.now()
        TrialEvent.objects.bulk_create(
            as_row(
                trial.pk,
                NewEvent(trial.last_seq + 1, at_ms.get(trial.pk, 0), event.kind, "", event.data(), now),
            )
            for trial in some
        )
        Trial.objects.filter(pk__in=[trial.pk for trial in some]).update(last_seq=F("last_seq") + 1)


def _last_at_ms(trial_ids: Sequence[int]) -> dict[int, int]:
    last = TrialEvent.objects.filter(trial__in=trial_ids, seq=F("trial__last_seq"))
    return dict(last.values_list("trial_id", "at_ms"))


def _read(claims: Iterable["Claim"], *, lock: bool) -> dict[int, _Row]:
    query = Trial.objects.filter(pk__in=[claim.trial_id for claim in claims]).order_by("pk")
    if lock:
        query = query.select_for_update()
    return {row[0]: _Row(*row) for row in query.values_list(*_COLUMNS)}


def _holds(row: _Row | None, claim: "Claim") -> bool:
    return row is not None and row.lease == claim.lease


def _report(claims: Iterable["Claim"], rows: Mapping[int, _Row]) -> FlushReport:
    report = FlushReport()
    for claim in claims:
        row = rows.get(claim.trial_id)
        if row is None or not _holds(row, claim):
            report.lost.add(claim.trial_id)
        elif row.cancel_requested:
            report.cancelled.add(claim.trial_id)
        elif row.hang_up_requested:
            report.hung_up[claim.trial_id] = _username(row.hang_up_by)
    return report


def _username(person_id: int | None) -> str:
    return get_user_model().objects.get(pk=person_id).get_username() if person_id else ""
