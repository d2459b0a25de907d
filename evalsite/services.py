"""The processes that hold calls: party servers, the stand-in endpoint, workers. Where each listens is decided here."""

import os
import signal
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings

from evalsite.supervisor import Service, free_port
from scenarios.models import Lane

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
LANE_STOP_S = 8.0


@dataclass(frozen=True)
class CallServices:
    """Services that calls need, and the variables that tell every process where they are."""

    services: list[Service]
    variables: Mapping[str, str]


def call_services() -> CallServices:
    """Return party servers and the stand-in endpoint, each on its port of the settings, or a free one if that is taken.

    One whose setting names another machine is somebody else's to run.
    """
    services: list[Service] = []
    variables: dict[str, str] = {}
    wanted = (
        ("PARTY_AGENT_URL", "agents' party server", ["-m", "bots.party.server", "--side", "agent"]),
        ("PARTY_USER_URL", "callers' party server", ["-m", "bots.party.server", "--side", "user"]),
        ("STANDIN_URL", "stand-in endpoint", ["-m", "bots.standins.server"]),
    )
    for name, title, command in wanted:
        url = urlsplit(getattr(settings, name))
        if url.hostname not in _LOOPBACK:
            continue
        port = free_port(url.port or 0)
        variables[name] = url._replace(netloc=f"127.0.0.1:{port}").geturl()
        services.append(Service(title, [sys.executable, *command, "--port", str(port)], port))
    return CallServices(services, variables)


def workers() -> Service:
    """Return the django-q2 cluster; its lanes give their trials back before it is stopped."""
    return Service("workers", [sys.executable, "manage.py", "qcluster"], prepare_stop=stop_lanes)


def lane() -> Service:
    """Return one lane without a cluster."""
    return Service("lane", [sys.executable, "-m", "bots.tasks"], may_end=True)


def stop_lanes(session: int) -> None:
    """Ask the lanes of a cluster to give their trials back, and wait for them: it would say nothing to them itself."""
    asked = {pid for pid in _lane_pids() if _session_of(pid) == session}
    for pid in asked:
        os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + LANE_STOP_S
    while asked.intersection(_lane_pids()) and time.monotonic() < deadline:
        time.sleep(0.1)


def _lane_pids() -> set[int]:
    return set(Lane.objects.filter(ended_at=None, host=socket.gethostname()).values_list("pid", flat=True))


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None
