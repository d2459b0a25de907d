"""Plain sentences of two authors: the same data is the same answer, other data is another."""

import pytest

from scenarios.conformance.compare import Problems
from scenarios.conformance.sentences import is_sentence, says_the_same

BAR = "Status Bar: 📶³ Good | 5G | 📱 Data Enabled | 🔋 80%"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Airplane Mode is now ON.", "airplane mode has been turned on"),
        ("Mobile Data Enabled: Yes", "Data may be used: on"),
        ("Payment of 150.0 USD has been made for bill B1002.", "You paid $150 for B1002"),
        ("No payment request has been made.", "There is no request."),
        ("You cannot send MMS.", "MMS: not possible."),
        ("Result: 0.05 Mbps (Very Poor).", "0.050 Mbps, which is very poor"),
        ("Details: {'address': '10.0.0.1', 'performance': 'poor'}", "Server 10.0.0.1, poor."),
        ("Permission 'sms' granted to app 'messaging'.", "The permission sms is given to messaging."),
        ("The apps on the phone: messaging, browser", "Installed: messaging and browser"),
        (BAR, "Top of the screen: good | 5G | data are on | 80 percent"),
        # The reference's own words (real runs of tau2): the label again, in what it is good for.
        (
            "Speed Test Result: 55.00 Mbps (Good). Connection is good for most activities, including HD streaming.",
            "Speed test: 55.00 Mbps (Good). Pages and video run well.",
        ),
    ],
)
def test_wording_does_not_matter(one: str, other: str) -> None:
    assert says_the_same(one, other)
    assert says_the_same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Airplane Mode is now ON.", "Airplane Mode is now OFF."),
        (BAR, BAR.replace("Good", "Fair")),
        (BAR, BAR.replace("5G", "4G")),
        (BAR, BAR.replace("Enabled", "Disabled")),
        (BAR, BAR.replace("80", "8")),
        (BAR, BAR.replace(" | 🔋", " | 🔽 Data Saver | 🔋")),
        (BAR, BAR.replace(" | 📱 Data Enabled", "")),
        ("Paid 150.0 USD for B1002.", "Paid 150.01 USD for B1002."),
        ("Paid 150.0 USD for B1002.", "Paid 150.0 USD for B1003."),
        ("Signal: good\nSpeed: poor", "Signal: poor\nSpeed: good"),
        ("Roaming Enabled: Yes\nMobile Data Enabled: Yes", "Roaming Enabled: Yes"),
        ("Result: 55.00 Mbps (Good). It is good.", "Result: 55.00 Mbps (Good). It is fair."),
        ("Speed: poor now", "Speed: very poor now"),
        ("You can send MMS.", "You cannot send MMS."),
        ("It is locked with a PIN.", "It is locked with a PUK."),
        ("The mode is 4g_only.", "The mode is 3g_only."),
        ("The address is http://a.example/x", "The address is http://a.example/y"),
        ("The permissions of browser: storage, network", "The permissions of browser: storage"),
    ],
)
def test_data_does(one: str, other: str) -> None:
    assert not says_the_same(one, other)


@pytest.mark.parametrize(
    ("value", "is_one"), [("Two words", True), ("8.0", False), (" x ", False), (3, False), (None, False)]
)
def test_what_a_sentence_is(value: object, is_one: bool) -> None:
    assert is_sentence(value) is is_one


@pytest.mark.parametrize(
    ("expected", "got", "count"),
    [
        ("Roaming enabled successfully", "Roaming is now enabled.", 0),
        ("Roaming enabled successfully", "Roaming is now disabled.", 1),
        ("available", "delayed", 1),
        ("Roaming enabled successfully", {"roaming": True}, 1),
        ("Roaming enabled successfully", None, 1),
        ({"text": "two words"}, {"text": "other words"}, 1),
        ({"a": 2}, {"a": 2.0}, 0),
    ],
)
def test_results_that_are_no_sentences_have_to_be_equal(expected: object, got: object, count: int) -> None:
    problems = Problems()
    problems.expect_result(expected, got)
    assert len(problems) == count
