import random
from itertools import product

import pytest
from scipy.stats import binomtest

from scenarios.analysis import signflip
from scenarios.analysis.signflip import holm, sign_flip


def by_hand(values: list[int]) -> float:
    """Try every choice of signs."""
    sums = [
        abs(sum(s * v for s, v in zip(signs, values, strict=True))) for signs in product((1, -1), repeat=len(values))
    ]
    return sum(total >= abs(sum(values)) for total in sums) / len(sums)


@pytest.mark.parametrize("newly_failing", [0, 1, 3, 7, 40])
@pytest.mark.parametrize("newly_passing", [0, 1, 5, 12, 250])
def test_one_trial_a_scenario_is_exact_mcnemar(newly_failing: int, newly_passing: int) -> None:
    differences = [-1] * newly_failing + [1] * newly_passing + [0] * 9
    p, method = sign_flip(differences)
    if newly_failing + newly_passing:
        assert p == pytest.approx(binomtest(newly_passing, newly_failing + newly_passing).pvalue, rel=1e-12)
        assert method == "exact McNemar"
    else:
        assert (p, method) == (1.0, "no scenario differs")


def test_every_choice_of_signs_is_counted() -> None:
    rng = random.Random(4)
    for _ in range(60):
        values = [rng.randint(-4, 4) for _ in range(rng.randint(1, 11))]
        assert sign_flip(values, 4)[0] == pytest.approx(by_hand(values))


def test_the_unit_changes_the_name_alone() -> None:
    assert sign_flip([4, 4, -4], 4) == sign_flip([1, 1, -1], 1)
    assert sign_flip([2, 2, -2], 4) == (sign_flip([1, 1, -1])[0], "exact sign test")


def test_drawn_values_are_near_the_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(5)
    values = [rng.choice([-3, -2, -1, 0, 1, 2, 3]) for _ in range(200)] + [4] * 4
    exact, method = sign_flip(values, 4)
    assert method == "exact sign-flip permutation"
    monkeypatch.setattr(signflip, "_EXACT_BYTES", 0)
    drawn, method = sign_flip(values, 4)
    assert method == "sign-flip permutation, seeded draws"
    assert 0.01 < exact < 0.9
    assert drawn == pytest.approx(exact, abs=0.02)
    rng.shuffle(values)
    assert sign_flip(values, 4)[0] == drawn


def test_so_many_scenarios_are_drawn_and_never_give_zero() -> None:
    p, method = sign_flip([4, 3, -2] * 1000, 4)
    assert method == "sign-flip permutation, seeded draws"
    assert 0 < p < 0.001


def test_thousands_of_flips_one_way_do_not_overflow() -> None:
    assert sign_flip([-1] * 5000)[0] == 0.0
    assert sign_flip([1, -1] * 2500)[0] == 1.0


def test_holm_steps_down_in_order_of_size() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
