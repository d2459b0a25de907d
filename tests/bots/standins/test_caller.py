"""The scripted caller: what it says to what it hears."""

from typing import Any

import pytest

from bots.standins import caller
from bots.standins.caller import first_person, part
from bots.standins.wire import ChatRequest, Message
from scenarios.domains.base import CallerBrief

BRIEF = CallerBrief(
    goal="You want to return your lamp (do not say why). You also want to know your balance; you are in a hurry.",
    known_info="You are Ada Byron. Your zip code is 12345.",
    unknown_info="You do not remember your email address",
)


def line(heard: str, said: tuple[str, ...] = ("Hello.",), brief: CallerBrief = BRIEF) -> str:
    messages = [Message("system", "You are a caller.")]
    for own in said:
        messages += [Message("user", "Go on."), Message("assistant", own)]
    request = ChatRequest("standin-caller:x", (*messages, Message("user", heard)), False, False, 0)
    return caller.reply(brief, request).text


@pytest.mark.parametrize(
    ("brief", "spoken"),
    [
        ("You want your money.", "I want my money."),
        ("You are Ada. You're late, and you've called before.", "I am Ada. I am late, and I have called before."),
        ("If the agent asks you, tell them. you agree.", "If the agent asks me, tell them. I agree."),
        ("You name is Ada and your bag is yours.", "My name is Ada and my bag is mine."),
        ("You want it (do not reveal this).", "I want it."),
        ("", ""),
    ],
)
def test_a_brief_is_told_in_the_first_person(brief: str, spoken: str) -> None:
    assert first_person(brief) == spoken


def test_the_first_line_is_the_reason_of_the_call() -> None:
    assert line("Hello, how can I help you?", said=()) == "Hello. I want to return my lamp."


def test_the_rest_of_the_reason_follows_sentence_by_sentence() -> None:
    second = line("Let me have a look.")
    third = line("Let me have a look.", said=("Hello.", second))

    assert second == "I also want to know my balance."
    assert third == "I am in a hurry."


@pytest.mark.parametrize("question", ["May I have your name, please?", "Could you verify your account?", "Your ZIP?"])
def test_it_says_who_it_is_when_asked(question: str) -> None:
    assert line(question) == "I am Ada Byron. My zip code is 12345."


def test_asked_again_it_does_not_remember_what_it_does_not_know() -> None:
    again = line("And your e-mail address?", said=("Hello.", "I am Ada Byron. My zip code is 12345."))

    assert again == "I do not remember my email address."


def test_without_anything_unknown_it_still_does_not_invent() -> None:
    brief = CallerBrief(goal="You want help.", known_info="You are Ada.")

    assert "do not remember" in line("Your email?", said=("Hello.", "I am Ada."), brief=brief)


@pytest.mark.parametrize("question", ["Shall I go ahead?", "Do you confirm this?", "Should I cancel it then?"])
def test_it_consents(question: str) -> None:
    assert line(question).startswith("Yes")


def test_it_wants_nothing_else() -> None:
    assert line("Is there anything else?").startswith("No")


@pytest.mark.parametrize("farewell", ["Goodbye!", "Thank you and good bye.", "Anything else? If not, goodbye."])
def test_it_answers_a_goodbye_with_more_than_a_word(farewell: str) -> None:
    answer = line(farewell)

    assert "Goodbye" in answer
    assert len(answer.split()) > 3


def test_it_repeats_itself_when_it_was_not_understood() -> None:
    assert line("I did not catch that.", said=("Hello.", "I want my lamp.")) == "I want my lamp."


def test_when_it_has_said_all_it_keeps_the_talk_going_in_different_words() -> None:
    said: list[str] = ["Hello.", *part(BRIEF).reasons]
    for _ in range(5):
        said.append(line("One moment.", said=tuple(said)))

    assert len(set(said)) == len(said)


def test_a_brief_without_a_goal_still_gets_a_caller() -> None:
    assert line("Hello?", said=(), brief=CallerBrief(goal="")) == "Hello. I need some help, please."


@pytest.mark.parametrize("name", ["frontdesk", "tau2_retail"])
def test_every_scenario_has_a_caller_who_speaks_as_itself(name: str, request: pytest.FixtureRequest) -> None:
    from scenarios.domains import load

    if name != "frontdesk":
        request.getfixturevalue("benchmarks")
    lines: list[Any] = [part(spec.caller) for spec in load()[name].scenarios()]

    assert len(lines) >= 12
    assert all(played.opening.startswith("Hello. ") and len(played.opening) > 12 for played in lines)
    spoken = [text for played in lines for text in (played.opening, *played.reasons, played.identity)]
    assert [text for text in spoken if text.startswith(("You ", "Your "))] == []


def spoken(heard: str, said: tuple[str, ...] = ("Hello.",)) -> str:
    brief = CallerBrief(goal="You want to return order #W12. It is W1234567.", known_info="Your zip code is 12345.")
    messages = [Message("system", "You are a caller.")]
    for own in said:
        messages += [Message("user", "Go on."), Message("assistant", own)]
    request = ChatRequest("standin-caller+voice:x", (*messages, Message("user", heard)), False, False, 0)
    return caller.reply(brief, request, spells=True).text


def test_on_the_telephone_it_spells() -> None:
    assert spoken("May I have your name, please?") == "My zip code is one, two, three, four, five."
    assert spoken("Go on.") == "It is W, one, two, three, four, five, six, seven."
    assert spoken("Your zip?", said=("Hello.", "My zip code is one, two, three, four, five.")) == (
        "I am sorry, I do not remember that."
    )


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ("I am sorry, I did not catch the zip. Could you spell it for me, please?", "My zip code is one, two, three"),
        ("I'm sorry, I didn't catch the order ID, could you spell it?", "Hello. I want to return order hash, W, one"),
        ("I did not catch the whole thing.", "Hello."),  # of nothing it has: what it said last
    ],
)
def test_asked_again_it_says_the_line_that_spells_it(asked: str, line: str) -> None:
    assert spoken(asked).startswith(line)
