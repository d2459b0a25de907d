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

from scenarios import importing, lifecycle
from scenarios.judging.work import waiting_batches
from scenarios.models import ImportedFile, Lane, Preflight, Profile

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


def wake_all() -> None:
    """Wake whoever has something to do."""
    wake_lanes()
    wake_imports()
    wake_batches()
    lifecycle.finish_quarantines()


def schedule_wake() -> None:
    """Have everybody woken every minute, so that a worker's death costs no more; safe to repeat."""
    Schedule.objects.update_or_create(
        name=_SCHEDULE,
        defaults={"func": "bots.wake.wake_all", "schedule_type": Schedule.MINUTES, "minutes": 1, "repeats": -1},
    )


def preflight(profile_ids: Sequence[int]) -> list[Preflight]:
    """Ask a worker for one cheap request to each profile's endpoint; its answer appears in the rows returned."""
    rows = [Preflight.objects.create(profile=profile) for profile in Profile.objects.filter(pk__in=profile_ids)]
    async_task("bots.tasks.run_preflight", [row.pk for row in rows], group="preflight")
    return rows


def wake_imports() -> bool:
    """Have a worker read the uploads that wait; return whether one was needed. What died in the middle is taken out.

    Their progress is in their ``ImportedFile`` rows.
    """
    importing.clear_away()
    needed = not importing.is_reading() and ImportedFile.objects.filter(state=ImportedFile.State.WAITING).exists()
    if needed:
        async_task("bots.tasks.run_imports", group="imports")
    return needed


def wake_batch(batch_id: int) -> None:
    """Have a worker judge the calls of a batch again, or save its rulings; its row says how it goes."""
    async_task("bots.tasks.run_judge_batch", batch_id, group="judging")


def wake_batches() -> int:
    """Have workers take up the batches that no living worker is at; returns how many."""
    waiting = list(waiting_batches().values_list("pk", flat=True))
    for batch_id in waiting:
        wake_batch(batch_id)
    return len(waiting)


def wake_canaries(batch_id: int) -> None:
    """Have a worker ask about the canaries of a batch that have no ruling."""
    async_task("bots.tasks.ask_canaries", batch_id, group="judging")


def _alive() -> QuerySet[Lane]:
    fresh = timezone.now() - timedelta(seconds=LANE_FRESH_S)
    return Lane.objects.filter(ended_at=None, heartbeat_at__gte=fresh)
