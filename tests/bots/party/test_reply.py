"""Replies put together from streams as real servers send them."""

import json
from typing import Any

import pytest

from bots.party.reply import AskedCall, Nonsense, Reply


def reply_of(*deltas: dict[str, Any], finish: str | None = "stop") -> Reply:
    reply = Reply()
    for delta in deltas:
        reply.add_line("data: " + json.dumps({"choices": [{"delta": delta, "finish_reason": None}]}))
    reply.add({"choices": [{"delta": {}, "finish_reason": finish}]})
    return reply


def call(index: int | None = None, id_: str | None = None, name: str | None = None, text: str = "") -> dict[str, Any]:
    part: dict[str, Any] = {"function": {"name": name, "arguments": text}, "id": id_, "index": index}
    return {key: value for key, value in part.items() if value is not None}


def test_text_comes_in_pieces() -> None:
    reply = reply_of({"role": "assistant", "content": ""}, {"content": "Hel"}, {"content": "lo"}, {"content": None})
    assert (reply.text, reply.is_finished, reply.is_empty) == ("Hello", True, False)


def test_calls_come_in_fragments_and_several_in_one_chunk() -> None:
    reply = reply_of(
        {"tool_calls": [call(0, "a", "sell", '{"t'), call(1, "b", "look")]},
        {"tool_calls": [call(1, text='{"u": 2}'), call(0, text='": 1}')]},
    )
    assert [(c.id, c.name, c.arguments()) for c in reply.calls] == [
        ("a", "sell", ({"t": 1}, None)),
        ("b", "look", ({"u": 2}, None)),
    ]


def test_text_beside_a_call_in_the_same_chunk_is_not_lost() -> None:
    reply = reply_of({"content": "One moment.", "tool_calls": [call(0, "a", "sell")]})
    assert (reply.text, reply.calls[0].name) == ("One moment.", "sell")


def test_servers_that_number_every_call_nought_or_give_no_id() -> None:
    reply = reply_of({"tool_calls": [call(0, "a", "sell")]}, {"tool_calls": [call(0, "b", "look")]})
    assert [c.name for c in reply.calls] == ["sell", "look"]
    nameless = reply_of({"tool_calls": [call(name="sell"), call(name="look")]})
    assert [c.name for c in nameless.calls] == ["sell", "look"]
    assert len({c.id for c in nameless.calls}) == 2


def test_a_whole_completion_and_content_in_parts() -> None:
    reply = Reply()
    message = {"content": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}], "tool_calls": None}
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    reply.add({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage})
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ("AB", 7, 3)


def test_tokens_that_are_not_told_are_unknown() -> None:
    reply = reply_of({"content": "x"})
    assert reply.prompt_tokens is None
    for prompt, completion in (("many", -1), (10**12, 10**400), (True, 1.5)):
        reply.add({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion}})
        assert (reply.prompt_tokens, reply.completion_tokens) == (None, None)


def test_comments_and_blank_lines_of_a_stream_are_passed_over() -> None:
    reply = Reply()
    for line in (": keep-alive", "", "event: message", "data: [DONE]"):
        reply.add_line(line)
    assert reply.is_finished
    assert reply.is_empty


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("data: <html>", "no JSON"),
        ("data: 3", "no object"),
        ('data: {"hello": 1}', "without choices"),
        ('data: {"error": {"message": "overloaded"}}', "overloaded"),
    ],
)
def test_nonsense_is_named(line: str, reason: str) -> None:
    with pytest.raises(Nonsense, match=reason):
        Reply().add_line(line)


@pytest.mark.parametrize("text", ["{", "[1]", '"x"', '{"n": NaN}', "[" * 100_000])
def test_arguments_that_are_no_object_are_kept_as_text(text: str) -> None:
    assert AskedCall("a", "sell", text).arguments() == ({}, text)


def test_no_arguments_are_an_empty_object() -> None:
    assert AskedCall("a", "sell", "").arguments() == ({}, None)
