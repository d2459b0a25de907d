"""Choosing what the agent hears the caller over, and how the caller behaves."""

import shlex
from typing import Any

import pytest
from django.core.management.base import CommandError
from django.test import Client

from evalsite.management.commands import evaluate
from scenarios.configurations import identity
from scenarios.launch import RunConfig, launch
from scenarios.models import Run
from tests.evalsite.commands.test_evaluate import no_worker, run_evaluate
from tests.evalsite.pages.test_run_launch import form, launcher

__all__ = ["launcher", "no_worker"]
pytestmark = pytest.mark.django_db

SPOKEN = {"channel": "voice", "clock": "realtime", "agent_speech": "local", "caller_speech": "local"}
CHOSEN = {**SPOKEN, "acoustics": "noisy", "behaviour": "interrupts", "voice_seed": 7}


def errors(response: Any) -> dict[str, list[str]]:
    assert response.status_code == 422
    found: dict[str, list[str]] = response.context["form"].errors
    return found


def test_what_is_chosen_is_frozen_shown_and_can_be_launched_again(launcher: Client) -> None:
    launcher.post("/runs/new", form(**CHOSEN))
    run = Run.objects.get()
    kept = run.config["voice"]["conditions"]
    assert (kept["line"]["noise"], kept["line"]["telephone"], kept["seed"]) == ("street", True, 7)
    assert kept["behaviour"]["interruption_chance"] == 0.25
    page = launcher.get(f"/runs/{run.pk}/").content.decode()
    assert "telephone band, street noise at 15 dB, 2.0% of packets lost, 60 ms at a time" in page
    assert "cuts into 25% of the agent&#x27;s turns" in page
    initial = launcher.get(f"/runs/new?like={run.pk}").context["form"].initial
    assert {name: initial[name] for name in CHOSEN} == CHOSEN


def test_a_clean_line_and_a_caller_that_waits_are_stored_as_before_there_was_a_choice(launcher: Client) -> None:
    launcher.post("/runs/new", form(**SPOKEN, acoustics="clean", behaviour="waits"))
    run = Run.objects.get()
    assert "conditions" not in run.config["voice"]
    assert RunConfig.model_validate(run.config).fingerprint == run.fingerprint
    assert "a clean line; the caller waits" in launcher.get(f"/runs/{run.pk}/").content.decode()


def test_runs_over_different_lines_are_of_different_configurations(launcher: Client) -> None:
    for name in ("clean", "telephone"):
        launcher.post("/runs/new", form(**SPOKEN, acoustics=name, launch_key=name))
    clean, telephone = (identity(run.config) for run in Run.objects.order_by("pk"))
    assert clean != telephone
    assert {key for key in clean | telephone if clean.get(key) != telephone.get(key)} >= {
        "voice.conditions.line.telephone"
    }


def test_a_caller_that_speaks_into_turns_is_refused_in_lockstep(launcher: Client) -> None:
    response = launcher.post("/runs/new", form(**{**CHOSEN, "clock": "lockstep"}))
    assert errors(response)["behaviour"] == [
        "In lockstep a turn is heard when it is over, so nobody can speak into it; choose the clock realtime, or a "
        "caller that waits."
    ]
    assert not Run.objects.exists()


def test_tones_are_refused_over_a_line_that_is_not_clean(launcher: Client) -> None:
    response = launcher.post("/runs/new", form(**{**CHOSEN, "agent_speech": "tones"}))
    assert "tones are no speech" in errors(response)["acoustics"][0].lower()


def test_the_built_in_domain_has_no_personas(launcher: Client) -> None:
    offered = launcher.get("/runs/new?domain=frontdesk").content.decode()
    assert "telephone: telephone band" in offered
    assert "persona:" not in offered


@pytest.mark.usefixtures("benchmarks")
def test_the_personas_of_a_domain_are_offered_and_their_callers_need_real_time(launcher: Client) -> None:
    assert 'value="persona:control_audio"' in launcher.get("/runs/new?domain=tau2_retail").content.decode()
    persona = {"domain": "tau2_retail", "ids": "tau2_retail__24", "acoustics": "persona:regular", "behaviour": "waits"}
    response = launcher.post("/runs/new", form(**{**SPOKEN, **persona, "clock": "lockstep"}))
    (why,) = errors(response)["acoustics"]
    assert "callers of persona setting 'regular' speak while the agent does" in why
    assert "control_audio" in why
    launcher.post("/runs/new", form(**{**SPOKEN, **persona}))
    quiet = {"clock": "lockstep", "acoustics": "persona:control_audio", "launch_key": "2"}
    launcher.post("/runs/new", form(**{**SPOKEN, **persona, **quiet}))
    kept = [run.config["voice"]["conditions"]["persona"] for run in Run.objects.order_by("pk")]
    assert kept == ["regular", "control_audio"]


def test_the_command_line_launches_the_same_run(launcher: Client) -> None:
    response = launcher.post("/runs/new/summary/", form(**CHOSEN))
    words = shlex.split(response.context["command"])
    options = vars(evaluate.Command().create_parser("manage.py", "evaluate").parse_args(words[2:]))
    typed = launch(evaluate.Command()._config(options), person=None)
    launcher.post("/runs/new", form(**CHOSEN))
    assert Run.objects.exclude(pk=typed.pk).get().config == typed.config


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"acoustics": "noisy"}, "--acoustics: only the voice channel has it"),
        ({"channel": "voice", "acoustics": "cave"}, "there is no 'cave'; there are clean, telephone, noisy, persona:"),
        ({"channel": "voice", "behaviour": "interrupts"}, "in lockstep a turn is heard when it is over"),
        ({"channel": "voice", "acoustics": "persona:regular"}, "has no persona setting 'regular'; there are none"),
        (
            {"channel": "voice", "clock": "realtime", "acoustics": "persona:x", "behaviour": "interrupts"},
            "a persona's setting says how its caller behaves",
        ),
    ],
)
def test_bad_input_is_named_with_the_remedy(no_worker: None, options: dict[str, Any], why: str) -> None:
    with pytest.raises(CommandError, match=why):
        run_evaluate(**options)
    assert Run.objects.count() == 0
