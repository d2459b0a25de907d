"""The launch form: selection, freezing, reasons beside fields, one run for a double submit, the live summary."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evalsite.management.commands import evaluate
from scenarios import catalogue, domains
from scenarios.launch import launch
from scenarios.models import Run, Scenario, Trial
from scenarios.profiles import load_standins
from tests.factories import make_profile, make_run

pytestmark = pytest.mark.django_db
FRONTDESK = "frontdesk"


@pytest.fixture
def launcher(client: Client, operator: User) -> Iterator[Client]:
    catalogue.sync()
    load_standins()
    client.force_login(operator)
    with patch("evalsite.pages.launch.wake_lanes") as wake:
        client.wake = wake  # type: ignore[attr-defined]
        yield client


def form(**changes: Any) -> dict[str, Any]:
    typed = {
        "domain": FRONTDESK,
        "agent": "standin-faithful",
        "caller": "standin-caller",
        "judge": "standin-judge",
        "trials": "1",
        "channel": "text",
        "strictness": "reference",
        "max_turns": "100",
        "pace_s": "0",
        "seed": "1",
        "launch_key": "key-1",
    }
    return {key: value for key, value in {**typed, **changes}.items() if value is not None}


def names() -> list[str]:
    return [spec.name for spec in domains.load()[FRONTDESK].scenarios()]


def test_a_launch_makes_a_run_with_a_trial_for_each_scenario_and_wakes_lanes(launcher: Client, operator: User) -> None:
    response = launcher.post("/runs/new", form(trials="2", title="Nightly"))
    run = Run.objects.get()
    assert response["Location"] == f"/runs/{run.pk}/"
    assert run.trial_count == run.trials.count() == 2 * len(names())
    assert run.title == "Nightly"
    assert run.launched_by == operator
    assert run.is_rehearsal
    assert run.config["agent"]["slug"] == "standin-faithful"
    launcher.wake.assert_called_once()  # type: ignore[attr-defined]


def test_a_second_submit_finds_the_run_of_the_first(launcher: Client) -> None:
    first = launcher.post("/runs/new", form())
    second = launcher.post("/runs/new", form())
    assert first["Location"] == second["Location"]
    assert Run.objects.count() == 1


def test_every_opened_form_launches_its_own_run(launcher: Client) -> None:
    keys = {launcher.get("/runs/new").context["form"].initial["launch_key"] for _ in range(2)}
    assert len(keys) == 2


def test_the_selection_is_held(launcher: Client) -> None:
    launcher.post("/runs/new", form(ids=f"{names()[0]} {names()[2]}"))
    assert [ref["name"] for ref in Run.objects.get().config["scenarios"]] == [names()[0], names()[2]]


def test_limits_are_frozen(launcher: Client) -> None:
    launcher.post("/runs/new", form(max_turns="40", max_duration_s="60", concurrency="2", pace_s="1.5", max_cost="3"))
    config = Run.objects.get().config
    assert config["pace_s"] == 1.5
    limits = config["limits"]
    assert (limits["max_turns"], limits["max_duration_s"], limits["concurrency"]) == (40, 60, 2)
    assert limits["max_cost"] == 3


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        ({"domain": "nowhere"}, "domain", "nowhere is not one of the available choices"),
        ({"ids": "frontdesk__nothing"}, "ids", "has no scenario frontdesk__nothing"),
        ({"agent": "nobody"}, "agent", "not one of the available choices"),
        ({"agent": None}, "agent", "This field is required"),
        ({"trials": "0"}, "trials", "greater than or equal to 1"),
        ({"trials": "101"}, "trials", "less than or equal to 100"),
        ({"channel": "smoke"}, "channel", "smoke is not one of"),
        ({"max_turns": "ten"}, "max_turns", "Enter a whole number"),
        ({"pace_s": "61"}, "pace_s", "less than or equal to 60"),
        ({"failed_in": "12345"}, "failed_in", "There is no run 12345."),
        ({"q": "a word that nobody says"}, "q", "No scenario meets all of these criteria"),
        ({"launch_key": None}, "launch_key", "This field is required"),
        ({"concurrency": "0"}, "concurrency", "greater than or equal to 1"),
    ],
)
def test_bad_input_stays_in_the_form_with_the_reason(
    launcher: Client, change: dict[str, Any], field: str, said: str
) -> None:
    response = launcher.post("/runs/new", form(title="What I typed", **change))
    assert response.status_code == 422
    assert said in str(response.context["form"].errors[field])
    text = response.content.decode()
    assert 'value="What I typed"' in text
    if field != "launch_key":
        assert 'aria-invalid="true"' in text
    assert not Run.objects.exists()


def test_a_cap_on_money_is_refused_when_a_price_is_unknown(launcher: Client) -> None:
    make_profile("mini")
    response = launcher.post("/runs/new", form(agent="mini", max_cost="5"))
    assert "the price of mini is unknown" in str(response.context["form"].errors["max_cost"])


def test_archived_profiles_cannot_be_launched(launcher: Client) -> None:
    make_profile("old", is_archived=True)
    assert "agent" in launcher.post("/runs/new", form(agent="old")).context["form"].errors


def test_a_run_may_have_no_judge(launcher: Client) -> None:
    launcher.post("/runs/new", form(judge=""))
    assert Run.objects.get().config["judge"] is None


def test_a_viewer_may_not_launch(client: Client, viewer: User) -> None:
    client.force_login(viewer)
    assert client.get("/runs/new").status_code == 403
    assert client.post("/runs/new", form()).status_code == 403
    assert client.post("/runs/new/summary/", form()).status_code == 403
    assert not Run.objects.exists()


def test_a_form_of_another_site_is_refused(operator: User) -> None:
    outside = Client(enforce_csrf_checks=True)
    outside.force_login(operator)
    response = outside.post("/runs/new", form())
    assert response.status_code == 403
    assert "This form is out of date" in response.content.decode()


def test_the_address_fills_the_form_in(launcher: Client) -> None:
    text = launcher.get("/runs/new?trials=4&agent=standin-null&ids=frontdesk__x").content.decode()
    assert 'name="trials" value="4"' in text
    assert '<option value="standin-null" selected>' in text
    assert "frontdesk__x</textarea>" in text


def test_a_run_can_be_launched_again_alike(launcher: Client) -> None:
    launcher.post("/runs/new", form(trials="3", max_turns="50", ids=names()[1], judge=""))
    run = Run.objects.get()
    initial = launcher.get(f"/runs/new?like={run.pk}").context["form"].initial
    assert (initial["trials"], initial["max_turns"], initial["ids"]) == (3, 50, names()[1])
    assert initial["judge"] is None
    assert initial["launch_key"] != "key-1"
    assert launcher.get("/runs/new?like=99999").status_code == 404


def summary(launcher: Client, **changes: Any) -> str:
    response = launcher.post("/runs/new/summary/", form(**changes))
    assert response.status_code == 200
    return response.content.decode()


def test_the_summary_says_what_the_run_will_be(launcher: Client) -> None:
    text = summary(launcher, trials="4")
    assert f'<span class="figure">{4 * len(names())}</span>' in text
    assert f"{len(names())} scenarios × 4" in text
    assert "± " in text
    assert "this agent has held no call here" in text
    assert ">rehearsal</span>" in text
    assert not Run.objects.exists()


def test_the_summary_goes_by_earlier_calls_of_the_same_agent(launcher: Client) -> None:
    profile = make_profile("mini", prompt_price=1, completion_price=1)
    scenarios = list(Scenario.objects.filter(domain=FRONTDESK)[:2])
    make_run(scenarios, 1, ["pass"], domain=FRONTDESK, config={"agent": profile.frozen()})
    Trial.objects.update(duration_ms=60_000, cost=0.25)
    text = summary(launcher, agent="mini", ids=" ".join(names()[:4]), concurrency="1")
    assert "about 4m00s, 1 at once" in text
    assert "about $1.00" in text
    assert "from 1 run, 2 calls, of this agent under other settings" in text
    assert "Could show</dt><dd>unknown: no earlier run of this configuration" in text


def test_the_summary_names_what_is_wrong(launcher: Client) -> None:
    text = summary(launcher, ids="nothing_like_it", trials="0")
    assert "Not ready to launch" in text
    assert "<b>Trials:</b>" in text


def command(launcher: Client, **changes: Any) -> list[str]:
    response = launcher.post("/runs/new/summary/", form(**changes))
    return shlex.split(response.context["command"])


def test_the_command_line_launches_the_same_run(launcher: Client) -> None:
    chosen = {
        "sample": "3",
        "seed": "9",
        "pace_s": "0.5",
        "max_turns": "30",
        "max_cost": "2",
        "title": "It's 5 o'clock",
        "strictness": "upstream",
    }
    words = command(launcher, **chosen)
    options = vars(evaluate.Command().create_parser("manage.py", "evaluate").parse_args(words[2:]))
    typed = launch(evaluate.Command()._config(options), person=None, title=options["title"])
    launcher.post("/runs/new", form(**chosen))
    pressed = Run.objects.exclude(pk=typed.pk).get()
    assert (pressed.config, pressed.title) == (typed.config, typed.title)


def test_the_command_line_names_scenarios_that_were_chosen_by_more_than_a_sample(launcher: Client) -> None:
    words = command(launcher, ids=f"{names()[3]} {names()[1]}")
    assert words[words.index("--scenarios") + 1 : -1] == [names()[1], names()[3]]
    assert "--scenarios" not in command(launcher)


def test_strictness_is_frozen_and_asked_for_again(launcher: Client) -> None:
    launcher.post("/runs/new", form(strictness="upstream"))
    run = Run.objects.get()
    assert (run.config["strictness"], run.config["persona"]) == ("upstream", False)
    assert launcher.get(f"/runs/new?like={run.pk}").context["form"].initial["strictness"] == "upstream"
    response = launcher.post("/runs/new", form(strictness="lenient", launch_key="key-2"))
    assert response.status_code == 422
    assert "lenient is not one of the available choices" in response.content.decode()


def test_a_persona_is_offered_only_where_there_is_one(launcher: Client, benchmarks: Path) -> None:
    assert 'name="tell_persona"' not in launcher.get(f"/runs/new?domain={FRONTDESK}").content.decode()
    assert 'name="tell_persona"' in launcher.get("/runs/new?domain=tau2_telecom").content.decode()
    launcher.post("/runs/new", form(tell_persona="on"))
    launcher.post("/runs/new", form(tell_persona="on", domain="tau2_telecom", sample="2", launch_key="key-2"))
    assert [run.config["persona"] for run in Run.objects.order_by("pk")] == [False, True]
    telecom = Run.objects.get(domain="tau2_telecom")
    assert launcher.get(f"/runs/new?like={telecom.pk}").context["form"].initial["tell_persona"]
    assert "--persona" in command(launcher, tell_persona="on", domain="tau2_telecom", sample="2")
    assert "--persona" not in command(launcher, tell_persona="on")


def test_a_payload_that_is_too_large_is_refused_with_a_reason(launcher: Client) -> None:
    response = launcher.post("/runs/new", form(ids="x " * 2_000_000))
    assert response.status_code == 400
    assert "too large" in response.content.decode()
