"""Profiles from files: loaded, updated, or refused with place, reason and remedy, and never with the key."""

from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from pytest_django import Settings

from scenarios.models import Profile
from scenarios.profiles import BadProfile, endpoint_url, load, load_standins

pytestmark = pytest.mark.django_db
KEY = "sk-proj-abcdefghijklmnopqrstuvwx0123456789"
GOOD = """
[[agent]]
slug = "mini"
model = "mini-model"
base_url = "https://models.example/v1"
key_env = "MINI_KEY"
prompt_price = 0.15
completion_price = 0.6
parameters = { temperature = 0, max_tokens = 500 }

[[judge]]
slug = "strict"
model = "big-model"
base_url = "http://10.0.0.5:8000/v1"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "profiles.toml"
    path.write_text(text)
    return path


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(BadProfile) as caught:
        load(write(folder, text))
    return str(caught.value)


def test_a_file_becomes_profiles(tmp_path: Path) -> None:
    agent, judge = load(write(tmp_path, GOOD))
    assert (agent.kind, agent.slug, agent.key_env, agent.completion_price) == ("agent", "mini", "MINI_KEY", 0.6)
    assert agent.parameters == {"temperature": 0, "max_tokens": 500}
    assert (judge.kind, judge.is_standin, judge.prompt_price) == ("judge", False, None)


def test_loading_again_updates(tmp_path: Path) -> None:
    (before, _) = load(write(tmp_path, GOOD))
    load(write(tmp_path, GOOD.replace("mini-model", "newer-model")))
    before.refresh_from_db()
    assert before.model == "newer-model"
    assert Profile.objects.count() == 2


@pytest.mark.parametrize(
    ("old", "new", "messages"),
    [
        ('"MINI_KEY"', f'"{KEY}"', ["agent 1 (mini)", "key_env: Give the NAME of an environment variable"]),
        ('"https://models.example/v1"', '"file:///etc/passwd"', ["base_url: Give an address that begins with http://"]),
        ('"https://models.example/v1"', '"models.example"', ["base_url: Give an address"]),
        ('"https://models.example/v1"', '"https://me:pw@models.example"', ["base_url: The address holds a secret"]),
        ('"https://models.example/v1"', f'"https://models.example/?k={KEY}"', ["The address holds a secret"]),
        ("temperature = 0", f'api_key = "{KEY}"', ["parameters: Parameters are stored and shown", "(api_key)"]),
        ("temperature = 0", f'extra = "{KEY}"', ["parameters: Parameters are stored and shown"]),
        ("temperature = 0", 'extra_headers = "x"', ["(extra_headers)"]),
        ('slug = "mini"', 'slug = "mini model"', ["slug: Enter a valid", "(mini model)"]),
        ('slug = "mini"', "", ["agent 1: give it a slug"]),
        ('model = "mini-model"', "", ["model: Name the model"]),
        ('base_url = "https://models.example/v1"', "", ["base_url: Say where the model is served"]),
        ("prompt_price = 0.15", "prompt_price = -1", ["prompt_price: Ensure this value is greater than or equal to 0"]),
        ("prompt_price", "promt_price", ["unknown key 'promt_price'; there are address, base_url"]),
        ("[[agent]]", "[[agnet]]", ["unknown table 'agnet'; use [[agent]], [[caller]], [[judge]]"]),
        ("[[agent]]", "[agent]", ["agent must be written as [[agent]]"]),
        ("[[agent]]", "[[agent]", ["is no TOML file"]),
    ],
)
def test_bad_files_are_refused_whole(tmp_path: Path, old: str, new: str, messages: list[str]) -> None:
    said = refusal(tmp_path, GOOD.replace(old, new, 1))
    for message in messages:
        assert message in said
    assert "profiles.toml" in said
    assert KEY not in said
    assert Profile.objects.count() == 0


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadProfile, match="nothing.toml: cannot be read"):
        load(tmp_path / "nothing.toml")


def test_an_external_party_has_an_address_and_no_model(tmp_path: Path) -> None:
    party = '[[agent]]\nslug = "theirs"\naddress = "wss://bots.example/call"\n'
    (profile,) = load(write(tmp_path, party))
    assert profile.address == "wss://bots.example/call"
    assert "address: Give an address that begins with ws://" in refusal(tmp_path, party.replace("wss:", "https:"))
    assert "address: An external party chooses its model itself" in refusal(tmp_path, party + 'model = "m"\n')
    assert "address: A judge is a model at a base URL" in refusal(tmp_path, party.replace("[[agent]]", "[[judge]]"))


def test_the_stand_ins_are_there_after_a_start_and_another() -> None:
    first = {(profile.kind, profile.slug) for profile in load_standins()}
    assert {(profile.kind, profile.slug) for profile in load_standins()} == first
    assert {"standin-faithful", "standin-null"} <= {slug for kind, slug in first if kind == "agent"}
    assert {kind for kind, _ in first} == {"agent", "caller", "judge"}
    assert Profile.objects.filter(is_standin=True).count() == len(first)


def test_nobody_takes_a_stand_ins_name(tmp_path: Path) -> None:
    load_standins()
    message = refusal(tmp_path, GOOD.replace('"mini"', '"standin-faithful"'))
    assert "'standin-faithful' is the name of a built-in stand-in; choose another slug" in message


def test_stand_ins_answer_at_the_setting(settings: Settings) -> None:
    settings.STANDIN_URL = "http://127.0.0.1:5555/v1"
    assert endpoint_url({"base_url": "", "is_standin": True}) == "http://127.0.0.1:5555/v1"
    assert endpoint_url({"base_url": "http://own/v1", "is_standin": True}) == "http://own/v1"
    assert endpoint_url({"base_url": "", "is_standin": False}) == ""


@pytest.mark.parametrize("parameters", ["temperature", ["temperature"], None])
def test_parameters_are_a_table(parameters: Any) -> None:
    profile = Profile(slug="x", kind="agent", model="m", base_url="http://x/v1", parameters=parameters)
    with pytest.raises(ValidationError) as caught:
        profile.clean()
    assert "Give a table of request parameters" in caught.value.message_dict["parameters"][0]


def test_token_limits_are_no_secrets() -> None:
    Profile(slug="x", kind="agent", model="m", base_url="http://x/v1", parameters={"max_tokens": 5}).full_clean()
