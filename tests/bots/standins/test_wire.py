"""The chat completions format: what is read from a request, what a reply looks like on the wire."""

import json
from typing import Any

import pytest

from bots.standins.wire import BadRequest, ChatRequest, Reply, ToolCall, completion, read_request, stream

REPLY = Reply("One two three", (ToolCall("look", '{"a": 1}'), ToolCall("write", '{"b": ')))


def request(messages: list[dict[str, Any]], **fields: Any) -> ChatRequest:
    return read_request(json.dumps({"model": "standin-null:x", "messages": messages, **fields}).encode())


def call(name: str = "look") -> dict[str, Any]:
    return {"id": "call_0", "type": "function", "function": {"name": name, "arguments": "{}"}}


def events(read: ChatRequest, reply: Reply, **options: bool) -> list[dict[str, Any]]:
    *chunks, done = stream(read, reply, **options)
    assert done == b"data: [DONE]\n\n"
    assert all(chunk.startswith(b"data: ") and chunk.endswith(b"\n\n") for chunk in chunks)
    return [json.loads(chunk[6:]) for chunk in chunks]


def deltas(read: ChatRequest, reply: Reply, **options: bool) -> list[dict[str, Any]]:
    return [event["choices"][0]["delta"] for event in events(read, reply, **options) if event["choices"]]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b"", "not JSON"),
        (b"[1]", "'model'"),
        (b'{"model": 1, "messages": []}', "'model'"),
        (b'{"model": "m"}', "'messages'"),
        (b'{"model": "m", "messages": ["hello"]}', "'messages'"),
    ],
)
def test_a_body_that_is_no_chat_request_is_refused(body: bytes, named: str) -> None:
    with pytest.raises(BadRequest, match=named):
        read_request(body)


def test_unknown_fields_and_odd_messages_are_ignored() -> None:
    read = request(
        [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "One"}, {"type": "image"}, {"text": "two"}, 3]},
            {"role": "assistant", "content": None, "tool_calls": [call(), {"function": 7}, "x"]},
            {"content": 5},
        ],
        reasoning_effort="high",
        tools="all",
        stream_options="yes",
    )

    assert [message.role for message in read.messages] == ["developer", "user", "assistant", ""]
    assert read.texts("user") == ["One two"]
    assert read.messages[2].tools == ("look", "", "")
    assert not read.stream
    assert not read.include_usage


def test_the_position_counts_texts_and_calls_however_they_are_stored() -> None:
    apart: list[dict[str, Any]] = [
        {"role": "assistant", "content": "Goodbye."},
        {"role": "assistant", "content": "", "tool_calls": [call()]},
        {"role": "assistant", "tool_calls": [call()]},
    ]
    together = [{"role": "assistant", "content": "Goodbye.", "tool_calls": [call(), call()]}]

    assert request(apart).position == request(together).position == 3


def test_others_messages_and_blank_texts_do_not_count() -> None:
    messages = [
        {"role": "system", "content": "You are an agent."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "  "},
        {"role": "tool", "tool_call_id": "call_0", "content": "{}"},
    ]

    assert request(messages).position == 0


def test_a_completion_has_text_calls_reason_and_usage() -> None:
    answer = completion(request([{"role": "user", "content": "Hello"}]), REPLY)

    (choice,) = answer["choices"]
    assert answer["object"] == "chat.completion"
    assert choice["message"]["content"] == "One two three"
    assert [entry["function"]["name"] for entry in choice["message"]["tool_calls"]] == ["look", "write"]
    assert choice["message"]["tool_calls"][1]["function"]["arguments"] == '{"b": '
    assert choice["finish_reason"] == "tool_calls"
    usage = answer["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_a_completion_without_text_says_null_and_one_without_calls_stops() -> None:
    assert (
        completion(request([]), Reply(tool_calls=(ToolCall("look", "{}"),)))["choices"][0]["message"]["content"] is None
    )
    stopped = completion(request([]), Reply("Hello."))["choices"][0]
    assert stopped["finish_reason"] == "stop"
    assert "tool_calls" not in stopped["message"]


def test_a_stream_begins_with_the_role_and_ends_with_the_reason() -> None:
    made = events(request([]), REPLY)

    assert made[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert [event["choices"][0]["finish_reason"] for event in made] == [None] * (len(made) - 1) + ["tool_calls"]
    assert {event["object"] for event in made} == {"chat.completion.chunk"}


@pytest.mark.parametrize(("by_word", "pieces"), [(False, ["One two three"]), (True, ["One ", "two ", "three"])])
def test_text_streams_whole_or_word_by_word(by_word: bool, pieces: list[str]) -> None:
    texts = [delta["content"] for delta in deltas(request([]), REPLY, by_word=by_word) if delta.get("content")]

    assert texts == pieces


def test_a_streamed_call_is_named_first_and_gets_its_arguments_after() -> None:
    parts = [delta["tool_calls"][0] for delta in deltas(request([]), REPLY) if "tool_calls" in delta]

    assert [part["index"] for part in parts] == [0, 0, 1, 1]
    assert parts[0]["function"] == {"name": "look", "arguments": ""}
    assert parts[0]["id"] != parts[2]["id"]
    assert parts[1]["function"] == {"arguments": '{"a": 1}'}
    assert "id" not in parts[1]


def test_call_ids_differ_from_reply_to_reply() -> None:
    before = [{"role": "assistant", "content": "", "tool_calls": [call()]}]
    ids = [
        completion(request(messages), REPLY)["choices"][0]["message"]["tool_calls"][0]["id"]
        for messages in ([], before)
    ]

    assert ids[0] != ids[1]


def test_usage_is_streamed_only_when_asked_for() -> None:
    asked = events(request([], stream_options={"include_usage": True}), REPLY)

    assert asked[-1]["choices"] == []
    assert asked[-1]["usage"]["completion_tokens"] > 0
    assert all("usage" not in event for event in events(request([]), REPLY))


def test_an_empty_reply_streams_no_text() -> None:
    assert [delta for delta in deltas(request([]), Reply()) if delta.get("content")] == []
