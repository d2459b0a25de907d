from itertools import combinations

import pytest

from scenarios.analysis.passk import pass_at_k, pass_k


def test_the_formula_is_by_combinations() -> None:
    assert pass_k([(3, 4)], 2).value == 0.5


@pytest.mark.parametrize(("passes", "total", "k"), [(0, 3, 2), (2, 5, 2), (4, 6, 3), (5, 5, 5), (1, 4, 1)])
def test_it_is_the_share_of_draws_in_which_all_pass(passes: int, total: int, k: int) -> None:
    draws = list(combinations([True] * passes + [False] * (total - passes), k))
    assert pass_k([(passes, total)], k).value == pytest.approx(sum(map(all, draws)) / len(draws))


def test_it_is_averaged_over_scenarios() -> None:
    result = pass_k([(4, 4), (0, 4), (2, 4)], 2)
    assert result.value == pytest.approx((1 + 0 + 1 / 6) / 3)
    assert (result.scenarios, result.left_out, result.reason) == (3, 0, "")


def test_more_than_was_run_is_blank_with_the_reason() -> None:
    result = pass_k([(2, 2), (1, 2)], 4)
    assert result.value is None
    assert result.reason == "needs 4 scored trials of a scenario; there are at most 2"
    assert pass_k([], 1).value is None


def test_a_scenario_with_a_missing_trial_is_left_out_and_counted() -> None:
    result = pass_k([(4, 4), (3, 3)], 4)
    assert (result.value, result.scenarios, result.left_out) == (1.0, 1, 1)
    assert result.reason == "1 scenarios have fewer than 4 scored trials"


def test_k_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="k of 1 or more, not 0"):
        pass_k([(1, 1)], 0)


def test_the_value_falls_with_k() -> None:
    values = [pass_k([(3, 4), (2, 4), (4, 4)], k).value for k in range(1, 6)]
    assert values[-1] is None
    numbers = [value for value in values if value is not None]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] == pytest.approx(0.75)


@pytest.mark.parametrize(("passes", "total", "k"), [(0, 3, 2), (2, 5, 2), (1, 4, 3), (5, 5, 5)])
def test_pass_at_k_is_the_share_of_draws_in_which_any_passes(passes: int, total: int, k: int) -> None:
    draws = list(combinations([True] * passes + [False] * (total - passes), k))
    assert pass_at_k([(passes, total)], k).value == pytest.approx(sum(map(any, draws)) / len(draws))


def test_pass_at_k_leaves_out_as_the_other_does() -> None:
    assert pass_at_k([(2, 2)], 4).reason == "needs 4 scored trials of a scenario; there are at most 2"
    assert (pass_at_k([(1, 4), (3, 3)], 4).value, pass_at_k([(1, 4), (3, 3)], 4).left_out) == (1.0, 1)
