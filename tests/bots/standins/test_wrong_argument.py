"""Where a plausible wrong argument comes from."""

import pytest

from bots.standins.cue import cue
from bots.standins.wrong_argument import _swapped, plausible_wrong


def wrong(scenario: str) -> tuple[str, object]:
    found = plausible_wrong(cue(scenario))
    assert found is not None
    return found.argument, found.action.arguments[found.argument]


def test_a_sibling_in_the_database_comes_first() -> None:
    assert wrong("frontdesk__minibar_refund") == ("charge_id", "C2")


@pytest.mark.usefixtures("benchmarks")
@pytest.mark.parametrize(
    ("scenario", "argument"),
    [
        ("tau2_retail__11", "payment_method_id"),  # another of the user's
        ("tau2_retail__0", "new_item_ids"),  # another variant of the product
        ("tau2_retail__17", "zip"),  # two digits swapped
        ("tau2_retail__2", "item_ids"),  # one too few
        ("tau2_retail__38", "reason"),  # the other reason
    ],
)
def test_the_wrong_argument_is_of_a_kind_that_the_tool_accepts(scenario: str, argument: str) -> None:
    assert wrong(scenario)[0] == argument


@pytest.mark.usefixtures("benchmarks")
def test_values_that_only_the_tool_offers_come_last() -> None:
    assert wrong("tau2_telecom__mobile_data_issue__airplane_mode_on__bad_network_preference__hard") == (
        "mode",
        "4g_only",
    )


def test_a_scenario_without_a_write_has_none() -> None:
    assert plausible_wrong(cue("frontdesk__second_thoughts")) is None


@pytest.mark.parametrize(
    ("value", "swapped"),
    [("98193", "98139"), ("1100", "1010"), (54, 45), ("Elm 12b", "Elm 21b"), ("111", "111"), ("Elm", "Elm"), (7, 7)],
)
def test_the_last_two_unlike_digits_are_swapped(value: str | int, swapped: str | int) -> None:
    assert _swapped(value) == swapped


@pytest.mark.parametrize("value", [True, None, 1.5, ["12"], {"a": 12}])
def test_other_values_are_left_alone(value: object) -> None:
    assert _swapped(value) == value
