"""Waking workers: the only module of ``bots`` that the site imports. Work is named by dotted path and imported there.

The trial row is the queue; a task only says "have a look". One too many does no harm, and one that got lost is made
good within a minute by the schedule.
"""

import math
import os
import socket
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from django_q.models import Schedule
from django_q.tasks import async_task

from scenarios import lifecycle
from scenarios.models import Lane, Preflight, Profile

# A lane beats every two seconds.
LANE_FRESH_S = 15
_SCHEDULE = "wake lanes"


def wake_lanes() -> int:
    """Enqueue as many lanes as the waiting trials need and are not alive yet; return how many."""
    waiting = lifecycle.pending()
    needed: int = min(settings.LANES, math.ceil(waiting / settings.LANE_WIDTH)) - alive_lanes()
    for _ in range(needed):
        async_task("bots.tasks.run_lane", group="lanes")
    return max(needed, 0)


def alive_lanes() -> int:
    """Return how many lanes have given a sign of life."""
    return _alive().count()


def announce_lane(width: int) -> UUID | None:
    """Write the row of a lane that is about to start; None when there are enough, as one was woken once too often."""
    row = Lane.objects.create(
        key=uuid4(), host=socket.gethostname(), pid=os.getpid(), width=width, heartbeat_at=timezone.now()
    )
    if row.pk in _alive().order_by("pk").values_list("pk", flat=True)[: settings.LANES]:
        return row.key
    row.delete()
    return None


def schedule_wake() -> None:
    """Have lanes woken every minute, so that a worker's death costs no more; safe to repeat."""
    Schedule.objects.update_or_create(
        name=_SCHEDULE,
        defaults={"func": "bots.wake.wake_lanes", "schedule_type": Schedule.MINUTES, "minutes": 1, "repeats": -1},
    )


def preflight(profile_ids: Sequence[int]) -> list[Preflight]:
    """Ask a worker for one cheap request to each profile's endpoint; its answer appears in the rows returned."""
    rows = [Preflight.objects.create(profile=profile) for profile in Profile.objects.filter(pk__in=profile_ids)]
    async_task("bots.tasks.run_preflight", [row.pk for row in rows], group="preflight")
    return rows


def wake_import(file_id: int) -> None:
    """Have a worker read an uploaded file; its progress is in its ``ImportedFile`` row."""
    async_task("bots.tasks.run_import", file_id, group="imports")


def _alive() -> QuerySet[Lane]:
    fresh = timezone.now() - timedelta(seconds=LANE_FRESH_S)
    return Lane.objects.filter(ended_at=None, heartbeat_at__gte=fresh)
