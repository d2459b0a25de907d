"""Child processes that belong together: started in order, waited for, watched, started again, stopped in reverse.

Each child leads a session of its own, so that Ctrl-C reaches only the supervisor, which stops them in order. A lifeline
(``evalsite.lifeline``) ends them if the supervisor is killed.
"""

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

START_S = 180.0  # a party loads its voice stack: on a busy machine that alone takes a minute
STOP_S = 15.0
BACKOFF_S = 1.0
MAX_BACKOFF_S = 30.0
STABLE_S = 60.0  # a child that lived this long starts its backoff anew
POLL_S = 0.1

Say = Callable[[str], object]
_reservations: list[TextIO] = []


class StartFailed(Exception):
    """A child ended or did not answer in time; the text names it and what to look at."""


@dataclass(frozen=True)
class Service:
    """What to run: its name for people, its command, and the port that answers when it is ready (None: at once)."""

    name: str
    command: Sequence[str]
    port: int | None = None
    host: str = "127.0.0.1"
    # Asked before SIGTERM, to finish what a plain stop would cut off.
    prepare_stop: Callable[[int], None] | None = None
    is_nice: bool = True
    # Ending by itself is no trouble; it is started again all the same.
    may_end: bool = False


@dataclass
class Child:
    """A running service and how often it had to be started."""

    service: Service
    process: "subprocess.Popen[bytes]"
    started_at: float = field(default_factory=time.monotonic)
    backoff_s: float = field(default_factory=lambda: BACKOFF_S)
    restart_at: float | None = None


class Supervisor:
    """Runs services with one environment. ``say`` is told what happens to them."""

    def __init__(self, environment: Mapping[str, str], cwd: Path, say: Say = print) -> None:
        self._environment = dict(environment)
        self._cwd = cwd
        self._say = say
        self._children: list[Child] = []
        self._lifeline = subprocess.Popen(  # noqa: S603  (our own interpreter and file)
            [sys.executable, str(Path(__file__).with_name("lifeline.py"))],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def start(self, services: Sequence[Service]) -> None:
        """Start services at once and wait until each answers. StartFailed when one does not; the others are stopped."""
        new = [Child(service, self._spawn(service)) for service in services]
        self._children += new
        try:
            deadline = time.monotonic() + START_S
            for child in new:
                self._await(child, deadline)
        except BaseException:
            self.stop()
            raise

    def watch(self) -> None:
        """Start again what has died, each with a growing pause. Call it every now and then."""
        now = time.monotonic()
        for child in self._children:
            if child.restart_at is None and child.process.poll() is not None:
                if now - child.started_at > STABLE_S:
                    child.backoff_s = BACKOFF_S
                child.restart_at = now + child.backoff_s
                if child.process.returncode or not child.service.may_end:
                    how = _how(child.process.returncode)
                    self._say(f"{child.service.name} ended ({how}); starting it again in {child.backoff_s:.0f} s")
                child.backoff_s = min(2 * child.backoff_s, MAX_BACKOFF_S)
                self._tell("-", child.process.pid)
            if child.restart_at is not None and now >= child.restart_at:
                _end_group(child.process.pid, signal.SIGKILL)  # what the dead one left behind
                child.process = self._spawn(child.service)
                child.started_at, child.restart_at = now, None

    def stop(self) -> None:
        """Stop all children, the last started first; kill those that do not stop. Safe to repeat."""
        for child in reversed(self._children):
            self._stop(child)
        self._children.clear()
        if self._lifeline.stdin and not self._lifeline.stdin.closed:
            self._lifeline.stdin.close()
        self._lifeline.wait()

    def _spawn(self, service: Service) -> "subprocess.Popen[bytes]":
        nice = ["nice", "-n", "5"] if service.is_nice and shutil.which("nice") else []
        process = subprocess.Popen(  # noqa: S603  (commands are ours)
            [*nice, *service.command],
            cwd=self._cwd,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._tell("+", process.pid)
        return process

    def _await(self, child: Child, deadline: float) -> None:
        port = child.service.port
        while child.process.poll() is None:
            if port is None or is_answering(port, child.service.host):
                return
            if time.monotonic() > deadline:
                raise StartFailed(f"{child.service.name} does not answer on port {port} after {START_S:.0f} s")
            time.sleep(POLL_S)
        raise StartFailed(f"{child.service.name} did not start ({_how(child.process.returncode)}): see the lines above")

    def _stop(self, child: Child) -> None:
        process = child.process
        if process.poll() is None:
            if child.service.prepare_stop:
                child.service.prepare_stop(process.pid)
            process.terminate()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self._say(f"{child.service.name} does not stop and is killed")
        _end_group(process.pid, signal.SIGKILL)
        process.wait()
        self._tell("-", process.pid)

    def _tell(self, sign: str, pid: int) -> None:
        if self._lifeline.stdin and self._lifeline.poll() is None:
            self._lifeline.stdin.write(f"{sign}{pid}\n".encode())
            self._lifeline.stdin.flush()


def is_answering(port: int, host: str = "127.0.0.1") -> bool:
    """Return whether something accepts connections there."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((host, port)) == 0


def free_port(wanted: int = 0) -> int:
    """Return ``wanted`` when nobody listens there or is about to, else a free port."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            if port == 0 or _reserve(port):
                return int(probe.getsockname()[1])
    raise OSError("no port is free")


def _reserve(port: int) -> bool:
    """Lock a port for the life of this process: two that start at once would both find it free."""
    path = Path(tempfile.gettempdir()) / f"callboard-port-{port}.lock"
    try:
        lock = path.open("a")
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return False
    _reservations.append(lock)
    return True


def _end_group(pid: int, name: signal.Signals) -> None:
    try:
        os.killpg(pid, name)
    except ProcessLookupError:
        return


def _how(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
