"""The stated rule for results too long for a model."""

import json

from bots.bridge.shorten import HEAD, MAX_CHARACTERS, TAIL, shorten


def test_a_result_of_ordinary_size_is_passed_on_as_it_is() -> None:
    result = {"orders": ["x" * 100] * 100}
    assert shorten(result) == (result, None)


def test_the_longest_allowed_result_is_whole_and_one_more_is_not() -> None:
    assert shorten("x" * MAX_CHARACTERS) == ("x" * MAX_CHARACTERS, None)
    short, rule = shorten("x" * (MAX_CHARACTERS + 1))
    assert len(short) < MAX_CHARACTERS
    assert rule is not None


def test_head_and_tail_of_the_json_stay_with_a_mark_between() -> None:
    result = [{"row": number, "city": "Zürich"} for number in range(5000)]
    text = json.dumps(result, ensure_ascii=False)
    short, rule = shorten(result)
    left_out = len(text) - HEAD - TAIL
    assert short == f"{text[:HEAD]}\n[... {left_out} of {len(text)} characters left out ...]\n{text[-TAIL:]}"
    assert rule == f"a result of {len(text)} characters was given to the model without its middle {left_out}"
