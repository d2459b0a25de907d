import random

import pytest

from scenarios.analysis.trials import (
    MOST_TRIALS,
    LeftOut,
    Stability,
    TrialRow,
    gather,
    left_out,
    repetition_tables,
    stability_of,
)
from scenarios.scoring.results import OUTCOMES, RATED, Outcome


def rows(scenario: str, *outcomes: Outcome | None, run: str = "A") -> list[TrialRow]:
    return [TrialRow(scenario, number, outcome, run) for number, outcome in enumerate(outcomes, start=1)]


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        (("pass", "pass"), "stable_pass"),
        (("fail", "stalled"), "stable_fail"),
        (("pass", "stalled"), "flaky"),
        (("pass", "fail", "infra_error"), "flaky"),
        (("pass", "pass", "judge_error"), "incomplete"),
        (("fail", None), "incomplete"),
        (("cancelled",), "incomplete"),
        (("pass",), "once"),
        (("fail",), "once"),
    ],
)
def test_a_scenario_is_named_by_what_all_its_trials_show(outcomes: tuple[Outcome, ...], expected: Stability) -> None:
    assert gather(rows("a", *outcomes))["a"].stability == expected


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_only_rated_outcomes_count_and_the_others_are_named(outcome: Outcome) -> None:
    found = gather(rows("a", "pass", outcome))["a"]
    assert found.rated == (2 if outcome in RATED else 1)
    assert found.left_out == (() if outcome in RATED else (LeftOut("A", "a", 2, outcome),))


def test_runs_of_one_configuration_go_together() -> None:
    found = gather([*rows("a", "pass", run="A"), *rows("a", "fail", "pass", run="B")])["a"]
    assert (found.passes, found.rated, found.stability, found.left_out) == (2, 3, "flaky", ())


def test_a_trial_that_never_was_is_named_not_failed() -> None:
    found = gather([*rows("a", "pass", "pass", "pass"), *rows("b", "pass", "pass")], trials=4)
    assert [str(trial) for trial in left_out(found)] == [
        "a#4 of run A: absent",
        "b#3 of run A: absent",
        "b#4 of run A: absent",
    ]
    assert found["b"].rate == 1
    assert found["b"].stability == "incomplete"


def test_without_a_plan_the_longest_scenario_is_the_plan_of_its_run() -> None:
    found = gather([*rows("a", "pass", "pass"), *rows("b", "fail"), *rows("b", "fail", run="B")])
    assert left_out(found) == [LeftOut("A", "b", 2, "absent")]


def test_plans_go_by_run() -> None:
    found = gather([*rows("a", "pass"), *rows("a", "pass", run="B")], trials={"B": 2})
    assert left_out(found) == [LeftOut("B", "a", 2, "absent")]


def test_an_open_trial_is_told_from_an_absent_one() -> None:
    assert [trial.reason for trial in left_out(gather(rows("a", None), trials=2))] == ["open", "absent"]


def test_a_planned_scenario_without_any_row_is_all_absent() -> None:
    assert left_out(gather(rows("a", "pass"), scenarios=["a", "b"])) == [LeftOut("A", "b", 1, "absent")]
    nothing = gather([], trials=2, scenarios=["b"])["b"]
    assert (nothing.rate, nothing.stability, len(nothing.left_out)) == (None, "incomplete", 2)
    assert gather([]) == {}


def test_a_scenario_that_a_run_did_not_select_is_not_missing_there() -> None:
    found = gather([*rows("a", "pass", "pass"), *rows("b", "pass", "pass", run="B")])
    assert left_out(found) == []
    assert found["b"].stability == "stable_pass"


def test_one_trial_twice_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"trial 1 of a in run A comes twice"):
        gather([*rows("a", "pass"), *rows("a", "fail")])


@pytest.mark.parametrize("number", [0, -1, MOST_TRIALS + 1, 2**31])
def test_a_number_out_of_range_is_refused_by_name(number: int) -> None:
    with pytest.raises(ValueError, match=rf"trial {number} of a in run \(unnamed\) is not in 1 to"):
        gather([TrialRow("a", number, "pass")])


def test_the_order_of_rows_does_not_matter() -> None:
    rng = random.Random(3)
    everything = [row for name in "abcdef" for row in rows(name, *(rng.choice([*OUTCOMES, None]) for _ in range(5)))]
    expected = gather(everything)
    for _ in range(20):
        rng.shuffle(everything)
        assert list(gather(everything).items()) == list(expected.items())


def test_repetition_figures_take_complete_scenarios_only() -> None:
    found = gather(
        [
            *rows("a", "pass", "pass", "pass", "pass"),
            *rows("b", "pass", "pass", "pass", "fail"),
            *rows("c", "fail", "fail", "fail", "infra_error"),
        ]
    )
    all_pass, any_pass = repetition_tables(found, 5)
    assert [one.value for one in all_pass] == [0.875, 0.75, 0.625, 0.5, None]
    assert [one.value for one in any_pass] == [0.875, 1, 1, 1, None]
    assert {(one.scenarios, one.left_out) for one in all_pass[:4]} == {(2, 1)}
    assert all_pass[4].reason == "needs 5 scored trials of a scenario; there are at most 4"


@pytest.mark.parametrize(
    ("passes", "rated", "stability"),
    [(1, 1, "once"), (0, 1, "once"), (2, 2, "stable_pass"), (0, 2, "stable_fail"), (1, 2, "flaky"), (99, 100, "flaky")],
)
def test_counts_alone_tell_stable_from_flaky(passes: int, rated: int, stability: str) -> None:
    assert stability_of(passes, rated) == stability


@pytest.mark.parametrize(("passes", "rated"), [(0, 0), (3, 2), (-1, 2)])
def test_counts_that_cannot_be_are_refused(passes: int, rated: int) -> None:
    with pytest.raises(ValueError, match=f"{passes} passes of {rated} rated trials say nothing"):
        stability_of(passes, rated)
