"""Children: started, waited for, started again, stopped, and never left behind."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evalsite import supervisor as module
from evalsite.supervisor import Service, StartFailed, Supervisor, free_port, is_answering
from tests.conftest import ROOT

CHILD = str(Path(__file__).with_name("child.py"))


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def supervisor(said: list[str]) -> Iterator[Supervisor]:
    made = Supervisor(os.environ, ROOT, said.append)
    yield made
    made.stop()


def service(path: Path, *options: str, port: int | None = None, name: str = "child") -> Service:
    ports = [str(port)] if port else []
    return Service(name, [sys.executable, CHILD, str(path), *ports, *options], port)


def pids(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_start_waits_for_the_port_and_stop_ends_it(supervisor: Supervisor, tmp_path: Path) -> None:
    port = free_port()
    supervisor.start([service(tmp_path / "a", port=port)])
    assert is_answering(port)
    (pid,) = pids(tmp_path / "a")
    assert os.getsid(pid) != os.getsid(0)
    supervisor.stop()
    assert not is_alive(pid)
    assert not is_answering(port)


def test_a_child_that_cannot_start_is_named_and_the_others_are_stopped(supervisor: Supervisor, tmp_path: Path) -> None:
    fine = service(tmp_path / "a", port=free_port())
    with pytest.raises(StartFailed, match=r"party server did not start \(exit code 3\): see the lines above"):
        supervisor.start([fine, service(tmp_path / "b", "--fail", port=free_port(), name="party server")])
    wait_until(lambda: not any(map(is_alive, pids(tmp_path / "a"))))


def test_a_child_that_never_answers_is_named(
    supervisor: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "START_S", 0.5)
    silent = Service("site", [sys.executable, CHILD, str(tmp_path / "a")], free_port())
    with pytest.raises(StartFailed, match="site does not answer on port"):
        supervisor.start([silent])
    assert not any(map(is_alive, pids(tmp_path / "a")))


def test_what_dies_is_started_again_with_a_growing_pause(
    supervisor: Supervisor, tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BACKOFF_S", 0.05)
    path = tmp_path / "a"
    supervisor.start([service(path)])
    for deaths in (1, 2, 3):
        wait_until(lambda: len(pids(path)) == deaths)  # noqa: B023  (called at once)
        os.kill(pids(path)[-1], signal.SIGKILL)
        wait_until(lambda: supervisor.watch() or len(pids(path)) > deaths)  # type: ignore[func-returns-value]  # noqa: B023
    pauses = [child.backoff_s for child in supervisor._children]
    assert pauses == [pytest.approx(0.05 * 2**3)]
    assert said[0].startswith("child ended (signal SIGKILL); starting it again in")


def test_one_that_may_end_ends_in_silence(supervisor: Supervisor, said: list[str]) -> None:
    supervisor.start([Service("lane", [sys.executable, "-c", ""], may_end=True)])
    wait_until(lambda: supervisor.watch() or any(child.restart_at for child in supervisor._children))  # type: ignore[func-returns-value]
    assert said == []


def test_grandchildren_are_ended_too(supervisor: Supervisor, tmp_path: Path) -> None:
    path = tmp_path / "a"
    supervisor.start([service(path, "--fork")])
    wait_until(lambda: bool(pids(path)) and bool(pids(tmp_path / "a.child")))
    supervisor.stop()
    wait_until(lambda: not any(map(is_alive, [*pids(path), *pids(tmp_path / "a.child")])))


def test_a_child_that_will_not_stop_is_killed(
    supervisor: Supervisor, tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STOP_S", 0.3)
    path = tmp_path / "a"
    supervisor.start([service(path, "--deaf")])
    wait_until(lambda: bool(pids(path)))
    supervisor.stop()
    assert not is_alive(pids(path)[0])
    assert said == ["child does not stop and is killed"]


def test_children_stop_in_reverse_and_may_prepare(supervisor: Supervisor, tmp_path: Path) -> None:
    order: list[str] = []

    def one(name: str) -> Service:
        command = [sys.executable, CHILD, str(tmp_path / name)]
        return Service(name, command, prepare_stop=lambda pid: order.append(name))

    supervisor.start([one("site"), one("parties"), one("workers")])
    supervisor.stop()
    assert order == ["workers", "parties", "site"]


def test_kill_9_of_the_supervisor_leaves_nobody(tmp_path: Path) -> None:
    path = tmp_path / "a"
    code = (
        "import os, sys, time; from pathlib import Path; from evalsite.supervisor import Service, Supervisor; "
        f"s = Supervisor(os.environ, Path({str(ROOT)!r})); "
        f"s.start([Service('c', [sys.executable, {CHILD!r}, {str(path)!r}, '--fork'])]); time.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    wait_until(lambda: bool(pids(path)) and bool(pids(tmp_path / "a.child")))
    process.kill()
    process.wait()
    wait_until(lambda: not any(map(is_alive, [*pids(path), *pids(tmp_path / "a.child")])))


def test_free_port_keeps_what_is_wanted_unless_it_is_taken() -> None:
    wanted = free_port()
    assert free_port(wanted) == wanted
    with socket.create_server(("127.0.0.1", wanted)):
        assert free_port(wanted) != wanted


def test_a_port_is_given_out_once_though_nobody_listens_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_reservations", [])
    wanted = free_port()
    other = [sys.executable, "-c", f"from evalsite.supervisor import free_port; print(free_port({wanted}))"]
    assert free_port(wanted) == wanted
    assert int(subprocess.check_output(other)) != wanted
    module._reservations.pop().close()
    assert int(subprocess.check_output(other)) == wanted
