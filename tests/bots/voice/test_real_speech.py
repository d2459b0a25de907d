"""One call, and two lines of another, with real synthesis and real recognition."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bots.call import Stop, hold_call
from bots.party.speech.piper import Piper
from bots.party.speech.whisper import Whisper
from bots.scorer import score
from bots.standins.aloud import aloud
from bots.standins.caller import part
from bots.standins.cue import cue
from bots.standins.hearing import ear
from evalsite.management.commands.demo import SPOKEN
from scenarios.analysis.speech.wer import of_turn, pooled
from scenarios.launch import RunConfig
from scenarios.sides import SIDES
from scenarios.voice import DEFAULT_VOICES
from tests.bots.conftest import Stage
from tests.bots.record import ListRecord
from tests.bots.voice.sound import channels, check_turns

SCENARIO = "frontdesk__breakfast"


def standin(kind: str, model: str, base_url: str) -> dict[str, Any]:
    return {"slug": kind, "kind": kind, "model": f"{model}:{{scenario}}", "base_url": base_url, "is_standin": True}


async def test_a_rehearsal_of_the_built_in_domain_is_spoken_understood_and_passes(
    stage: Stage, base_url: str, recordings: Path
) -> None:
    claim = stage.claim(
        domain="frontdesk",
        scenarios=[{"name": SCENARIO, "fingerprint": "f"}],
        agent=standin("agent", "standin-faithful", base_url),
        caller=standin("caller", "standin-caller", base_url),
        channel="voice",
    )
    claim = replace(claim, scenario=SCENARIO, config=RunConfig.model_validate(claim.config).stored())
    record = ListRecord()
    evidence = await hold_call(claim, record, Stop())

    assert (await score(claim, evidence)).decision.outcome == "pass"
    turns = record.of("turn.ended")
    assert len(turns) > 10
    for turn in turns[:-1]:
        assert turn["heard"], f"nothing was heard of {turn['said']!r}"
    for side in SIDES:
        errors = pooled(of_turn(turn) for turn in evidence.turns if turn.side == side)
        assert errors.words > 20
        assert errors.errors / errors.words < 0.15, f"{side}: {errors}"

    path = recordings / "1" / SCENARIO / "1" / "attempt1.wav"
    left, _ = channels(path)
    (end,) = record.of("call.ended")
    assert abs(len(left) / 16 - end["duration_ms"]) <= 1
    assert 30_000 < end["duration_ms"] < 120_000
    check_turns(path, turns)


@pytest.mark.usefixtures("benchmarks")
async def test_the_order_number_of_the_demos_spoken_call_is_heard_whole() -> None:
    lines = part(cue(SPOKEN["tau2_retail"]).spec.caller)
    listening = ear(lines)
    heard = []
    for line in (lines.opening, lines.identity):
        speech = b"".join([piece async for piece in Piper(DEFAULT_VOICES["user"]).speak(aloud(line))])
        heard.append(await Whisper().transcribe(speech))
    assert listening.heard(heard) == {"W9300146": "W9300146", "19031": "19031"}, heard
