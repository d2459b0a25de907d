import pytest

from scenarios.scoring.json_text import DuplicateKey, Found, json_in


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", []),
        ("no json here", []),
        ('{"a": 1}', [{"a": 1}]),
        ('first {"a": 1} then [2, 3] last', [{"a": 1}, [2, 3]]),
        ('{"a": {"b": [1, {"c": 2}]}}', [{"a": {"b": [1, {"c": 2}]}}]),
        ('```json\n{"a": 1}\n```', [{"a": 1}]),
        ('{broken {"a": 1}', [{"a": 1}]),
        ('{"a": "}{"}', [{"a": "}{"}]),
        ("{'a': 1}", []),
        ('"{}"', [{}]),
    ],
)
def test_outermost_values_are_found_in_order(text: str, values: list[object]) -> None:
    assert [found.value for found in json_in(text)] == values


def test_the_very_text_of_a_value_comes_with_it() -> None:
    assert json_in('so: { "a" : 1 } .') == [Found({"a": 1}, '{ "a" : 1 }')]


@pytest.mark.parametrize(
    "text", ['<think>{"a": 0}</think>{"a": 1}', ' \n<thinking>[1]\n</thinking>\n{"a": 1}', '<think></think>{"a": 1}']
)
def test_a_leading_thought_is_passed_over(text: str) -> None:
    assert [found.value for found in json_in(text)] == [{"a": 1}]


def test_a_thought_in_the_middle_is_text_like_any_other() -> None:
    assert len(json_in('{"a": 1}<think>{"a": 2}</think>')) == 2


def test_a_thought_that_never_ends_hides_nothing() -> None:
    assert [found.value for found in json_in('<think>{"a": 1}')] == [{"a": 1}]


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": 1, "a": 1}', 'x {"b": {"a": 1, "a": 2}} y'])
def test_a_key_that_is_given_twice_is_refused_by_name(text: str) -> None:
    with pytest.raises(DuplicateKey, match="'a' occurs twice"):
        json_in(text)


def test_text_full_of_brackets_ends_soon() -> None:
    assert json_in("[" * 200_000) == []
    assert json_in("{" * 200_000 + '{"a": 1}') == []
