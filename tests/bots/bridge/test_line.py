"""One direction in real time: when a turn begins, murmurs beside turns, words that cut in."""

from bots.bridge.audio.line import PIECE_BYTES, TICK_MS, Line
from bots.bridge.audio.pcm import silence
from bots.bridge.conversation import Turn
from bots.bridge.wire import AudioFrame

LOUD = b"\0\x20" * (PIECE_BYTES // 2)
LEAD = 5  # silent pieces that a voice begins with


def marks(one: Line) -> tuple[object, object]:
    """Return where the turn began, and where it sounded first."""
    return one.began_ms, one.started_ms


def words(one: Line) -> tuple[object, object]:
    """Return what was cut in with, and the party's word that its turn is over."""
    return one.said_first, one.complete


def line() -> Line:
    return Line("user", Turn("user", 0, 0.0))


def play(one: Line, position_ms: int, ticks: int) -> tuple[list[bytes], int]:
    """Return what so many ticks gave, and where they ended."""
    pieces = []
    for _ in range(ticks):
        pieces.append(one.next_piece(position_ms))
        position_ms += TICK_MS
    return pieces, position_ms


def test_a_turn_begins_with_its_first_piece_and_sounds_with_its_first_loud_one() -> None:
    one = line()
    one.take(AudioFrame(silence(LEAD * 0.02) + LOUD * 3, 16_000, 1))
    _, now = play(one, 1000, LEAD + 3)
    assert (*marks(one), one.ended_ms) == (1000, 1000 + LEAD * TICK_MS, now)
    one.finish_input({"text": "Hi."})
    assert one.is_over
    # The next turn does not begin while nothing of it is there.
    one.next_turn(Turn("user", 0, 0.0))
    _, now = play(one, now, 10)
    assert marks(one) == (None, None)
    one.take(AudioFrame(LOUD * 4, 16_000, 1))
    play(one, now, 1)
    assert marks(one) == (now, now)


def test_a_murmur_is_heard_and_is_no_turn() -> None:
    one = line()
    one.murmur(LOUD + LOUD[:100])
    assert not one.is_idle
    pieces, _ = play(one, 0, 3)
    assert pieces == [LOUD, LOUD[:100].ljust(PIECE_BYTES, b"\0"), bytes(PIECE_BYTES)]
    assert (one.started_ms, one.is_idle, one.is_over) == (None, True, False)


def test_words_that_cut_in_are_a_turn_of_their_own() -> None:
    one = line()
    one.cut_in("Wait.", LOUD * 4)
    play(one, 0, 4)
    assert one.is_over
    assert words(one) == ("Wait.", {"text": ""})
    one.next_turn(Turn("user", 0, 0.0))
    assert (one.said_first, one.is_idle) == ("", True)


def test_a_party_that_speaks_meanwhile_goes_on_in_the_same_turn() -> None:
    one = line()
    one.cut_in("Wait.", LOUD * 4)
    play(one, 0, 2)
    one.take(AudioFrame(LOUD * 4, 16_000, 1))
    assert words(one) == ("Wait.", None)
    one.finish_input({"text": "I mean the other one."})
    play(one, 40, 6)
    assert one.is_over
    assert words(one) == ("Wait.", {"text": "I mean the other one."})


def test_speech_that_comes_too_late_within_a_turn_is_a_gap_and_the_end_of_a_turn_is_none() -> None:
    one = line()
    one.take(AudioFrame(LOUD * 4, 16_000, 1))
    _, now = play(one, 0, 10)
    assert one.gaps == 0  # perhaps the turn is over, and its word comes after its last sound
    one.take(AudioFrame(LOUD * 4, 16_000, 1))
    _, now = play(one, now, 10)
    assert one.gaps == 1
    play(one, now, 50)
    one.take(AudioFrame(LOUD * 4, 16_000, 1))
    _, now = play(one, now + 50 * TICK_MS, 10)
    assert one.gaps == 1  # it had paused, as for a tool
    one.finish_input({"text": "Hi."})
    one.next_turn(Turn("user", 0, 0.0))
    one.take(AudioFrame(LOUD * 4, 16_000, 1))
    play(one, now, 10)
    assert one.gaps == 1
    # Own words after words to cut in with were not late.
    one.next_turn(Turn("user", 0, 0.0))
    one.cut_in("Wait.", LOUD * 4)
    play(one, now, 10)
    one.take(AudioFrame(LOUD * 4, 16_000, 1))
    play(one, now, 10)
    assert one.gaps == 1
