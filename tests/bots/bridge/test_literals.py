"""A history as text of Python literals: read without evaluating, or refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.bridge.theirs.literals import NotALiteral, read_literal

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
)


@given(PLAIN)
def test_what_repr_writes_is_read_back(value: Any) -> None:
    assert read_literal(repr(value)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[{'role': 'user', 'content': \"it's 5 o'clock\"}]", [{"role": "user", "content": "it's 5 o'clock"}]),
        ('[{"role": "user"}]', [{"role": "user"}]),
        ("('a', 1.5, -2, True, None)", ["a", 1.5, -2, True, None]),
        ("(1,)", [1]),
        (r"'\u00eb\x41\U0001F600\n\\'", "\u00ebA\U0001f600\n\\"),
    ],
)
def test_literals(text: str, value: Any) -> None:
    assert read_literal(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "[x for x in (1, 2)]",
        "[1, 2",
        "{'a': open('/etc/passwd')}",
        "<LLMMessage object at 0x7f>",
        "'unclosed",
        "f'{1}'",
        "1 + 1",
        "",
        "(" * 200_000,
    ],
)
def test_whatever_is_no_literal_is_refused(text: str) -> None:
    with pytest.raises(NotALiteral):
        read_literal(text)


def test_a_long_history_is_read_whole() -> None:
    assert len(read_literal(repr([{"role": "user", "content": "it's " * 20}] * 8_000))) == 8_000
