"""Spoken identifiers: 200 and more labelled strings, and every identifier of the benchmarks spelled by dice."""

import random
from collections.abc import Iterator

import pytest

from scenarios import domains
from scenarios.analysis.speech import shapes
from scenarios.analysis.speech.readings import NATO
from scenarios.analysis.speech.spoken import compact, find, spelled

DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
SIGNS = {"#": "hash", "_": "underscore", "-": "dash", "@": "at", ".": "dot"}

WHOLE = [
    ("it's hash W two three seven eight one five six", "#W2378156"),
    ("#W-2378156 please", "#W2378156"),
    ("w2378156", "#W2378156"),
    ("W too three seven ate one five sex", "#W2378156"),
    ("It is hatched W, 2, 3, 7, 8, 1, 5, 6.", "#W2378156"),
    ("W, twenty three, seventy eight, one fifty six", "#W2378156"),
    ("W as in whisky, two three seven eight, um, one five six", "#W2378156"),
    ("whiskey two three seven eight one five six", "#W2378156"),
    ("double you two three seven eight one five six", "#W2378156"),
    ("the number is 237 81 56 with a W before it, so W 237 81 56", "#W2378156"),
    ("W far three seven ate one five sex", "#W4378156"),
    ("yusuf underscore rossi underscore nine six two zero", "yusuf_rossi_9620"),
    ("Y, U, S, U, F, underscore, R, O, double S, I, underscore, 9, 6, 2, oh", "yusuf_rossi_9620"),
    ("Yusuf_Rossi_9620", "yusuf_rossi_9620"),
    ("john dot doe at example dot com", "john.doe@example.com"),
    ("john.doe@example.com", "john.doe@example.com"),
    ("M, I, A, dot, garcia, two seven two three, at example dot com", "mia.garcia2723@example.com"),
    ("be see are you why tea", "BCRUYT"),
    ("Yes, capital E, P, X, Y, E, K", "EPXYEK"),
    ("echo papa x-ray yankee echo kilo", "EPXYEK"),
    ("E as in echo, P for papa, X, Y, E like elephant, K", "EPXYEK"),
    ("zed, F, A, oh, four", "ZFA04"),
    ("double you, double five, x-ray", "W55X"),
    ("five five five, dash, one two three, dash, two thousand two", "555-123-2002"),
    ("triple five, one two three, two double oh two", "555-123-2002"),
    ("the zip code is one nine one double two, thanks", "19122"),
    ("zip nineteen one twenty two", "19122"),
    ("nine, six, nine, oh, two four four, two five eight", "9690244258"),
    ("B as in bravo, one two, K, D.", "B12KD"),
    ("see one oh oh one", "C1001"),
    ("see one thousand one", "C1001"),
    ("H, A, T, zero, zero, five", "HAT005"),
    ("credit card nine five one three nine two six", "credit_card_9513926"),
    ("credit underscore card underscore nine five one three nine two six", "credit_card_9513926"),
]
WRONG = [
    ("W two three seven eight one five seven", "#W2378156", "w2378157", 1),
    ("W two three seven eight one five", "#W2378156", "w237815", 1),
    ("W two three seven eight one five six six", "#W2378156", "w23781566", 1),
    ("V two three seven eight one five six", "#W2378156", "v2378156", 1),
    ("W three two seven eight one five six", "#W2378156", "w3278156", 2),
    ("five five five oh one four three", "5550142", "5550143", 1),
    ("E, B, X, Y, E, K", "EPXYEK", "ebxyek", 1),
    ("D, B, X, Y, E, K", "EPXYEK", "dbxyek", 2),
    ("one nine one two three", "19122", "19123", 1),
]
NOT_THERE = [
    ("I want a lamp", "#W2378156"),
    ("I'd like to change my order for two shoes", "#W2378156"),
    ("", "#W2378156"),
    ("five five one nine one two two seven eight eight", "19122"),
    ("W nine nine nine nine nine nine nine", "#W2378156"),
    ("are you there? I am, too.", "EPXYEK"),
    ("...", "C1001"),
]


@pytest.mark.parametrize(("utterance", "identifier"), WHOLE)
def test_an_identifier_is_found_whichever_way_it_is_said(utterance: str, identifier: str) -> None:
    reading = find(utterance, identifier)
    assert reading is not None
    assert reading.is_exact
    assert reading.text == compact(identifier)


@pytest.mark.parametrize(("utterance", "identifier", "text", "distance"), WRONG)
def test_a_wrong_one_is_found_with_what_it_reads_as(utterance: str, identifier: str, text: str, distance: int) -> None:
    reading = find(utterance, identifier)
    assert reading is not None
    assert (reading.text, reading.distance) == (text, distance)


@pytest.mark.parametrize(("utterance", "identifier"), NOT_THERE)
def test_what_is_no_attempt_is_none(utterance: str, identifier: str) -> None:
    assert find(utterance, identifier) is None


@pytest.mark.parametrize(
    ("utterance", "runs"),
    [
        ("It is B as in bravo, one two, K, D.", ["B12KD"]),
        ("hash W as in whisky, double seven, triple oh, nine", ["#W770009"]),
        ("order number W 2 3", ["#W23"]),
        ("five five five dash one two three", ["555-123"]),
        ("papa X-ray. And my zip is one nine one two two.", ["PX", "19122"]),
        ("nothing here", []),
        ("", []),
    ],
)
def test_spelled_runs_are_read_without_knowing_what_to_expect(utterance: str, runs: list[str]) -> None:
    assert spelled(utterance) == runs


def test_an_identifier_without_characters_is_refused() -> None:
    with pytest.raises(ValueError, match="no letters or digits"):
        find("hello", "#-")


def spell(identifier: str, dice: random.Random) -> str:
    """Say an identifier character by character, in one of the ways in which people do."""
    said = []
    position = 0
    while position < len(identifier):
        character, position = identifier[position], position + 1
        if character.isdecimal() and identifier[position : position + 1] == character and dice.random() < 0.5:
            said.append(f"double {DIGITS[int(character)]}")
            position += 1
        elif character == "0":
            said.append(dice.choice(["zero", "oh", "0"]))
        elif character.isdecimal():
            said.append(dice.choice([DIGITS[int(character)], character]))
        elif character.isalpha():
            word = next(word for word, letter in NATO.items() if letter == character.lower())
            said.append(dice.choice([character.upper(), f"{character.upper()} as in {word}", word]))
        else:
            said.append(SIGNS[character])
    return dice.choice([", ", " "]).join(said)


def identifiers_of_the_benchmarks() -> Iterator[str]:
    for domain in domains.load().values():
        if domain.missing_data() is None:
            for spec in domain.scenarios():
                for action in spec.gold_actions:
                    found = (shapes.of_value(value) for _, value in shapes.leaves(action.arguments))
                    yield from (one.text for one in found if one is not None and one.kind != "date")


def test_every_identifier_of_the_domains_survives_being_spelled_and_a_wrong_digit_shows() -> None:
    dice = random.Random(5)  # noqa: S311
    every = list(dict.fromkeys(identifiers_of_the_benchmarks()))
    wanted = dice.sample(every, min(len(every), 200))
    for identifier in wanted:
        reading = find(f"Sure, that is {spell(identifier, dice)}. Anything else?", identifier)
        assert reading is not None, identifier
        assert reading.is_exact, identifier
        places = [place for place, character in enumerate(identifier) if character.isdecimal()]
        if places:
            place = dice.choice(places)
            other = str((int(identifier[place]) + dice.randint(1, 9)) % 10)
            wrong = identifier[:place] + other + identifier[place + 1 :]
            reading = find(f"It is {spell(wrong, dice)} thank you", identifier)
            assert reading is not None, wrong
            assert reading.distance == 1, wrong
    assert len(wanted) >= 20


def test_a_very_long_turn_is_still_searched_whole() -> None:
    noise = "one two three four and then " * 400
    reading = find(f"{noise}. The order is W two three seven eight one five six.", "#W2378156")
    assert reading is not None
    assert reading.is_exact
