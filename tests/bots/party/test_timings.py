"""The parts of a response time, taken down at the right moments."""

from collections.abc import Callable

import pytest

from bots.party.timings import Timings


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return what sets the time in seconds."""
    now = [0.0]
    monkeypatch.setattr("bots.party.timings.time.monotonic", lambda: now[0])

    def at(seconds: float) -> None:
        now[0] = seconds

    return at


def test_parts_sum_up_to_the_response(clock: Callable[[float], None]) -> None:
    taken = Timings(vad_stop_s=0.8)
    taken.stopped, taken.transcribed = 10.0, 10.5
    clock(10.6)
    taken.ask()
    clock(11.4)
    taken.sound(replied_at=11.1, requests=[{"model_ms": 300.0}, {"model_ms": 200.0}])
    assert taken.told() == {"stt": 500.0, "endpointing": 900.0, "model": 500.0, "tts": 300.0, "response": 2200.0}


def test_what_comes_after_the_question_was_put_is_of_the_next_turn(clock: Callable[[float], None]) -> None:
    taken = Timings(vad_stop_s=0.8)
    taken.stopped, taken.transcribed = 10.0, 10.5
    clock(10.6)
    taken.ask()
    taken.stopped = 11.0  # the other side went on
    clock(11.2)
    taken.ask()
    taken.sound(replied_at=11.1, requests=[])
    clock(15)
    taken.sound(replied_at=14.0, requests=[{"model_ms": 1000.0}])
    assert taken.told()["stt"] == 500.0
    assert taken.told()["response"] == 2000.0
    assert taken.told()["model"] == 0.0


def test_a_turn_that_answers_a_text_was_not_heard(clock: Callable[[float], None]) -> None:
    taken = Timings(vad_stop_s=0.8)
    clock(1.0)
    taken.ask()
    clock(1.5)
    taken.sound(replied_at=1.25, requests=[{"model_ms": 250.0}])
    assert taken.told() == {"model": 250.0, "tts": 250.0, "response": 500.0}


def test_a_transcript_of_an_earlier_stretch_measures_no_recognition(clock: Callable[[float], None]) -> None:
    taken = Timings(vad_stop_s=0.8)
    taken.transcribed, taken.stopped = 9.0, 10.0
    clock(10.1)
    taken.ask()
    assert taken.told() == {}


def test_a_turn_without_sound_has_no_response(clock: Callable[[float], None]) -> None:
    taken = Timings(vad_stop_s=0.8)
    taken.sound(replied_at=0.0, requests=[])
    assert taken.told() == {}
    taken.ask()
    taken.clear()
    taken.sound(replied_at=0.0, requests=[])
    assert taken.told() == {}
