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
    + ["proxy", "cookie", "client_secret", "session_id", "email", "https_proxy"],
)
def test_fields_are_redacted_by_name_whatever_they_hold(name: str) -> None:
    assert redact({"deep": [{name: "harmless"}]}) == {"deep": [{name: REDACTED}]}
    assert redact({name: {"a": "b"}}) == {name: REDACTED}
    assert redact({name: None}) == {name: None}


@pytest.mark.parametrize(
    "name", ["temperature", "max_tokens", "prompt_tokens", "model", "monkey", "author", "reasoning_effort", "tokenizer"]
)
def test_harmless_fields_stay(name: str) -> None:
    assert redact({name: "value", "total_tokens": 7}) == {name: "value", "total_tokens": 7}


@pytest.mark.parametrize("secret", [_KEY, _TOKEN, "ghp_" + "a1" * 18, "AKIA" + "A1B2" * 4, "xoxb-123-456-abcdef"])
def test_secrets_are_found_in_any_text(secret: str) -> None:
    assert secret not in scrub(f"use {secret}, please")
    assert scrub(f"use {secret}") == f"use {REDACTED}"
    assert secret not in json.dumps(redact({secret: [f"Bearer {secret}"]}))


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
