"""Profiles and the state of the installation: keys by name only, runs untouched, plain words for what is missing."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from scenarios.models import Lane, Profile
from scenarios.profiles import load_standins
from tests.factories import make_profile, make_run

pytestmark = pytest.mark.django_db
SECRET = "sk-" + "abcdefghij" * 3


@pytest.fixture
def keeper(client: Client, admin: User) -> Client:
    client.force_login(admin)
    return client


def typed(**changes: Any) -> dict[str, Any]:
    good = {
        "slug": "mini",
        "model": "gpt-mini",
        "base_url": "https://api.example.org/v1",
        "key_env": "EXAMPLE_KEY",
        "parameters": '{"temperature": 0}',
        "tools_run": "ours",
    }
    return {**good, **changes}


def test_profiles_are_listed_with_whether_their_key_is_there(
    client: Client, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERE_KEY", SECRET)
    monkeypatch.delenv("GONE_KEY", raising=False)
    make_profile("one", key_env="HERE_KEY")
    make_profile("two", "judge", key_env="GONE_KEY")
    client.force_login(viewer)
    text = client.get("/settings/").content.decode()
    assert "HERE_KEY" in text
    assert ">present<" in text
    assert "</span>absent" in text
    assert SECRET not in text
    assert "/settings/profiles/new/" not in text


def test_unknown_prices_are_unknown_and_not_zero(keeper: Client) -> None:
    make_profile("unpriced")
    make_profile("priced", prompt_price=0.15, completion_price=0.6)
    text = keeper.get("/settings/").content.decode()
    assert ">unknown<" in text
    assert "$0.15 in · $0.60 out" in text


def test_a_profile_is_made(keeper: Client) -> None:
    response = keeper.post("/settings/profiles/new/agent/", typed(prompt_price="0.5", completion_price="1.5"))
    assert response["Location"] == "/settings/"
    profile = Profile.objects.get()
    assert (profile.kind, profile.slug, profile.parameters) == ("agent", "mini", {"temperature": 0})
    assert (profile.prompt_price, profile.completion_price) == (0.5, 1.5)


def test_an_external_bot_is_made(keeper: Client) -> None:
    data = typed(model="", base_url="", key_env="", address="wss://bots.example.org/lobby", tools_run="theirs")
    keeper.post("/settings/profiles/new/agent/", data)
    assert Profile.objects.get().address == "wss://bots.example.org/lobby"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"slug": "no blanks"}, "slug"),
        ({"slug": ""}, "slug"),
        ({"base_url": "ftp://x"}, "base_url"),
        ({"base_url": "https://me:secret@api.example.org"}, "base_url"),
        ({"base_url": ""}, "base_url"),
        ({"model": ""}, "model"),
        ({"key_env": SECRET}, "key_env"),
        ({"parameters": "[1]"}, "parameters"),
        ({"parameters": "{broken"}, "parameters"),
        ({"parameters": '{"api_key": "x"}'}, "parameters"),
        ({"address": "wss://x.example"}, "address"),
        ({"prompt_price": "-1", "completion_price": "1"}, "prompt_price"),
        ({"prompt_price": "1"}, "completion_price"),
    ],
)
def test_bad_profiles_stay_in_the_form_with_the_reason(keeper: Client, change: dict[str, str], field: str) -> None:
    response = keeper.post("/settings/profiles/new/agent/", typed(title="What I typed", **change))
    assert response.status_code == 422
    assert field in response.context["form"].errors
    assert 'value="What I typed"' in response.content.decode()
    assert not Profile.objects.exists()


def test_two_agents_cannot_share_a_name_but_an_agent_and_a_judge_can(keeper: Client) -> None:
    make_profile("mini", "agent")
    assert keeper.post("/settings/profiles/new/agent/", typed()).status_code == 422
    assert keeper.post("/settings/profiles/new/judge/", typed()).status_code == 302


def test_editing_leaves_runs_as_they_were(keeper: Client) -> None:
    profile = make_profile("mini")
    run = make_run(1, config={"agent": profile.frozen()})
    text = keeper.get(f"/settings/profiles/{profile.pk}/").content.decode()
    assert "1 run used it" in text
    keeper.post(f"/settings/profiles/{profile.pk}/", typed(model="another"))
    profile.refresh_from_db()
    run.refresh_from_db()
    assert profile.model == "another"
    assert run.config["agent"]["model"] == "small-model"


def test_archiving_takes_it_out_of_sight_and_back(keeper: Client) -> None:
    profile = make_profile("mini")
    keeper.post(f"/settings/profiles/{profile.pk}/archive/")
    assert ">mini</a>" not in keeper.get("/settings/").content.decode()
    assert ">mini</a>" in keeper.get("/settings/?archived").content.decode()
    keeper.post(f"/settings/profiles/{profile.pk}/archive/")
    assert ">mini</a>" in keeper.get("/settings/").content.decode()


def test_stand_ins_are_labelled_and_cannot_be_edited(keeper: Client) -> None:
    load_standins()
    standin = Profile.objects.filter(is_standin=True)[0]
    assert 'class="rehearsal">stand-in' in keeper.get("/settings/").content.decode()
    assert keeper.get(f"/settings/profiles/{standin.pk}/").status_code == 404
    assert keeper.post(f"/settings/profiles/{standin.pk}/", typed()).status_code == 404


def test_a_kind_that_there_is_not(keeper: Client) -> None:
    response = keeper.get("/settings/profiles/new/oracle/")
    assert response.status_code == 404
    assert "agents, callers and judges" in response.content.decode()


def test_only_admins_edit_profiles(client: Client, operator: User) -> None:
    profile = make_profile("mini")
    client.force_login(operator)
    for path in ("new/agent/", f"{profile.pk}/", f"{profile.pk}/archive/"):
        assert client.post(f"/settings/profiles/{path}", typed(model="stolen")).status_code == 403
    profile.refresh_from_db()
    assert (profile.model, profile.is_archived) == ("small-model", False)


def test_the_system_page_tells_a_silent_lane_from_a_living_one(client: Client, viewer: User) -> None:
    now = timezone.now()
    for host, silent_s in (("alive", 1), ("dead", 300)):
        Lane.objects.create(
            key=uuid4(), host=host, pid=1, width=16, running=3, heartbeat_at=now - timedelta(seconds=silent_s)
        )
    client.force_login(viewer)
    with time_machine.travel(now, tick=False):
        text = client.get("/settings/system/").content.decode()
    assert "alive, last sign" in text
    assert "silent for 5m00s" in text
    assert "3 of 16" in text


def test_the_system_page_says_what_does_not_listen(client: Client, viewer: User, settings: Any) -> None:
    settings.PARTY_AGENT_URL = "ws://127.0.0.1:9"
    client.force_login(viewer)
    text = client.get("/settings/system/").content.decode()
    assert "ws://127.0.0.1:9" in text
    assert "nothing listens" in text
    assert "No lane is at work" in text
