"""Where people see what this machine bears, and the command that measures it."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from scenarios.voice_capacity import save
from tests.evalsite.pages.test_run_launch import form, launcher
from tests.scenarios.test_voice_capacity import capacity, own_folder

__all__ = ["launcher", "own_folder"]
pytestmark = pytest.mark.django_db


def test_the_system_page_has_limits_and_what_was_seen(launcher: Client) -> None:
    page = launcher.get("/settings/system/").content.decode()
    assert "not on this machine yet: <code>manage.py voice_capacity</code>" in page
    save(capacity())
    page = launcher.get("/settings/system/").content.decode()
    assert "3 at once, measured with local speech" in page
    assert "5 of 1,000 audio ticks late" in page


def test_the_launch_card_says_what_the_machine_bears_for_voice_alone(launcher: Client) -> None:
    save(capacity())
    spoken = {"channel": "voice", "clock": "lockstep", "agent_speech": "tones", "caller_speech": "tones"}
    card = launcher.post("/runs/new/summary/", form(**spoken)).content.decode()
    assert "this machine bears 3 in lockstep, measured with local speech" in card
    assert "this machine bears" not in launcher.post("/runs/new/summary/", form()).content.decode()


@pytest.mark.parametrize("options", [{"most": 0}, {"seconds": 1}])
def test_a_measurement_of_nothing_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(CommandError, match="--most must be 1 or more, --seconds 5 or more"):
        call_command("voice_capacity", **options)
