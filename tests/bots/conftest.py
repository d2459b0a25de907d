"""Real party servers as child processes, a scripted endpoint, and calls between them."""

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from bots.call import PartyFailed, Stop, hold_call
from scenarios.lifecycle import Claim
from scenarios.scoring.evidence import Evidence
from scenarios.sides import SIDES, Side
from tests.bots import toy
from tests.bots.endpoint import Endpoint, Step
from tests.bots.record import ListRecord

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass
class PartyServer:
    """A party server in a process of its own."""

    side: str
    process: "subprocess.Popen[str]"
    address: str

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def start_party(side: str, **environment: str) -> PartyServer:
    """Start a party server on a free port and return when it listens."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bots.party.server", "--side", side],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"ws://\S+", line)
    assert found, f"the party server printed {line!r}"
    return PartyServer(side, process, found[0])


@pytest.fixture(scope="session")
def parties() -> Iterator[dict[Side, PartyServer]]:
    """Return one party server a side, shared by all tests that do not harm them."""
    servers = {side: start_party(side, PARTY_TEST_KEY="sesame") for side in SIDES}
    yield servers
    for server in servers.values():
        server.process.terminate()
    for server in servers.values():
        server.process.wait(timeout=120)


@pytest.fixture(scope="session")
def base_url() -> Iterator[str]:
    """Start the stand-in endpoint on a free port; the first line it prints is its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bots.standins.server", "--port", "0"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.terminate()
    assert process.wait(timeout=120) is not None


@pytest_asyncio.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    """Return a scripted model endpoint in the test's own loop."""
    started = await Endpoint().start()
    yield started
    await started.stop()


@dataclass
class Held:
    """A call that was held: its record, and what came of it."""

    record: ListRecord
    evidence: Evidence | None = None
    failure: PartyFailed | None = None

    @property
    def end(self) -> dict[str, Any]:
        """Return the one event that ended the call."""
        (end,) = self.record.of("call.ended")
        return end


@dataclass
class Stage:
    """Holds calls between the party servers with scripted models."""

    endpoint: Endpoint
    addresses: dict[Side, str]
    set_address: Callable[[Side, str], None]
    agent: dict[str, Any] = field(default_factory=dict)
    caller: dict[str, Any] = field(default_factory=dict)

    def claim(self, **config: Any) -> Claim:
        """Return a claim on a trial of the toy scenario."""
        base = {"base_url": self.endpoint.base_url}
        whole = {
            "domain": toy.DOMAIN,
            "scenarios": [{"name": toy.SCENARIO, "fingerprint": "f"}],
            "trials": 1,
            "agent": {"slug": "agent", "kind": "agent", "model": "agent", **base, **self.agent},
            "caller": {"slug": "caller", "kind": "caller", "model": "caller", **base, **self.caller},
            "judge": None,
            **config,
        }
        return Claim(1, 1, toy.SCENARIO, 1, uuid4(), 1, 0, whole)

    def script(self, agent: list[Step], caller: list[Step]) -> None:
        self.endpoint.scripts |= {"agent": agent, "caller": caller}

    async def hold(self, stop: Stop | None = None, record: ListRecord | None = None, **config: Any) -> Held:
        """Hold one call; a failure of a party is returned, not raised."""
        held = Held(record or ListRecord())
        try:
            held.evidence = await hold_call(self.claim(**config), held.record, stop or Stop())
        except PartyFailed as failure:
            held.failure = failure
        return held


@pytest.fixture
def stage(parties: dict[Side, PartyServer], endpoint: Endpoint, settings: Any) -> Stage:
    """Return a stage on the shared party servers."""

    def set_address(side: Side, address: str) -> None:
        setattr(settings, "PARTY_AGENT_URL" if side == "agent" else "PARTY_USER_URL", address)

    for side, server in parties.items():
        set_address(side, server.address)
    return Stage(endpoint, {side: server.address for side, server in parties.items()}, set_address)
