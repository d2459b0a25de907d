"""What was heard finds the turn that was spoken, early, in time or late."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from bots.bridge.audio.speaking import Spoken, Transcript, heard_in, told_parts
from bots.bridge.theirs.side import TheirSide
from bots.bridge.wire import Message
from scenarios.sides import Side
from tests.bots.record import ListRecord


@pytest.fixture
def record() -> ListRecord:
    return ListRecord()


@pytest.fixture
def transcript(record: ListRecord) -> Transcript:
    return Transcript(cast(Any, SimpleNamespace(record=record)))


def spoken(number: int, side: Side = "user") -> Spoken:
    return Spoken(side, number, f"turn {number}", None, number * 1000, number * 1000 + 500)


def heard(record: ListRecord) -> list[tuple[int, str | None]]:
    return [(turn["turn"], turn["heard"]) for turn in record.of("turn.ended")]


def test_in_time(transcript: Transcript, record: ListRecord) -> None:
    transcript.begins("user")
    transcript.ended(spoken(1))
    assert transcript.heard("user", "turn one")
    assert heard(record) == [(1, "turn one")]
    (turn,) = record.of("turn.ended")
    assert (turn["started_ms"], turn["ended_ms"]) == (1000, 1500)


def test_never(transcript: Transcript, record: ListRecord) -> None:
    transcript.begins("user")
    transcript.ended(spoken(1))
    transcript.begins("user")
    assert heard(record) == [(1, None)]
    assert not transcript.settle("user")


def test_nothing_was_understood(transcript: Transcript, record: ListRecord) -> None:
    transcript.ended(spoken(1))
    transcript.heard("user", "")
    assert heard(record) == [(1, "")]


def test_early_and_in_time(transcript: Transcript, record: ListRecord) -> None:
    transcript.begins("user")
    assert not transcript.heard("user", "turn")
    transcript.ended(spoken(1))
    transcript.heard("user", "one")
    assert heard(record) == [(1, "turn one")]


def test_late_words_grow_the_recorded_turn(transcript: Transcript, record: ListRecord) -> None:
    transcript.ended(spoken(1))
    transcript.heard("user", "turn")
    transcript.heard("user", "one")
    assert heard(record) == [(1, "turn"), (1, "turn one")]


def test_sides_are_kept_apart(transcript: Transcript, record: ListRecord) -> None:
    transcript.ended(spoken(1, "agent"))
    transcript.ended(spoken(2, "user"))
    transcript.heard("user", "two")
    transcript.heard("agent", "one")
    assert heard(record) == [(2, "two"), (1, "one")]


def test_words_of_an_earlier_turn_are_not_of_the_next(transcript: Transcript, record: ListRecord) -> None:
    transcript.begins("user")
    transcript.ended(spoken(1))
    transcript.heard("user", "one")
    transcript.begins("user")
    transcript.ended(spoken(2))
    transcript.heard("user", "two")
    assert heard(record) == [(1, "one"), (2, "two")]


@pytest.mark.parametrize(
    ("message", "from_ours", "from_theirs"),
    [
        (Message("server-message", {"type": "heard", "text": "Hi."}), "Hi.", None),
        (Message("server-message", {"type": "heard"}), "", None),
        (Message("user-transcription", {"text": "Hi.", "final": True}), None, "Hi."),
        (Message("user-transcription", {"text": "H", "final": False}), None, None),
        (Message("user-input", {"text": "Hi.", "final": True, "input_type": "transcription"}), None, "Hi."),
        (Message("server-message", {"type": "note", "text": "Hi."}), None, None),
    ],
)
def test_messages_that_tell_what_was_heard(message: Message, from_ours: str | None, from_theirs: str | None) -> None:
    assert heard_in(message, None) == from_ours
    assert heard_in(message, TheirSide()) == from_theirs


def test_what_a_bot_says_twice_in_other_words_was_heard_once() -> None:
    their = TheirSide()
    said = {"text": "Hi.", "final": True}
    messages = [
        Message("user-input", {**said, "input_type": "chat"}),
        Message("user-input", {"text": "H", "final": False, "input_type": "transcription"}),
        Message("user-input", {**said, "input_type": "transcription"}),
        Message("user-transcription", said),
        Message("user-input", {"text": "Bye.", "final": True, "input_type": "transcription"}),
        Message("user-input", {"text": "mhm", "final": True, "input_type": "backchannel"}),
    ]
    assert list(filter(None, (heard_in(message, their) for message in messages))) == ["Hi.", "Bye."]


@pytest.mark.parametrize("timings", [None, "fast", [1], {"stt": "long"}, {"stt": -1}, {"stt": True}, {"stt": 1e9}])
def test_timings_that_are_none_are_left_out(timings: Any) -> None:
    assert told_parts({"timings": timings}) == {}


def test_timings_that_are_some() -> None:
    assert told_parts({"timings": {"stt": 12, "model": 3.5, "tts": None}}) == {"stt": 12.0, "model": 3.5}
    assert told_parts({"timings": {"response": 20, "thinking": 5, "residual": 4}}) == {"response": 20.0}
