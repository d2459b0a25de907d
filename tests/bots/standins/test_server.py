"""The endpoint over its socket, asked with the client that parties and judges use."""

import json
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

import openai
import pytest
from openai import OpenAI

SCENARIO = "frontdesk__breakfast"
HELLO: list[Any] = [{"role": "system", "content": "You are an agent."}, {"role": "user", "content": "Hello"}]


@pytest.fixture
def client(base_url: str) -> OpenAI:
    return OpenAI(base_url=base_url, api_key="none", max_retries=0)


def post(base_url: str, body: bytes) -> tuple[int, dict[str, Any]]:
    connection = HTTPConnection(urlsplit(base_url).netloc)
    connection.request("POST", "/v1/chat/completions", body)
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def get(base_url: str, path: str) -> tuple[int, Any]:
    connection = HTTPConnection(urlsplit(base_url).netloc)
    connection.request("GET", path)
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def model(suffix: str = "") -> str:
    return f"standin-faithful{suffix}:{SCENARIO}"


def test_a_completion(client: OpenAI) -> None:
    answer = client.chat.completions.create(model=model(), messages=HELLO)

    assert "How can I help you" in str(answer.choices[0].message.content)
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert answer.usage.total_tokens > 0


def test_a_stream_of_text(client: OpenAI) -> None:
    chunks = list(
        client.chat.completions.create(
            model=model(), messages=HELLO, stream=True, stream_options={"include_usage": True}
        )
    )

    assert "How can I help you" in "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-1].usage is not None


def test_a_stream_of_a_tool_call(client: OpenAI) -> None:
    said = [{"role": "assistant", "content": "Hello."}, {"role": "assistant", "content": "Your name?"}]
    chunks = list(client.chat.completions.create(model=model(), messages=HELLO + said, stream=True))
    calls = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or ()]

    assert [call.function.name for call in calls if call.function and call.function.name] == ["find_guest"]
    arguments = "".join(call.function.arguments or "" for call in calls if call.function)
    assert json.loads(arguments) == {"last_name": "Abara", "phone_last_four": "0142"}
    assert chunks[-1].choices[0].finish_reason == "tool_calls"


def test_the_models_are_listed(client: OpenAI) -> None:
    names = {entry.id for entry in client.models.list()}

    assert {"standin-faithful", "standin-careless", "standin-caller", "standin-judge"} <= names


def test_requests_are_counted_by_model(client: OpenAI, base_url: str) -> None:
    _, before = get(base_url, "/requests")
    client.chat.completions.create(model="standin-silent+long:frontdesk__new_dates", messages=HELLO)
    _, after = get(base_url, "/requests")

    assert after["count"] == before["count"] + 1
    assert after["by_model"]["standin-silent+long:frontdesk__new_dates"] == 1


@pytest.mark.parametrize(
    ("name", "part"),
    [("gpt-4o", "gpt-4o"), ("standin-perfect:x", "perfect"), ("standin-null:nowhere__1", "nowhere__1")],
)
def test_an_unknown_model_is_not_found(client: OpenAI, name: str, part: str) -> None:
    with pytest.raises(openai.NotFoundError, match=part):
        client.chat.completions.create(model=name, messages=HELLO)


@pytest.mark.parametrize("body", [b"", b"hello", b"[]", b'{"model": "standin-judge"}'])
def test_nonsense_is_a_bad_request(base_url: str, body: bytes) -> None:
    status, answer = post(base_url, body)

    assert status == 400
    assert answer["error"]["type"] == "invalid_request_error"


def test_other_addresses_are_not_found(base_url: str) -> None:
    status, answer = get(base_url, "/v1/embeddings")

    assert status == 404
    assert "/v1/embeddings" in answer["error"]["message"]


def test_a_large_body_is_read_whole(client: OpenAI) -> None:
    large: list[Any] = [*HELLO, {"role": "user", "content": "x" * 3_000_000}]
    answer = client.chat.completions.create(model=model(), messages=large)

    assert answer.usage is not None
    assert answer.usage.prompt_tokens > 700_000


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("429", openai.RateLimitError),
        ("500", openai.InternalServerError),
        ("outage", openai.InternalServerError),
    ],
)
def test_a_refusal_on_demand(client: OpenAI, fault: str, error: type[Exception]) -> None:
    with pytest.raises(error, match="as this stand-in was asked"):
        client.chat.completions.create(model=model(f"+{fault}"), messages=HELLO)


def test_a_refusal_of_the_first_tries(base_url: str) -> None:
    patient = OpenAI(base_url=base_url, api_key="none", max_retries=2)
    answer = patient.chat.completions.create(model=model("+429=1"), messages=HELLO)

    assert answer.choices[0].message.content
    assert get(base_url, "/requests")[1]["by_model"][model("+429=1")] == 2


def test_a_cut_stream_breaks_off_in_the_middle(base_url: str) -> None:
    connection = HTTPConnection(urlsplit(base_url).netloc)
    body = {"model": model("+cut"), "messages": HELLO, "stream": True}
    connection.request("POST", "/v1/chat/completions", json.dumps(body))
    response = connection.getresponse()

    with pytest.raises(HTTPException) as caught:
        response.read()
    received = getattr(caught.value, "partial", b"")
    assert b"Hello, " in received
    assert b"[DONE]" not in received


def test_a_cut_completion_is_shorter_than_announced(base_url: str) -> None:
    with pytest.raises(HTTPException):
        post(base_url, json.dumps({"model": model("+cut"), "messages": HELLO}).encode())


def test_the_endpoint_lives_on_after_a_cut(client: OpenAI, base_url: str) -> None:
    with pytest.raises(HTTPException):
        post(base_url, json.dumps({"model": model("+cut"), "messages": HELLO}).encode())

    assert client.chat.completions.create(model=model(), messages=HELLO).choices[0].message.content


def test_an_empty_reply(client: OpenAI) -> None:
    answer = client.chat.completions.create(model=model("+empty"), messages=HELLO)

    assert not answer.choices[0].message.content
    assert not answer.choices[0].message.tool_calls


def test_a_slow_stream_comes_word_by_word(client: OpenAI) -> None:
    chunks = list(client.chat.completions.create(model=model("+slow=1+ttft=1"), messages=HELLO, stream=True))
    pieces = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices[0].delta.content]

    assert len(pieces) > 8
    assert "".join(filter(None, pieces)).startswith("Hello, thank you")
