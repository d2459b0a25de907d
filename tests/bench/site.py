"""The whole site as people start it: ``manage.py serve`` on free ports, and what its processes cost."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Port 0: `serve` takes free ones, so that a site that somebody runs here is left alone.
FREE_PORTS = {
    "PARTY_AGENT_URL": "ws://127.0.0.1:0",
    "PARTY_USER_URL": "ws://127.0.0.1:0",
    "STANDIN_URL": "http://127.0.0.1:0/v1",
}
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Site:
    """A running site; ``pid`` is the supervisor's."""

    address: str
    pid: int

    def cpu_seconds(self, *, leave_out: str = "") -> float:
        """Return the CPU time of all its processes, those whose command line holds ``leave_out`` left out."""
        return sum(_cpu(pid) for pid in _family(self.pid) if not leave_out or leave_out not in _command(pid))


@contextmanager
def serving() -> Iterator[Site]:
    """Start the site and wait for its first page; stop it at the end."""
    port = _free_port()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "serve", "--no-browser", "--port", str(port)],
        cwd=ROOT,
        env={**os.environ, **FREE_PORTS, "LOG_LEVEL": "ERROR"},
        stdout=subprocess.DEVNULL,
    )
    site = Site(f"http://127.0.0.1:{port}", process.pid)
    try:
        _wait(site, process)
        yield site
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=40)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(site: Site, process: subprocess.Popen[bytes], limit_s: float = 90) -> None:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"manage.py serve ended with {process.returncode}")
        try:
            with urllib.request.urlopen(f"{site.address}/healthz/", timeout=2) as response:
                if response.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"{site.address}/healthz/ did not answer in {limit_s:.0f} s")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _family(pid: int) -> list[int]:
    """Return a process and all its descendants."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    family = [pid]
    for member in family:
        family += parents.get(member, [])
    return family


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the state on; empty when the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _cpu(pid: int) -> float:
    """Return user and system time of a process and of its children that have ended, in seconds."""
    fields = _stat(pid)
    return sum(int(value) for value in fields[11:15]) / TICKS if fields else 0.0


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
