"""The gate on true positive and true negative rate, and how many labels are missing."""

from itertools import chain

import pytest

from scenarios.analysis.agreement import Label, agreement
from scenarios.analysis.intervals import wilson
from scenarios.analysis.judge_trust import GATE, MAX_LABELS, Trust, labels_for, trust


def made(both_pass: int, false_fail: int, both_fail: int, false_pass: int) -> Trust:
    """Return the trust in a judge with these counts, each item labelled by one person."""
    cells = (
        (both_pass, True, "pass"),
        (false_fail, False, "pass"),
        (both_fail, False, "fail"),
        (false_pass, True, "fail"),
    )
    rows = list(chain.from_iterable([(judge, people)] * count for count, judge, people in cells))
    labels = [Label(str(n), "ann", people) for n, (_, people) in enumerate(rows)]  # type: ignore[arg-type]
    return trust(agreement(labels, {str(n): judge for n, (judge, _) in enumerate(rows)}))


def test_both_rates_have_to_reach_the_gate_at_their_lower_bound() -> None:
    found = made(40, 1, 39, 2)
    assert found.state == "trusted"
    assert (found.passes.missing, found.fails.missing) == (0, 0)


def test_a_judge_that_passes_everything_is_not_trusted() -> None:
    found = made(90, 0, 0, 30)
    assert found.state == "not_trusted"
    assert found.passes.is_met
    assert found.fails.is_lost
    assert found.fails.missing is None


def test_without_labels_nothing_is_decided_and_the_least_number_is_said() -> None:
    found = made(0, 0, 0, 0)
    assert found.state == "open"
    assert found.passes.missing == found.fails.missing == labels_for(1.0) == 16


def test_missing_labels_are_beside_those_there_are() -> None:
    found = made(9, 1, 9, 1)
    assert found.state == "open"
    needed = labels_for(0.9)
    assert needed is not None
    assert found.passes.missing == found.fails.missing == needed - 10


def test_a_rate_near_the_gate_is_open_but_no_number_of_labels_helps() -> None:
    found = made(8, 2, 20, 0)
    assert found.state == "open"
    assert found.passes.missing is None
    assert not found.passes.is_lost


@pytest.mark.parametrize("rate", [0.85, 0.9, 0.95, 1.0])
def test_the_number_is_the_least_that_does(rate: float) -> None:
    count = labels_for(rate)
    assert count is not None
    enough, before = wilson(rate * count, count), wilson(rate * (count - 1), count - 1)
    assert enough is not None
    assert before is not None
    assert enough.low >= GATE > before.low


@pytest.mark.parametrize("rate", [0.0, 0.8, 0.801])
def test_what_cannot_be_reached_has_no_number(rate: float) -> None:
    assert labels_for(rate) is None
    assert MAX_LABELS >= 1000
