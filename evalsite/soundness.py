"""Whether the parts of the installation are there: lanes, servers, keys, files, room on the disk."""

import os
import shutil
import socket
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.db import connection
from django.utils import timezone

from scenarios import domains
from scenarios.lifecycle import LEASE_S
from scenarios.models import Lane, Profile, Run, Trial, TrialEvent
from scenarios.voice_capacity import Capacity, Limit, limit, measured

CONNECT_S = 0.3


@dataclass(frozen=True)
class ProfileRow:
    """A profile and whether the variable of its key is set where the site runs; the key is never read."""

    profile: Profile

    @property
    def key_state(self) -> str:
        """Return "present", "absent" or "not needed"; a worker elsewhere may have other variables."""
        if not self.profile.key_env:
            return "not needed"
        return "present" if os.environ.get(self.profile.key_env) else "absent"


@dataclass(frozen=True)
class LaneRow:
    """A lane that has not ended, and whether its heartbeat is fresh."""

    lane: Lane
    now: datetime

    @property
    def is_alive(self) -> bool:
        """Return whether the lane gave a sign of life within the lease."""
        return self.now - self.lane.heartbeat_at < timedelta(seconds=LEASE_S)

    @property
    def silent_s(self) -> float:
        """Return the seconds since the last sign of life."""
        return (self.now - self.lane.heartbeat_at).total_seconds()


@dataclass(frozen=True)
class ServerRow:
    """A process beside the site, and whether something listens at its address."""

    title: str
    address: str
    listens: bool


@dataclass(frozen=True)
class System:
    """What the system page shows."""

    lanes: list[LaneRow]
    servers: list[ServerRow]
    database: str
    counts: list[tuple[str, int]]
    folder: str
    free_bytes: int
    # Domain title and, when it cannot be used, why and what to do.
    domains: list[tuple[str, str | None]]
    voice: list[Limit]
    voice_measured: Capacity | None


def look() -> System:
    """Gather it all; asks each server for a connection, so it takes up to a second."""
    now = timezone.now()
    folder = Path(settings.VAR_DIR)
    return System(
        lanes=[LaneRow(lane, now) for lane in Lane.objects.filter(ended_at=None)[:50]],
        servers=[
            ServerRow(title, address, _listens(address))
            for title, address in (
                ("Party server, agents", settings.PARTY_AGENT_URL),
                ("Party server, callers", settings.PARTY_USER_URL),
                ("Stand-in endpoint", settings.STANDIN_URL),
            )
        ],
        database=connection.vendor,
        counts=[
            (str(model._meta.verbose_name_plural), model._default_manager.count()) for model in (Run, Trial, TrialEvent)
        ],
        folder=str(folder),
        free_bytes=shutil.disk_usage(folder).free,
        domains=[
            *((domain.title, domain.missing_data()) for domain in domains.load().values()),
            *domains.broken().items(),
        ],
        voice=[limit("lockstep"), limit("realtime")],
        voice_measured=measured(),
    )


def _listens(address: str) -> bool:
    parts = urlsplit(address)
    port = parts.port or (443 if parts.scheme in ("https", "wss") else 80)
    try:
        with socket.create_connection((parts.hostname or "", port), timeout=CONNECT_S):
            return True
    except OSError:
        return False
