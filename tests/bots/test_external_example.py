"""The two bots in writing of ``docs/external-agents.md``, each run as a stranger would: a process of its own."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bots.bridge.theirs.rehearsal import rehearse
from tests.bots.conftest import ROOT, Stage
from tests.bots.endpoint import say
from tests.bots.theirs_stage import SETTLE, hold_at, spec_of

DOC = ROOT / "docs" / "external-agents.md"
CALLER = [say("I am Abara, 0142. Breakfast for LH101, please."), say("Thanks, bye.")]


def example(name: str) -> str:
    blocks = re.findall(r"```python\n(.*?)```", DOC.read_text(), re.DOTALL)
    (found,) = [block for block in blocks if block.startswith(f"# {name}")]
    return str(found)


@contextmanager
def running(name: str, folder: Path, beside: Sequence[str] = ()) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Start an example on a free port, with those that it needs beside it; yields its address and its process."""
    for each in (name, *beside):
        (folder / each).write_text(example(each))
    path = folder / name
    process = subprocess.Popen([sys.executable, str(path), "0"], stdout=subprocess.PIPE, text=True, cwd=folder)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"listening on (\d+)", line)
        assert found, f"{name} printed {line!r}"
        yield f"ws://127.0.0.1:{found[1]}", process
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("name", "profile"),
    [("bot_ours.py", {}), ("bot_theirs.py", {"tools_run": "theirs", "parameters": SETTLE})],
)
async def test_an_example_of_the_docs_passes_its_scenario(
    stage: Stage, tmp_path: Path, name: str, profile: dict[str, Any]
) -> None:
    stage.script([], CALLER)
    spec = spec_of("frontdesk", "frontdesk__breakfast")
    with running(name, tmp_path) as (address, _):
        held = await hold_at(stage, spec, {"agent": {"address": address, "model": "", **profile}})
    assert held.failure is None, held.failure
    assert held.record.said()[2] == ("agent", "Breakfast is added, 87 dollars.")
    assert held.end["reason"] == "end_tool"
    assert held.scored().decision.outcome == "pass", held.scored().decision.reason
    assert bool(held.record.of("state.pulled")) == (name == "bot_theirs.py")


async def test_the_example_stands_the_preflight(tmp_path: Path) -> None:
    with running("bot_theirs.py", tmp_path) as (address, _):
        assert await rehearse(address, "agent") == "all six control messages work"


async def test_a_bot_process_that_is_killed_ends_the_call_with_its_record(stage: Stage, tmp_path: Path) -> None:
    spec = spec_of("frontdesk", "frontdesk__breakfast")
    profile = {"model": "", "tools_run": "theirs", "parameters": SETTLE}
    stage.script([], [say("Late.", hang_s=5)])
    with running("bot_theirs.py", tmp_path) as (address, process):
        holding = asyncio.create_task(hold_at(stage, spec, {"agent": {"address": address, **profile}}))
        while not stage.endpoint.requests["caller"]:
            assert not holding.done()
            await asyncio.sleep(0.01)
        process.kill()
        held = await asyncio.wait_for(holding, 120)
    assert held.failure is not None
    assert (held.failure.kind, held.end["reason"]) == ("party_gone", "party_failed")
    assert held.record.said()[0] == ("agent", "Front desk, how can I help?")
    assert held.scored().decision.outcome == "infra_error"
