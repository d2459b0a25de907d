import re
import subprocess
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client

from bots.standins.caller import part
from bots.standins.cue import cue
from bots.standins.hearing import ear
from evalsite.management.commands.demo import SPOKEN
from scenarios.domains import load
from scenarios.models import Run, Trial

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_speech(monkeypatch: pytest.MonkeyPatch) -> None:
    lacks_speech(monkeypatch, ["piper"])


def lacks_speech(monkeypatch: pytest.MonkeyPatch, missing: list[str]) -> None:
    monkeypatch.setattr("evalsite.management.commands.demo.missing_for_local_speech", lambda: missing)


def demo(**options: str) -> str:
    out = StringIO()
    call_command("demo", stdout=out, no_color=True, **options)
    return out.getvalue()


def link_in(said: str) -> str:
    found = re.search(r"http://site:81(/\S+)", said)
    assert found, said
    return found[1]


def test_two_rehearsals_and_a_link_that_signs_in() -> None:
    said = demo(domain="frontdesk", address="http://site:81/")

    agents = {run.config["agent"]["slug"] for run in Run.objects.all()}
    assert agents == {"standin-faithful", "standin-careless"}
    assert all(run.is_rehearsal for run in Run.objects.all())
    assert Trial.objects.count() == 2 * len(load()["frontdesk"].scenarios())
    client = Client()
    page = client.get(link_in(said), follow=True)
    assert page.status_code == 200


def test_a_second_time_launches_nothing_and_prints_a_fresh_link() -> None:
    first = demo(domain="frontdesk", address="http://site:81")
    trials = Trial.objects.count()

    second = demo(domain="frontdesk", address="http://site:81")

    assert Run.objects.count() == 2
    assert Trial.objects.count() == trials
    assert [line for line in first.splitlines() if line.startswith("run ")] == [
        line for line in second.splitlines() if line.startswith("run ")
    ]


def test_without_benchmark_files_it_says_so_and_uses_the_built_in_domain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(load()["tau2_retail"]), "missing_data", lambda self: "tau2_retail: db.json is absent")

    said = demo()

    assert "db.json is absent" in said
    assert "The sweeps are of frontdesk instead." in said
    assert set(Run.objects.values_list("domain", flat=True)) == {"frontdesk"}


@pytest.mark.usefixtures("benchmarks")
@pytest.mark.parametrize("domain", ["frontdesk", "tau2_retail"])
def test_with_speech_one_call_is_spoken_and_labelled(monkeypatch: pytest.MonkeyPatch, domain: str) -> None:
    lacks_speech(monkeypatch, [])

    said = demo(domain=domain)

    (run,) = Run.objects.filter(config__channel="voice")
    assert (run.trial_count, run.is_rehearsal, run.config["clock"]) == (1, True, "lockstep")
    assert run.config["voice"]["agent"]["service"] == run.config["voice"]["caller"]["service"] == "local"
    assert f"run {run.pk}: {SPOKEN[domain]} spoken: Piper and Whisper, faithful stand-in, 1 call\n" in said
    assert "VOICE=1" not in said
    demo(domain=domain)
    assert Run.objects.count() == 3


def test_without_speech_it_says_how_to_get_it() -> None:
    said = demo(domain="frontdesk")

    assert "No spoken call: piper not installed. With speech: make demo VOICE=1" in said
    assert not Run.objects.filter(config__channel="voice")


@pytest.mark.usefixtures("benchmarks")
def test_the_spoken_scenario_has_an_order_number_and_a_zip_code_to_be_heard() -> None:
    scene = cue(SPOKEN["tau2_retail"])
    assert ear(part(scene.spec.caller)).told == ("W9300146", "19031")


def test_a_makefile_that_is_asked_for_speech_installs_it() -> None:
    def plan(*variables: str) -> str:
        command = ["make", "--dry-run", "--always-make", "demo", *variables]
        return subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True).stdout

    assert "'.[voice]'" in plan("VOICE=1")
    assert "voice" not in plan()
