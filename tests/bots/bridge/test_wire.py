"""Frames in and out, and those that are refused."""

from typing import Any

import pytest
from pipecat.frames.frames import InputTransportMessageFrame, OutputTransportMessageUrgentFrame
from pipecat.frames.protobufs import frames_pb2
from pipecat.serializers.protobuf import ProtobufFrameSerializer

from bots.bridge.wire import BadFrame, Message, decode, encode

Frame: Any = vars(frames_pb2)["Frame"]


def frame(text: str) -> bytes:
    made = Frame()
    made.message.data = text
    payload: bytes = made.SerializeToString()
    return payload


def test_a_message_comes_back_as_it_went() -> None:
    data = {"t": "say", "d": {"text": 'Grüße, 東京 </script> "quoted"\n'}}
    assert decode(encode("client-message", data, "7")) == Message("client-message", data, "7")


async def test_pipecats_own_serializer_reads_and_writes_the_same_frames() -> None:
    serializer = ProtobufFrameSerializer()
    read = await serializer.deserialize(encode("client-ready", {"version": "2.2.0"}, "1"))
    assert isinstance(read, InputTransportMessageFrame)
    assert read.message == {"label": "rtvi-ai", "type": "client-ready", "id": "1", "data": {"version": "2.2.0"}}
    written = await serializer.serialize(OutputTransportMessageUrgentFrame(message=read.message))
    assert isinstance(written, bytes)
    assert decode(written) == Message("client-ready", {"version": "2.2.0"}, "1")


def test_frames_without_a_message_are_passed_over() -> None:
    audio = Frame()
    audio.audio.audio = b"\0\0"
    assert decode(audio.SerializeToString()) is None


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ("text", "a text frame"),
        (b"\xff\xff\xff", "not a protobuf frame"),
        (frame("{"), "not JSON"),
        (frame("__import__('os').system('true')"), "not JSON"),
        (frame('{"label": "rtvi-ai", "type": "x", "data": {"n": NaN}}'), "not JSON"),
        (frame("[" * 100_000), "not JSON"),
        (frame("[1]"), "not an RTVI message"),
        (frame('{"label": "other", "type": "x"}'), "not an RTVI message"),
        (frame('{"label": "rtvi-ai", "type": 3}'), "not an RTVI message"),
    ],
)
def test_what_is_no_rtvi_message_is_refused_with_its_reason(payload: bytes | str, reason: str) -> None:
    with pytest.raises(BadFrame, match=reason):
        decode(payload)


def test_data_that_is_no_object_counts_as_none() -> None:
    assert decode(frame('{"label": "rtvi-ai", "type": "bot-ready", "data": [1]}')) == Message("bot-ready", {})


def test_characters_that_no_database_stores_are_replaced() -> None:
    message = decode(frame('{"label": "rtvi-ai", "type": "x", "data": {"a\\u0000": ["\\ud800", "fine \\u00e9"]}}'))
    assert message == Message("x", {"a\ufffd": ["\ufffd", "fine é"]})
