"""First messages, good and bad."""

from typing import Any

import pytest

from bots.bridge.wire import encode
from bots.party.preparation import Endpoint, Refused, read_key, read_preparation

LLM = {"base_url": "http://127.0.0.1:1/v1", "model": "m"}


def first(data: Any, kind: str = "prepare", type_: str = "client-message") -> bytes:
    return encode(type_, {"t": kind, "d": data}, "5")


def test_a_good_preparation() -> None:
    schema = {"type": "object", "properties": {}, "$defs": {"X": {}}}
    tools = [{"name": "sell", "description": "Sell.", "parameters": schema}]
    preparation, request_id = read_preparation(first({"prompt": "You sell.", "tools": tools, "llm": LLM}))
    assert request_id == "5"
    assert preparation.tools[0].parameters == schema
    assert preparation.llm.parameters == {}


@pytest.mark.parametrize(
    ("payload", "kind", "reason"),
    [
        (b"\xff\xff", "bad_frame", "no RTVI message"),
        (first({}, type_="client-ready"), "not_prepared", "must be the client-message 'prepare'"),
        (first({"text": "Hello"}, "say"), "not_prepared", "must be the client-message 'prepare'"),
        (first(None), "bad_preparation", "d: "),
        (first({"llm": LLM}), "bad_preparation", "prompt"),
        (first({"prompt": "", "llm": {**LLM, "base_url": "file:///etc"}}), "bad_preparation", r"llm\.base_url"),
        (first({"prompt": "", "llm": {**LLM, "api_key": "sk-1"}}), "bad_preparation", r"llm\.api_key"),
        (first({"prompt": "", "llm": LLM, "tools": [{}]}), "bad_preparation", r"tools\.0\.name"),
    ],
)
def test_a_bad_one_is_refused_by_name(payload: bytes, kind: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason) as caught:
        read_preparation(payload)
    assert caught.value.kind == kind


def test_a_refusal_does_not_repeat_what_may_be_a_key() -> None:
    with pytest.raises(Refused) as caught:
        read_preparation(first({"prompt": "", "llm": {**LLM, "api_key": "sk-secret"}}))
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize("name", ["SECRET_KEY", "DATABASE_URL", "REDIS_URL", "sk-abc", "PATH; rm"])
def test_not_every_variable_may_be_sent_to_an_endpoint(name: str) -> None:
    with pytest.raises(ValueError, match="not the name of a variable"):
        Endpoint(base_url="http://x", model="m", key_env=name)


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = Endpoint(base_url="http://x", model="m", key_env="SOME_KEY")
    monkeypatch.setenv("SOME_KEY", "sesame")
    assert read_key(endpoint) == "sesame"
    monkeypatch.setenv("SOME_KEY", "")
    with pytest.raises(Refused, match="SOME_KEY is not set where the party server runs"):
        read_key(endpoint)
    assert read_key(Endpoint(base_url="http://x", model="m")) == "none"
