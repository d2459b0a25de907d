"""The bot of ``docs/external-agents.md`` that speaks, as a stranger would run it, heard by real recognition."""

from pathlib import Path
from typing import Any

from bots.party.speech.assets import piper_voice, whisper_folder
from scenarios.analysis.speech.wer import of_turn, pooled
from scenarios.sides import SIDES
from tests.bots.conftest import Stage
from tests.bots.endpoint import say
from tests.bots.test_external_example import running
from tests.bots.theirs_stage import hold_at, spec_of
from tests.bots.voice.sound import check_turns

SCENARIO = "frontdesk__breakfast"
VOICE: dict[str, Any] = {"channel": "voice", "clock": "lockstep"}


async def test_it_hears_speaks_and_passes(stage: Stage, tmp_path: Path, recordings: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("WHISPER_MODEL", str(whisper_folder()))
    monkeypatch.setenv("PIPER_VOICE", str(piper_voice()))
    stage.script([], [say("Hello, breakfast for my reservation, please."), say("Thank you, goodbye.")])
    profile = {"model": "", "tools_run": "theirs", "parameters": {"turn_settle_s": 0.5}}
    with running("bot_voice.py", tmp_path, beside=["bot_theirs.py"]) as (address, _):
        held = await hold_at(stage, spec_of("frontdesk", SCENARIO), {"agent": {"address": address, **profile}}, **VOICE)
    assert held.failure is None, held.failure
    assert held.end["reason"] == "end_tool"
    turns = held.record.of("turn.ended")
    assert [(turn["side"], turn["said"]) for turn in turns] == [
        ("agent", "Front desk, how can I help?"),
        ("user", "Hello, breakfast for my reservation, please."),
        ("agent", "Breakfast is added, 87 dollars."),
        ("user", "Thank you, goodbye."),
        ("agent", "Goodbye."),
    ]
    assert held.evidence is not None
    for side in SIDES:
        errors = pooled(of_turn(turn) for turn in held.evidence.turns if turn.side == side and turn.heard is not None)
        assert errors.words >= 8, f"{side}: {turns}"
        assert errors.errors / errors.words < 0.5, f"{side}: {turns}"
    assert held.scored().decision.outcome == "pass", held.scored().decision.reason
    check_turns(recordings / "1" / SCENARIO / "1" / "attempt1.wav", turns)
