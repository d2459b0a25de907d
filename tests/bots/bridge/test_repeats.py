"""When a talk counts as going round in circles."""

from bots.bridge.repeats import RepeatWatch
from scenarios.sides import Side

Line = tuple[Side, str, tuple[str, ...]]


def first_loop(lines: list[Line], limit: int) -> int | None:
    """Return the position of the turn at which a loop is seen."""
    watch = RepeatWatch(limit)
    return next((number for number, line in enumerate(lines) if watch.is_loop(*line)), None)


def exchange(agent: str, user: str, *tools: str) -> list[Line]:
    return [("agent", agent, tools), ("user", user, ())]


def test_twenty_byes_end_at_the_limit() -> None:
    """B39: a goodbye loop ends the call."""
    assert first_loop(exchange("Bye!", "Bye!") * 20, 3) == 5


def test_case_and_punctuation_do_not_make_a_difference() -> None:
    lines = exchange("Anything else?", "No.") + exchange("anything else", "no!")
    assert first_loop(lines, 2) == 3


def test_an_exchange_between_starts_the_count_again() -> None:
    lines = exchange("Hm?", "Yes.") * 2 + exchange("Who?", "Me.") + exchange("Hm?", "Yes.") * 2
    assert first_loop(lines, 3) is None


def test_tool_calls_make_the_same_words_another_turn() -> None:
    lines = [line for number in range(5) for line in exchange("Done.", "Next.", f"sell {number}")]
    assert first_loop(lines, 2) is None
    assert first_loop(exchange("Done.", "Next.", "sell 1") * 5, 2) == 3


def test_one_side_alone_makes_no_loop() -> None:
    lines = [line for number in range(9) for line in exchange(f"Option {number}?", "No.")]
    assert first_loop(lines, 2) is None
