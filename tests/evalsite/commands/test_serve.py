"""The one command: everything up, a call held through it, everything down."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from evalsite.management.commands import serve
from evalsite.rehearsals import rehearsal
from evalsite.supervisor import free_port
from scenarios.launch import launch
from scenarios.models import Trial
from tests.conftest import ROOT

pytestmark = pytest.mark.django_db(transaction=True)


class Site:
    """``manage.py serve`` as a process, and what it printed."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.port = free_port()
        command = [sys.executable, "manage.py", "serve", "--port", str(self.port), "--no-browser", "--width", "4"]
        ports = {name: f"{scheme}://127.0.0.1:{free_port()}{path}" for name, scheme, path in PORTS}
        self.process = subprocess.Popen(
            command, cwd=ROOT, env={**environment, **ports}, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        self.lines: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.lines += iter(self.process.stdout.readline, "")

    def await_line(self, text: str) -> str:
        self.wait_until(lambda: any(text in line for line in list(self.lines)))
        return next(line for line in self.lines if text in line)

    def wait_until(self, condition: Callable[[], bool], seconds: float = 300) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, self.lines
            time.sleep(0.1)


PORTS = (("PARTY_AGENT_URL", "ws", ""), ("PARTY_USER_URL", "ws", ""), ("STANDIN_URL", "http", "/v1"))


@pytest.fixture
def site(server_environment: dict[str, str]) -> Iterator[Site]:
    running = Site(server_environment)
    yield running
    if running.process.poll() is None:
        running.process.terminate()
        running.process.wait(timeout=180)


def descendants(pid: int) -> set[int]:
    """Return all living processes below ``pid``."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(path.parent.name)] = int(fields[1])
    found: set[int] = set()
    while more := {child for child, parent in parents.items() if parent in {pid, *found}} - found:
        found |= more
    return found


def alive(pids: set[int]) -> set[int]:
    return {pid for pid in pids if Path(f"/proc/{pid}").exists() and "Z" not in _state(pid)}


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def test_everything_starts_holds_calls_and_stops(site: Site) -> None:
    site.await_line(f"Callboard is at http://127.0.0.1:{site.port}/")
    link = site.await_line("Sign in once")
    path = re.search(r"http://\S+?(/sign-in/\S+)", link)
    assert path, link
    assert Client().get(path[1], follow=True).status_code == 200
    with urllib.request.urlopen(f"http://127.0.0.1:{site.port}/healthz/", timeout=120) as answer:
        assert answer.status == 200

    run = launch(rehearsal("frontdesk", "standin-faithful"), person=None)
    from bots.wake import wake_lanes

    wake_lanes()
    site.wait_until(lambda: not run.trials.exclude(status__in=Trial.ENDED).exists())
    assert set(run.trials.values_list("status", flat=True)) == {"done"}
    assert set(run.trials.values_list("attempts", flat=True)) == {1}

    family = descendants(site.process.pid)
    assert len(family) >= 6  # site, two parties, stand-ins, cluster and its workers, lifeline
    site.process.send_signal(signal.SIGINT)
    assert site.process.wait(timeout=180) == 0
    site.await_line("stopped")
    assert alive(family) == set()


def test_kill_9_leaves_nobody_and_the_site_port_free(site: Site) -> None:
    site.await_line("Callboard is at")
    family = descendants(site.process.pid)
    assert family
    os.kill(site.process.pid, signal.SIGKILL)
    site.process.wait()
    site.wait_until(lambda: not alive(family))


def test_a_taken_port_is_named() -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"port {port} is taken: stop what listens there, or choose another"):
            call_command("serve", port=port)


@pytest.mark.parametrize("size", [{"lanes": 0}, {"width": 0}])
def test_sizes_must_be_positive(size: dict[str, int]) -> None:
    with pytest.raises(CommandError, match="--lanes and --width must be at least 1"):
        call_command("serve", stdout=StringIO(), **size)


def test_the_first_start_makes_an_admin_once() -> None:
    link = serve.first_sign_in_link()
    assert Client().get(link, follow=True).status_code == 200
    assert User.objects.get().groups.get().name == "admin"
    assert serve.first_sign_in_link() == ""
