"""What a caller does while the agent speaks: repeatable, as often as chosen, never after it has cut in."""

import json
import math
from typing import Any

import pytest

from bots.party.speech_behaviour import ASIDES, CUT_INS, SpeechBehaviour, cut_in, sounds
from scenarios.domains.data import data_root
from scenarios.voice import BACKCHANNELS

LIVELY = SpeechBehaviour(interruption_chance=0.3, backchannel_chance=0.5, asides_per_minute=6)


def test_a_caller_of_the_default_waits_and_is_silent() -> None:
    polite = SpeechBehaviour()
    assert [cut_in(polite, 1, turn) for turn in range(50)] == [None] * 50
    assert [sounds(polite, 1, turn, 60.0) for turn in range(50)] == [[]] * 50


def test_the_same_seed_is_the_same_caller() -> None:
    first = [(cut_in(LIVELY, 9, turn), sounds(LIVELY, 9, turn, 20.0)) for turn in range(40)]
    assert first == [(cut_in(LIVELY, 9, turn), sounds(LIVELY, 9, turn, 20.0)) for turn in range(40)]
    assert first != [(cut_in(LIVELY, 8, turn), sounds(LIVELY, 8, turn, 20.0)) for turn in range(40)]


def test_interruptions_are_as_frequent_and_as_late_as_chosen() -> None:
    cuts = [cut for turn in range(4000) if (cut := cut_in(LIVELY, 3, turn)) is not None]
    assert len(cuts) / 4000 == pytest.approx(0.3, abs=0.03)
    assert all(1.5 <= cut.after_s <= 6.0 for cut in cuts)
    assert {cut.text for cut in cuts} == set(CUT_INS)
    certain = SpeechBehaviour(interruption_chance=1.0, interrupt_after_s=(2.0, 2.0))
    assert {cut.after_s for turn in range(20) if (cut := cut_in(certain, 1, turn))} == {2.0}


def test_asides_come_so_many_a_minute() -> None:
    behaviour = SpeechBehaviour(asides_per_minute=6)
    found = [sound for turn in range(600) for sound in sounds(behaviour, 1, turn, 60.0)]
    assert len(found) / 600 == pytest.approx(6.0, rel=0.05)
    assert {sound.text for sound in found} == set(ASIDES)
    assert {sound.kind for sound in found} == {"aside"}


def test_backchannels_come_after_some_words_and_now_and_then() -> None:
    behaviour = SpeechBehaviour(backchannel_chance=0.5, backchannel_every_s=4.0, backchannel_after_words=13)
    found = [sound for turn in range(400) for sound in sounds(behaviour, 1, turn, 40.0)]
    assert len(found) / 400 == pytest.approx(0.5 * 36 / 4, rel=0.15)
    assert min(sound.after_s for sound in found) >= 5.0
    assert {sound.text for sound in found} <= set(BACKCHANNELS)
    assert sounds(behaviour, 1, 1, 4.9) == []


def test_nothing_is_said_beside_after_the_caller_has_cut_in() -> None:
    cuts = 0
    for turn in range(300):
        cut, beside = cut_in(LIVELY, 5, turn), sounds(LIVELY, 5, turn, 30.0)
        assert [sound.after_s for sound in beside] == sorted(sound.after_s for sound in beside)
        if cut is not None:
            cuts += 1
            assert all(sound.after_s < cut.after_s for sound in beside)
    assert cuts > 50


def test_a_turn_that_goes_on_keeps_what_was_decided() -> None:
    for turn in range(100):
        whole = sounds(LIVELY, 2, turn, 30.0)
        for length in (0.0, 3.0, 11.0):
            assert sounds(LIVELY, 2, turn, length) == [sound for sound in whole if sound.after_s < length]


def test_one_kind_does_not_move_another() -> None:
    alone = SpeechBehaviour(backchannel_chance=0.5)
    both = SpeechBehaviour(backchannel_chance=0.5, asides_per_minute=6)
    for turn in range(50):
        together = [sound for sound in sounds(both, 2, turn, 20.0) if sound.kind == "backchannel"]
        assert together == sounds(alone, 2, turn, 20.0)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"interruption_chance": 1.5}, "interruption_chance is 1.5: choose 0 to 1"),
        ({"backchannel_chance": -0.1}, "backchannel_chance is -0.1"),
        ({"interrupt_after_s": (3.0, 1.0)}, "the earlier first"),
        ({"backchannel_every_s": 0.0}, "must be above 0"),
        ({"asides_per_minute": 1000.0}, "choose 0 to 30"),
    ],
)
def test_what_no_caller_can_do_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SpeechBehaviour(**fields)


@pytest.mark.parametrize("length", [-1.0, math.nan, math.inf])
def test_a_turn_without_a_length_is_refused(length: float) -> None:
    with pytest.raises(ValueError, match="the length must be 0 or more"):
        sounds(LIVELY, 1, 1, length)


def test_a_persona_setting_becomes_a_behaviour() -> None:
    config = {
        "enable_interruptions": True,
        "backchannel_min_threshold": 3,
        "persona_config": {"interrupt_tendency": "interrupts"},
        "speech_effects_config": {"enable_non_directed_phrases": True, "speech_insert_events_per_minute": 0.7},
    }
    found = SpeechBehaviour.from_voice_config(config)
    assert (found.interruption_chance, found.backchannel_chance, found.backchannel_after_words) == (0.25, 0.3, 3)
    assert found.asides_per_minute == 0.7
    assert SpeechBehaviour.from_voice_config({}) == SpeechBehaviour()
    waits = {**config, "persona_config": {"interrupt_tendency": "waits"}}
    assert SpeechBehaviour.from_voice_config(waits).interruption_chance == 0.0


def test_every_setting_of_the_benchmark_is_a_behaviour() -> None:
    path = data_root() / "tau2_retail" / "tasks_voice.json"
    if not path.exists():
        pytest.skip(f"no {path}: it is in no public wheel")
    for task in json.loads(path.read_text())["configs"].values():
        polite = SpeechBehaviour.from_voice_config(task["configs"]["control"])
        lively = SpeechBehaviour.from_voice_config(task["configs"]["regular"])
        assert polite == SpeechBehaviour()
        assert lively.interruption_chance > 0
