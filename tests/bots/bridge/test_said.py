"""What is taken out of a model's text before anybody hears it."""

import pytest

from bots.bridge.said import clean


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<|channel|>analysis the user wants... <|end|> Okay, thanks.", "Okay, thanks."),
        ("<|channel|>final<|message|>Your order is on its way.", "Your order is on its way."),
        ("<|im_start|>assistant\nHello.<|im_end|>", "Hello."),
        ("<|start_header_id|>assistant<|end_header_id|>\n\nHello.<|eot_id|>", "Hello."),
        ("<think>She wants a refund.\nHm.</think>\nOf course.", "Of course."),
        ("Goodbye!<|im_end|>", "Goodbye!"),
        ("<s>[INST] Hello </s>", "Hello"),
        ("Sure.<end_of_turn><eos>", "Sure."),
        ("Ring\x07 the bell\x00", "Ring the bell"),
        ("Yes, please do. <stop>", "Yes, please do."),
        ("Yes, please do. ###STOP###", "Yes, please do."),
        ("###TRANSFER###", ""),
    ],
)
def test_tokens_and_control_characters_go_and_the_raw_text_stays(text: str, said: str) -> None:
    """B14, B17: neither spoken nor an end of the call; the agent gets the turn."""
    assert clean(text) == (said, text)


def test_a_final_channel_is_what_was_said() -> None:
    text = "<|channel|>analysis Hm.<|end|><|start|>assistant<|channel|>final<|message|>On its way.<|return|>"
    assert clean(text) == ("On its way.", text)


@pytest.mark.parametrize(
    "text",
    [
        "a < b | c > d, and 3 <| 4",
        "Your code is <ABC>.",
        "<script>alert(1)</script>",
        "First line\nsecond\tcolumn",
        "I think</think> so",
    ],
)
def test_text_that_only_looks_like_it_is_left_alone(text: str) -> None:
    assert clean(text) == (text, None)


def test_outer_white_space_is_no_difference_worth_keeping() -> None:
    assert clean("\n Hello there. \r\n") == ("Hello there.", None)
    assert clean(" \n\t ") == ("", None)
