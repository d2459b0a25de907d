"""Conditions of voice runs: seeds, words, what a persona's setting means for a call."""

from typing import Any

import pytest
from pydantic import ValidationError

from bots.bridge.acoustics import Acoustics
from bots.bridge.conditions import conditions_of
from bots.bridge.contract import PartyFailed
from bots.party.speech_behaviour import SpeechBehaviour
from scenarios.domains import load
from scenarios.voice import Speech, VoiceConfig
from scenarios.voice_conditions import (
    BEHAVIOURS,
    LINES,
    BehaviourChoice,
    Conditions,
    LineChoice,
    chosen,
    names_of,
)
from tests.bots import toy


def spec(domain: str, name: str) -> Any:
    return next(each for each in load()[domain].scenarios() if each.name == name)


def test_each_trial_and_direction_has_its_own_dice_and_the_same_whenever_it_is_held() -> None:
    seeds = {
        Conditions(seed=seed).seed_of(name, number, side)
        for seed in (1, 2)
        for name in ("a", "b")
        for number in (1, 2)
        for side in ("user", "agent")
    }
    assert len(seeds) == 16
    assert Conditions().seed_of("a", 1, "user") == Conditions().seed_of("a", 1, "user")


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_names_stand_for_conditions_and_conditions_for_names(line: str, behaviour: str) -> None:
    found = chosen(line, behaviour, 3)
    assert (found is None) == ((line, behaviour) == ("clean", "waits"))
    stored = found.model_dump(mode="json") if found else None
    assert names_of(stored) == (line, behaviour, 3 if found else 1)


def test_every_choice_can_be_made_to_sound() -> None:
    domain, scenario = load()[toy.DOMAIN], spec(toy.DOMAIN, toy.SCENARIO)
    for line in LINES.values():
        for behaviour in BEHAVIOURS.values():
            found = conditions_of(Conditions(line=line, behaviour=behaviour), domain, scenario, 1)
            assert found.acoustics == Acoustics(**line.model_dump())
            assert (found.behaviour is None) == behaviour.is_patient
            assert str(line) in str(found)


@pytest.mark.parametrize("bad", [{"snr_db": 90}, {"loss_rate": 0.9}, {"noise": "rain"}, {"loss_burst_ms": 1}])
def test_a_line_that_cannot_be_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        LineChoice(**bad)


def test_phrases_out_of_turn_need_a_voice_that_makes_them() -> None:
    service = Speech(service="pipecat", stt="pipecat.services.x.stt.X", tts="pipecat.services.x.tts.X")
    busy = Conditions(behaviour=BehaviourChoice(interruption_chance=0.1))
    with pytest.raises(ValidationError, match="choose one of them for the caller"):
        VoiceConfig(caller=service, conditions=busy)


def test_who_is_spoken_into_can_stop_and_knows_a_backchannel() -> None:
    config = VoiceConfig()
    assert config.of("agent", "realtime").interruptions is False
    told = config.of("agent", "realtime", is_spoken_into=True)
    assert told.interruptions is True
    assert "Mhm." in told.backchannels


@pytest.mark.usefixtures("benchmarks")
def test_a_personas_setting_is_the_scenarios_own() -> None:
    domain, scenario = load()["tau2_retail"], spec("tau2_retail", "tau2_retail__94")
    regular = conditions_of(Conditions(persona="regular"), domain, scenario, 1)
    assert (regular.acoustics.noise, regular.acoustics.telephone, regular.acoustics.loss_rate) == ("babble", True, 0.02)
    assert regular.behaviour is not None
    assert regular.behaviour.interruption_chance > 0
    assert "not simulated of it: vocal tics, the voice of arjun_roy" in str(regular)
    control = conditions_of(Conditions(persona="control"), domain, scenario, 1)
    assert (control.behaviour, control.acoustics.noise, control.acoustics.telephone) == (None, None, True)


def test_a_setting_that_is_gone_fails_the_call_with_its_name() -> None:
    with pytest.raises(PartyFailed, match="no persona setting 'regular'") as failed:
        conditions_of(Conditions(persona="regular"), load()[toy.DOMAIN], spec(toy.DOMAIN, toy.SCENARIO), 1)
    assert failed.value.retry is False


def test_defaults_of_both_halves_agree() -> None:
    assert SpeechBehaviour(**BehaviourChoice().model_dump()) == SpeechBehaviour()
    assert Acoustics(**LineChoice().model_dump()) == Acoustics()
