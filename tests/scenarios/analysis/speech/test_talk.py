"""Talk ratio, gaps and overlaps from the times of turns."""

import random

from scenarios.analysis.speech.talk import Overlap, talk
from scenarios.scoring.evidence import Turn
from scenarios.sides import Side
from tests.scenarios.analysis.speech.calls import turn


def spoken(number: int, side: Side, start: int, end: int) -> Turn:
    return turn(number, side, "words", started_ms=start, ended_ms=end)


def test_shares_gaps_and_silence_of_a_polite_call() -> None:
    found = talk([spoken(1, "agent", 0, 2000), spoken(2, "user", 2500, 3500), spoken(3, "agent", 4500, 5500)], 6000)
    assert found.speech_ms == {"agent": 3000, "user": 1000}
    assert found.agent_share == 0.75
    assert found.gaps_ms == (500, 1000)
    assert (found.longest_gap_ms, found.silence_ms, found.overlaps) == (1000, 2000, ())


def test_an_interruption_says_who_when_how_long_and_who_yielded() -> None:
    found = talk([spoken(1, "agent", 0, 2400), spoken(2, "user", 2000, 3000)], 3000)
    assert found.overlaps == (Overlap("user", 2, 1, 2000, 400, yielded=True),)
    assert (found.interruptions("user"), found.interruptions("agent")) == (1, 0)
    assert found.gaps_ms == ()


def test_the_one_who_speaks_on_has_not_yielded() -> None:
    found = talk([spoken(1, "agent", 0, 5000), spoken(2, "user", 2000, 2300)], 5000)
    assert found.overlaps == (Overlap("user", 2, 1, 2000, 300, yielded=False),)


def test_a_reminder_said_into_silence_is_no_interruption() -> None:
    found = talk(
        [spoken(1, "agent", 0, 2000), spoken(2, "agent", 10_000, 11_000), spoken(3, "user", 12_000, 13_000)], 13_000
    )
    assert found.overlaps == ()
    assert found.gaps_ms == (1000,)


def test_a_turn_that_only_touches_another_does_not_overlap_it() -> None:
    found = talk([spoken(1, "agent", 0, 2000), spoken(2, "user", 2000, 3000)], 3000)
    assert (found.overlaps, found.gaps_ms) == ((), (0,))


def test_texts_have_no_talk() -> None:
    found = talk([spoken(1, "agent", 500, 500)], 1000)
    assert found.agent_share is None
    assert (found.longest_gap_ms, found.silence_ms) == (None, 1000)
    assert talk([], 0).silence_ms == 0


def test_speech_and_silence_never_exceed_the_call() -> None:
    dice = random.Random(2)  # noqa: S311
    for _ in range(300):
        turns = []
        for number in range(dice.randint(0, 12)):
            start = dice.randint(0, 9000)
            turns.append(spoken(number, dice.choice(["user", "agent"]), start, start + dice.randint(0, 1000)))
        found = talk(turns, 10_000)
        assert found.silence_ms + max(found.speech_ms.values()) <= 10_000
        assert found.silence_ms + sum(found.speech_ms.values()) >= 10_000
        assert all(overlap.duration_ms > 0 for overlap in found.overlaps)


def test_a_call_of_unknown_duration_lasts_as_long_as_its_turns() -> None:
    found = talk([spoken(1, "user", 1000, 3000)], None)
    assert (found.duration_ms, found.silence_ms) == (3000, 1000)
    assert talk([], None).duration_ms == 0
