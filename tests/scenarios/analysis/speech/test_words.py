"""Normal words, word error rate and the differences that a page shows."""

import random

import pytest

from scenarios.analysis.speech import wer
from scenarios.analysis.speech.differences import Difference, differences
from scenarios.analysis.speech.normalize import pieces, plain_words, words
from scenarios.analysis.speech.numerals import number_at
from scenarios.analysis.speech.wer import WordErrors, compare
from scenarios.sides import SIDES
from tests.scenarios.analysis.speech.calls import turn

SAME = [
    ("hash W, two three seven, double eight, oh", "#W-2378-80"),
    ("one thousand two hundred dollars and fifty cents", "$1,200.50"),
    ("two hundred and five", "205"),
    ("May twenty first", "May 21st"),
    ("john dot doe at gmail dot com", "john.doe@gmail.com"),
    ("um, it's o.k.", "It\u2019s O K"),
    ("Please e-mail me", "please email me"),
    ("I can't, I won't", "i can not i will not"),
    ("E, P, X, Y", "EPXY"),
    ("nineteen eighty four", "1984"),
    ("twenty five fifty", "25 50"),
    ("three point five", "3.5"),
    ("fifty percent", "50%"),
    ("sara underscore doe underscore four nine six", "sara_doe_496"),
    ("five five five, dash, one two", "555-12"),
    ("Zo\u00eb", "Zoe\u0308"),
    ("triple oh", "000"),
]
OTHER = [
    ("two three", "two four"),
    ("twenty three", "twenty two"),
    ("cancel it", "counsel it"),
    ("do not", "do"),
    ("fifteen", "sixteen"),
]


@pytest.mark.parametrize(("said", "heard"), SAME)
def test_two_ways_to_write_what_sounds_the_same_are_no_error(said: str, heard: str) -> None:
    assert compare(said, heard).errors == 0
    assert compare(heard, said).errors == 0
    assert all(part.op == "equal" for part in differences(said, heard))


@pytest.mark.parametrize(("said", "heard"), OTHER)
def test_what_sounds_different_is_one(said: str, heard: str) -> None:
    assert compare(said, heard).errors == 1
    assert any(part.op != "equal" for part in differences(said, heard))


@pytest.mark.parametrize(
    ("text", "digits", "count"),
    [
        ("seven", "7", 1),
        ("twenty three five", "23", 2),
        ("two hundred and five apples", "205", 4),
        ("one thousand two hundred", "1200", 4),
        ("two million", "2000000", 2),
        ("three hundred and", "300", 2),
        ("twenty first", "21", 2),
    ],
)
def test_a_number_takes_as_many_words_as_belong_to_it(text: str, digits: str, count: int) -> None:
    number = number_at(text.split(), 0)
    assert number is not None
    assert (number.digits, number.words) == (digits, count)


def test_a_word_that_is_no_number_is_none() -> None:
    assert number_at(["and", "five"], 0) is None
    assert number_at([], 0) is None
    assert number_at(["hundred"], 0) is None


def test_words_know_the_pieces_they_come_from() -> None:
    found = words("My id is #W12, twenty three.")
    assert [(word.text, word.first, word.last) for word in found if word.text.isdecimal()] == [
        ("1", 3, 3),
        ("2", 3, 3),
        ("2", 4, 5),
        ("3", 4, 5),
    ]


def test_each_kind_of_error_is_counted() -> None:
    assert compare("I want the red shoes", "I want a red shoes") == WordErrors(words=5, substitutions=1, turns=1)
    assert compare("I want the red shoes", "I want the shoes") == WordErrors(words=5, deletions=1, turns=1)
    assert compare("I want shoes", "I want the red shoes") == WordErrors(words=3, insertions=2, turns=1)
    assert compare("now", "thanks a lot") == WordErrors(words=1, substitutions=1, insertions=2, turns=1)
    assert compare("now", "thanks a lot").rate == 3.0


def test_a_rate_over_nothing_is_none() -> None:
    assert compare("um", "").rate is None
    assert compare("", "").rate is None
    assert WordErrors().rate is None
    assert compare("", "hello").insertions == 1


def test_each_side_is_pooled_by_words_and_what_was_not_transcribed_is_told() -> None:
    call = [
        turn(1, "agent", "Hello", "Hello"),
        turn(2, "user", "one two three four five six seven eight nine", "one two three four five six seven eight"),
        turn(3, "user", "yes", "no"),
        turn(4, "user", "never transcribed", None),
        turn(5, "user", "  ", None),
    ]
    errors = {side: wer.pooled(wer.of_turn(one) for one in call if one.side == side) for side in SIDES}
    assert errors["user"] == WordErrors(words=10, substitutions=1, deletions=1, turns=2, not_measured=1)
    assert errors["user"].rate == 0.2
    assert errors["agent"] == WordErrors(words=1, turns=1)
    assert wer.pooled(errors.values()).words == 11


def test_a_transcript_that_is_empty_loses_every_word_and_is_measured() -> None:
    assert wer.of_turn(turn(1, "user", "one two", "")) == WordErrors(words=2, deletions=2, turns=1)


def test_the_unheard_end_of_an_interrupted_turn_is_no_error() -> None:
    text = " ".join(f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyzabcd")
    cut = turn(1, "agent", text, " ".join(text.split()[:8]), interrupted=True)
    assert wer.of_turn(cut) == WordErrors(words=8, unheard=22, turns=1)
    assert wer.of_turn(turn(1, "agent", text, cut.heard)).deletions == 22


def test_an_interval_needs_two_parts_and_holds_the_rate() -> None:
    assert wer.interval([compare("one two", "one")]) is None
    assert wer.interval([]) is None
    parts = [compare("a b c d", "a b c d"), compare("a b c d", "a b x d"), compare("a b c d", "x b")]
    found = wer.interval(parts)
    rate = wer.pooled(parts).rate
    assert found is not None
    assert rate is not None
    assert 0.0 <= found.low < rate < found.high


def test_the_interval_covers_the_truth() -> None:
    dice = random.Random(3)  # noqa: S311
    covered = 0
    for _ in range(300):
        parts = []
        for _ in range(40):
            count = dice.randint(3, 20)
            parts.append(WordErrors(words=count, substitutions=sum(dice.random() < 0.1 for _ in range(count)), turns=1))
        found = wer.interval(parts)
        assert found is not None
        covered += found.low <= 0.1 <= found.high
    assert covered >= 270


def test_a_page_marks_the_words_as_they_are_written() -> None:
    assert differences("My order is hash W, two, three. Thanks", "My order is #W29. Thank") == [
        Difference("equal", "My order is", "My order is"),
        Difference("replace", "hash W, two, three.", "#W29."),
        Difference("replace", "Thanks", "Thank"),
    ]
    assert differences("W, two", "W2 please") == [
        Difference("equal", "W, two", "W2"),
        Difference("insert", "", "please"),
    ]
    assert differences("hi", "") == [Difference("delete", "hi", "")]
    assert differences("", "") == []
    assert differences("um", "uh") == [Difference("equal", "um", "uh")]


def test_differences_lose_no_word_of_either_text() -> None:
    dice = random.Random(11)  # noqa: S311
    vocabulary = [
        *("um", "W", "#W12,", "two", "twenty", "three.", "the", "red", "e-mail", "email", "$5.50", "double", "seven"),
        *("oh", "can't", "3", "shoes,", "21st", "dash", "and"),
    ]
    for _ in range(500):
        said, heard = (" ".join(dice.choices(vocabulary, k=dice.randint(0, 9))) for _ in range(2))
        found = differences(said, heard)
        assert pieces(" ".join(part.said for part in found)) == pieces(said)
        assert pieces(" ".join(part.heard for part in found)) == pieces(heard)
        assert all(part.op == "equal" for part in found) == (compare(said, heard).errors == 0)
        assert plain_words(said) == [word.text for word in words(said)]
