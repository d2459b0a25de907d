"""NaN and Infinity become null outside of texts, wherever the text is cut into pieces."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.formats.imports.finite import FiniteNumbers


def through(text: str, size: int) -> tuple[str, int]:
    data, finite = text.encode(), FiniteNumbers()
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    return b"".join(finite(pieces)).decode(), finite.replaced


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_only_numbers_are_replaced(size: int) -> None:
    text = r'{"a": NaN, "NaN": [-Infinity, Infinity,-Infinity], "b": "NaN \" Infinity \\", "c": NaN}'

    assert through(text, size) == (r'{"a": null, "NaN": [null, null,null], "b": "NaN \" Infinity \\", "c": null}', 5)


_VALUES = st.recursive(
    st.none() | st.floats() | st.text('aNIinfty\\"-', max_size=12) | st.booleans(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('NaI\\"', max_size=4), inner, max_size=4),
    max_leaves=12,
)


def finite_only(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: finite_only(item) for name, item in value.items()}
    if isinstance(value, list):
        return [finite_only(item) for item in value]
    return None if isinstance(value, float) and abs(value) in (float("inf"),) or value != value else value


@given(value=_VALUES, size=st.integers(1, 12))
def test_every_value_comes_out_as_it_was_but_for_those_numbers(value: Any, size: int) -> None:
    text, _ = through(json.dumps(value), size)

    assert json.loads(text, parse_constant=lambda name: pytest.fail(name)) == finite_only(value)
