import json
import math

import pytest

from scenarios.formats.exports.text import Cleaner, shortened, xml_text
from tests.scenarios.formats.exports.samples import NASTY
from tests.scenarios.formats.records import RUN

CLEAN = Cleaner(("top-secret-value", ""))


def test_secrets_are_taken_out_wherever_they_stand() -> None:
    value = {"a top-secret-value b": ["x", {"y": "top-secret-value"}], "n": 1}
    assert CLEAN.value(value) == {"a [REDACTED] b": ["x", {"y": "[REDACTED]"}], "n": 1}


def test_a_secret_with_characters_that_json_escapes_is_found() -> None:
    assert Cleaner(('a"b\\c',)).json({"key": 'is a"b\\c'}) == b'{"key":"is [REDACTED]"}'


def test_a_run_knows_its_secrets() -> None:
    assert Cleaner.of(RUN).text("top-secret-value") == "[REDACTED]"


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_has_not_are_null(number: float) -> None:
    assert CLEAN.json([number, 1.5]) == b"[null,1.5]"


def test_json_is_utf8_and_reads_back() -> None:
    assert json.loads(CLEAN.json({"text": NASTY}))["text"] == NASTY.replace("\ud800", "?")


def test_names_that_are_no_texts_become_texts() -> None:
    assert CLEAN.value({1: (True, None)}) == {"1": [True, None]}


def test_what_xml_may_not_hold_is_replaced() -> None:
    assert xml_text("a\x00b\x1f\ufffe\uffff\ud800 é😀\n\t") == "a\ufffdb\ufffd\ufffd\ufffd\ufffd é😀\n\t"


def test_long_texts_say_how_much_is_missing() -> None:
    assert shortened("abc", 3) == "abc"
    assert shortened("x" * 5000, 10) == "x" * 10 + "… (4,990 more characters)"
