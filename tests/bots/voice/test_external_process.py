"""A stranger's voice bot: a process of its own, started by hand, evaluated in real time and killed in mid-call."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.bots.conftest import ROOT, Stage
from tests.bots.endpoint import Ask, say
from tests.bots.theirs_stage import Result, hold_at, spec_of
from tests.bots.voice.sound import LOUD, channels, check_turns, sounding_ms, squeezed

pytestmark = pytest.mark.realtime

SCENARIO = "frontdesk__breakfast"
TONES = {"service": "tones"}
VOICE: dict[str, Any] = {"channel": "voice", "clock": "realtime", "voice": {"agent": TONES, "caller": TONES}}


@contextmanager
def stranger(base_url: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Serve an agent with a model of its own; yields its address and its process."""
    command = [sys.executable, "manage.py", "serve_party", "--side", "agent"]
    command += ["--model", "strangers", "--base-url", base_url]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=dict(os.environ))
    try:
        assert process.stdout is not None
        found = re.search(r"ws://\S+", process.stdout.readline())
        assert found
        yield found[0], process
    finally:
        process.kill()
        process.wait()


def recording(recordings: Path) -> Path:
    return recordings / "1" / SCENARIO / "1" / "attempt1.wav"


async def hold(stage: Stage, address: str) -> Result:
    spec = spec_of("frontdesk", SCENARIO)
    return await hold_at(stage, spec, {"agent": {"address": address, "model": ""}}, **VOICE)


async def test_it_is_evaluated(stage: Stage, recordings: Path) -> None:
    stage.script([], [say("Breakfast, please."), say("Thanks, bye.")])
    stage.endpoint.scripts["strangers"] = [
        say("Front desk."),
        say("Done.", Ask("find_guest", {"last_name": "Abara", "phone_last_four": "0142"})),
        say("", Ask("add_breakfast", {"reservation_id": "LH101"})),
        say("It is added."),
        say("Goodbye.", Ask("end_conversation")),
    ]
    with stranger(stage.endpoint.base_url) as (address, _):
        held = await hold(stage, address)
    assert held.failure is None, held.failure
    assert held.end["reason"] == "end_tool"
    assert held.scored().decision.outcome == "pass", held.scored().decision.reason
    turns = held.record.of("turn.ended")
    heard = [squeezed(turn["heard"]) for turn in turns if turn["side"] == "user"]
    assert heard == ["Breakfast,please.", "Thanks,bye."]
    assert held.record.of("party.prepared", "agent")[0]["tools_run"] == "ours"
    assert held.record.of("latency.measured", "agent")
    check_turns(recording(recordings), turns)


async def test_killed_in_the_middle_of_a_word_it_is_an_infra_error_and_all_until_then_is_kept(
    stage: Stage, recordings: Path
) -> None:
    stage.script([], [say("Breakfast, please.")])
    endless = "Let me tell you about our breakfast. " * 20
    stage.endpoint.scripts["strangers"] = [say("Front desk."), say(endless)]
    with stranger(stage.endpoint.base_url) as (address, process):
        holding = asyncio.create_task(hold(stage, address))
        path = recording(recordings)
        while not await asyncio.to_thread(_speaks_again, path):
            assert not holding.done(), holding
            await asyncio.sleep(0.1)
        process.send_signal(signal.SIGKILL)
        held = await asyncio.wait_for(holding, 120)
    assert held.failure is not None, held.record.said()
    assert (held.failure.kind, held.failure.side) == ("party_gone", "agent")
    assert held.end["reason"] == "party_failed"
    assert held.scored().decision.outcome == "infra_error"
    seqs = [event.seq for event in held.record.stored]
    assert seqs == list(range(1, len(seqs) + 1))
    greeting, asked, *_ = held.record.of("turn.ended")
    assert (greeting["said"], asked["said"]) == ("Front desk.", "Breakfast, please.")
    assert squeezed(asked["heard"]) == "Breakfast,please."
    # What was heard of the broken turn is in the file to its end, and no more.
    left, right = channels(path)
    assert len(left) == len(right)
    assert abs(len(left) / 16 - held.end["duration_ms"]) <= 40
    begins, _ = sounding_ms(right, asked["ended_ms"], len(right) // 16)
    assert begins < len(right) / 16 - 100
    assert path.with_name("attempt1.peaks.json").is_file()


def _speaks_again(path: Path) -> bool:
    """Return whether the agent's second turn is half a second into the recording, which can be read at any time."""
    if not path.is_file() or path.stat().st_size <= 44:
        return False
    left, right = (np.flatnonzero(np.abs(channel.astype(int)) > LOUD) for channel in channels(path))
    return bool(len(left) and np.count_nonzero(right > left[-1]) > 2000)
