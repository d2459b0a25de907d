"""Launching voice runs from the form and from the command line."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from django.core.management.base import CommandError
from django.test import Client

from evalsite import launching
from evalsite.management.commands import evaluate
from scenarios.launch import launch
from scenarios.models import Run
from tests.evalsite.commands.test_evaluate import no_worker, run_evaluate
from tests.evalsite.pages.test_run_launch import form, launcher

__all__ = ["launcher", "no_worker"]
pytestmark = pytest.mark.django_db

SPOKEN = {"channel": "voice", "clock": "realtime", "agent_speech": "local", "caller_speech": "tones"}


def test_clock_and_speech_are_frozen(launcher: Client) -> None:
    launcher.post("/runs/new", form(**SPOKEN))
    run = Run.objects.get()
    assert run.channel == "voice"
    assert run.config["clock"] == "realtime"
    assert run.config["voice"]["agent"]["service"] == "local"
    assert run.config["voice"]["caller"]["service"] == "tones"
    assert run.is_rehearsal


def test_a_text_run_has_no_voice_whatever_the_hidden_fields_say(launcher: Client) -> None:
    launcher.post("/runs/new", form(**{**SPOKEN, "channel": "text"}))
    assert Run.objects.get().config.keys().isdisjoint({"clock", "voice"})


def test_voice_calls_at_once_are_what_the_machine_bears_unless_the_run_says(launcher: Client, settings: Any) -> None:
    settings.VOICE_LOCKSTEP_CALLS, settings.VOICE_REALTIME_CALLS = 5, 2
    for clock, said, expected in (("lockstep", "", 5), ("realtime", "", 2), ("realtime", "7", 7)):
        launcher.post("/runs/new", form(**{**SPOKEN, "clock": clock, "concurrency": said, "launch_key": clock + said}))
        assert Run.objects.latest("pk").config["limits"]["concurrency"] == expected


@pytest.mark.parametrize(
    ("change", "is_said"),
    [({}, True), ({"agent_speech": "tones"}, False), ({"channel": "text"}, False)],
)
def test_speech_that_is_not_installed_is_said_before_the_launch(
    launcher: Client, monkeypatch: pytest.MonkeyPatch, change: dict[str, str], is_said: bool
) -> None:
    monkeypatch.setattr(launching, "missing_for_local_speech", lambda: ["faster_whisper", "piper"])
    summary = launcher.post("/runs/new/summary/", form(**{**SPOKEN, **change})).content.decode()
    assert ("Speech is not installed on this machine (faster_whisper, piper)" in summary) is is_said


def test_a_pace_is_refused_beside_its_field(launcher: Client) -> None:
    response = launcher.post("/runs/new", form(**SPOKEN, pace_s="2"))
    assert response.status_code == 422
    assert response.context["form"].errors["pace_s"] == [
        "Speech has its own pace; on the voice channel choose the clock realtime."
    ]


def test_a_voice_run_can_be_launched_again_alike(launcher: Client) -> None:
    launcher.post("/runs/new", form(**SPOKEN))
    initial = launcher.get(f"/runs/new?like={Run.objects.get().pk}").context["form"].initial
    assert {name: initial[name] for name in SPOKEN} == SPOKEN


def test_named_services_are_offered_and_a_broken_file_hides_only_them(
    launcher: Client, settings: Any, tmp_path: Path
) -> None:
    file = tmp_path / "speech.toml"
    settings.SPEECH_SERVICES = str(file)
    assert "bella" not in launcher.get("/runs/new").content.decode()
    file.write_text('[bella]\nservice = "hosted"\nbase_url = "https://x/v1"\nstt_model = "a"\ntts_model = "b"\n')
    launcher.post("/runs/new", form(**{**SPOKEN, "agent_speech": "bella"}))
    assert Run.objects.get().config["voice"]["agent"]["base_url"] == "https://x/v1"


def test_the_page_shows_how_it_was_spoken(launcher: Client) -> None:
    launcher.post("/runs/new", form(**SPOKEN))
    page = launcher.get(f"/runs/{Run.objects.get().pk}/").content.decode()
    assert "voice on the clock realtime" in page
    assert "0.8 s of silence end a turn; nobody interrupts" in page


def test_the_command_line_launches_the_same_run(launcher: Client) -> None:
    response = launcher.post("/runs/new/summary/", form(**SPOKEN))
    words = shlex.split(response.context["command"])
    options = vars(evaluate.Command().create_parser("manage.py", "evaluate").parse_args(words[2:]))
    typed = launch(evaluate.Command()._config(options), person=None)
    launcher.post("/runs/new", form(**SPOKEN))
    assert Run.objects.exclude(pk=typed.pk).get().config == typed.config


def test_the_command_line_speaks_locally_in_lockstep_by_itself(no_worker: None) -> None:
    run_evaluate(channel="voice", sample=1)
    config = Run.objects.get().config
    assert (config["clock"], config["voice"]["agent"]["service"]) == ("lockstep", "local")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"clock": "realtime"}, "--clock: only the voice channel has it; add --channel voice"),
        ({"caller_speech": "tones"}, "--caller-speech: only the voice channel has it"),
        ({"channel": "voice", "agent_speech": "bell"}, "no speech service is called 'bell'; there are local, tones"),
        ({"channel": "voice", "pace": 2.0}, "pace_s: speech has its own pace|speech has its own pace"),
    ],
)
def test_bad_input_is_named_with_the_remedy(no_worker: None, options: dict[str, Any], why: str) -> None:
    with pytest.raises(CommandError, match=why):
        run_evaluate(**options)
    assert Run.objects.count() == 0


def test_the_summary_counts_on_the_calls_that_the_machine_bears(launcher: Client, settings: Any) -> None:
    settings.VOICE_REALTIME_CALLS = 2
    response = launcher.post("/runs/new/summary/", form(**SPOKEN))
    assert response.context["prospect"].at_once == 2
