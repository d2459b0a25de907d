"""Secrets and addresses go; what the replay and the reader need stays."""

import json
from pathlib import Path

import pytest

from scenarios.formats.imports.redaction import REDACTED, redact, scrub
from tests.scenarios.formats.imports.files import answer, call, imported, results, simulation

_KEY = "sk-" + "proj-Ab1" * 6
_TOKEN = "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSM"  # noqa: S105


@pytest.mark.parametrize(
    "name",
    ["api_key", "apiKey", "OPENAI_API_KEY", "aws_secret_access_key", "token", "auth", "Authorization", "password"]
    + ["extra_headers", "headers", "default_headers", "api_base", "base_url", "host", "endpoint", "organization"]
    + ["clientSecret", "secretKey", "authToken", "httpHeaders", "baseURL", "apiBase", "accessKeyId", "sessionToken"]
    + ["api_keys", "secrets", "passphrase", "jwt", "dsn", "connection_string", "connectionString"]
    + ["proxy", "cookie", "client_secret", "session_id", "email", "https_proxy"],
)
def test_fields_are_redacted_by_name_whatever_they_hold(name: str) -> None:
    assert redact({"deep": [{name: "harmless"}]}) == {"deep": [{name: REDACTED}]}
    assert redact({name: {"a": "b"}}) == {name: REDACTED}
    assert redact({name: None}) == {name: None}


@pytest.mark.parametrize(
    "name",
    ["temperature", "max_tokens", "prompt_tokens", "model", "monkey", "author", "reasoning_effort", "tokenizer"]
    + ["pass", "monkeyBars", "keyboard", "compass", "completion_tokens_details"],
)
def test_harmless_fields_stay(name: str) -> None:
    assert redact({name: "value", "total_tokens": 7}) == {name: "value", "total_tokens": 7}


@pytest.mark.parametrize("secret", [_KEY, _TOKEN, "ghp_" + "a1" * 18, "AKIA" + "A1B2" * 4, "xoxb-123-456-abcdef"])
def test_secrets_are_found_in_any_text(secret: str) -> None:
    assert secret not in scrub(f"use {secret}, please")
    assert scrub(f"use {secret}") == f"use {REDACTED}"
    assert secret not in json.dumps(redact({secret: [f"Bearer {secret}"]}))


_WORD = "s3cr3t" * 3


@pytest.mark.parametrize(
    "text",
    [
        f"Authorization: Bearer {_WORD}",
        f"authorization: basic {_WORD}",
        f"AUTHORIZATION: {_WORD}",
        f"bearer {_WORD}",
        f"/v1/chat?key={_WORD}&stream=1",
        f"https://host/v1?api_key={_WORD}",
        f"X-Api-Key: {_WORD}",
        f"OPENAI_API_KEY={_WORD}",
        f'{{"api_key": "{_WORD}"}}',
        f"{{'client_secret': '{_WORD}'}}",
        f"aws_secret_access_key = {_WORD}",
        f"?access_token={_WORD}",
    ],
)
def test_a_secret_without_a_look_is_known_by_what_stands_before_it(text: str) -> None:
    assert _WORD not in scrub(text)
    assert _WORD not in json.dumps(redact({"note": [text]}))


def test_in_settings_more_names_tell_a_secret_than_in_conversations() -> None:
    for text in (f"password: {_WORD}", f"set-cookie: {_WORD}", f"token={_WORD}", f'{{"secret": "{_WORD}"}}'):
        assert _WORD not in json.dumps(redact({"note": text}))
    for text in (
        "password: reset it please",
        "basic economy passengers",
        "the bearer of bad news",
        "authorization: yes, go on",
    ):
        assert scrub(text) == text


def test_headers_as_names_and_values() -> None:
    pair = {"name": "Authorization", "value": _WORD}

    assert redact([pair, {"name": "size", "value": "L"}]) == [
        {"name": "Authorization", "value": REDACTED},
        {"name": "size", "value": "L"},
    ]


@pytest.mark.parametrize(
    "address", ["postgres://u:p@db/x", "redis://cache:6379", "[fe80::1]:8000", "2001:db8::ff00:42:8329"]
)
def test_addresses_of_other_kinds_go_too(address: str) -> None:
    assert redact({"note": f"at {address}."}) in ({"note": f"at {REDACTED}."}, {"note": f"at {REDACTED}"})


@pytest.mark.parametrize(
    "text", ["2025-11-30T12:34:56.789", "at 12:34:56", "a::b", "std::vector", "[1:2]", "flight 10:20"]
)
def test_times_and_names_are_no_addresses(text: str) -> None:
    assert redact({"note": text}) == {"note": text}


def test_addresses_go_from_settings_and_stay_in_conversations() -> None:
    text = "mail mia.li3818@example.com or http://10.0.0.1:8000/v1"

    assert redact({"note": text}) == {"note": f"mail {REDACTED} or {REDACTED}"}
    assert scrub(text) == text


def test_nothing_of_a_secret_is_left_in_any_record(tmp_path: Path) -> None:
    agent = {"implementation": "a", "llm": "m", "llm_args": {"api_key": _KEY, "extra_headers": {"X": "y"}, "n": 1}}
    messages = [
        {"role": "user", "content": f"my key is {_KEY}", "raw_data": {"headers": {"Authorization": f"Bearer {_KEY}"}}},
        call("find_user_id_by_email", {"email": f"a@b.c {_KEY}"}),
        answer(f"not found: {_KEY}"),
    ]
    check = {"info": _KEY, "met": False, "justification": _KEY}
    reward = {"reward": 0.0, "communicate_checks": [check]}
    one = simulation(messages=messages, reward_info=reward, info={"note": _KEY})
    run, (trial,) = imported(tmp_path, results([one], agent_info=agent, retrieval_config={"token": "t"}))

    assert _KEY not in repr(trial) + repr(run)
    assert run.agent.settings == {"llm_args": {"api_key": REDACTED, "extra_headers": REDACTED, "n": 1}}
    assert run.facts == {"retrieval_config": {"token": REDACTED}}
    assert trial.tool_calls[0].arguments == {"email": f"a@b.c {REDACTED}"}
