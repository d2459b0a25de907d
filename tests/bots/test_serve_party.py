"""``manage.py serve_party``: a party served as a stranger would, with a model of its own."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.bots.conftest import ROOT, Stage
from tests.bots.endpoint import Ask, say
from tests.bots.theirs_stage import hold_at, spec_of


def command(*arguments: str) -> list[str]:
    return [sys.executable, "manage.py", "serve_party", *arguments]


@contextmanager
def served(*arguments: str) -> Iterator[str]:
    environment = {**os.environ, "STRANGERS_KEY": "open sesame"}
    process = subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment)
    try:
        assert process.stdout is not None
        found = re.search(r"ws://\S+", process.stdout.readline())
        assert found
        yield found[0]
    finally:
        process.terminate()
        process.wait(timeout=120)


async def test_a_strangers_agent_is_evaluated_with_its_own_model(stage: Stage) -> None:
    stage.script([], [say("Breakfast for LH101, please. I am Abara, 0142."), say("Thanks, bye.")])
    add = say("Done.", Ask("find_guest", {"last_name": "Abara", "phone_last_four": "0142"}))
    stage.endpoint.scripts["strangers"] = [
        say("Front desk."),
        add,
        say("", Ask("add_breakfast", {"reservation_id": "LH101"})),
        say("Breakfast is added."),
        say("Goodbye.", Ask("end_conversation")),
    ]
    model = ("--model", "strangers", "--base-url", stage.endpoint.base_url, "--key-env", "STRANGERS_KEY")
    with served("--side", "agent", *model) as address:
        spec = spec_of("frontdesk", "frontdesk__breakfast")
        held = await hold_at(stage, spec, {"agent": {"address": address, "model": ""}})
    assert held.failure is None, held.failure
    assert held.scored().decision.outcome == "pass", held.scored().decision.reason
    assert stage.endpoint.keys["strangers"] == "Bearer open sesame"
    assert held.record.of("party.prepared", "agent")[0]["tools_run"] == "ours"


def test_what_cannot_be_served_is_said_at_once() -> None:
    bad = ("--side", "agent", "--model", "m", "--base-url", "api.example.org")
    done = subprocess.run(command(*bad), capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2
    assert "--base-url: String should match pattern" in done.stderr
    unset = ("--side", "user", "--model", "m", "--base-url", "http://127.0.0.1:1/v1", "--key-env", "NOT_SET_ANYWHERE")
    done = subprocess.run(command(*unset), capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2
    assert "NOT_SET_ANYWHERE is not set" in done.stderr
