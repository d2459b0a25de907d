import subprocess
import sys

import pytest
from scipy import stats

from scenarios.analysis.intervals import clustered, effective_size, forecast, wilson


@pytest.mark.parametrize(
    ("passes", "total"), [(0, 1), (1, 1), (0, 20), (20, 20), (2, 2), (57, 114), (108, 114), (3, 10_000)]
)
def test_wilson_agrees_with_scipy(passes: int, total: int) -> None:
    ours = wilson(passes, total)
    theirs = stats.binomtest(passes, total).proportion_ci(0.95, method="wilson")
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert 0 <= ours.low <= passes / total <= ours.high <= 1


def test_a_rate_over_nothing_has_no_interval() -> None:
    assert wilson(0, 0) is None
    assert clustered([]) is None
    assert clustered([(0, 0)]) is None


@pytest.mark.parametrize(("passes", "total"), [(3, 2), (-1, 5)])
def test_more_passes_than_trials_are_refused(passes: int, total: int) -> None:
    with pytest.raises(ValueError, match=f"{passes} passes of {total}"):
        wilson(passes, total)


def test_one_trial_a_scenario_is_plain_wilson() -> None:
    assert clustered([(1, 1)] * 60 + [(0, 1)] * 40) == wilson(60, 100)


def test_one_scenario_alone_is_plain_wilson() -> None:
    assert clustered([(7, 10)]) == wilson(7, 10)


def test_trials_that_always_agree_count_as_scenarios() -> None:
    groups = [(4, 4)] * 60 + [(0, 4)] * 40
    assert effective_size(groups) == pytest.approx(100 * (99 / 100) * (1.959963984540054 / stats.t.ppf(0.975, 99)) ** 2)
    narrow, wide = wilson(240, 400), clustered(groups)
    assert narrow is not None
    assert wide is not None
    assert wide.half_width == pytest.approx(2 * narrow.half_width, rel=0.03)


def test_independent_trials_lose_little() -> None:
    # Each scenario a fair coin thrown four times, in exactly the binomial shares.
    groups = [(0, 4)] * 6 + [(1, 4)] * 24 + [(2, 4)] * 36 + [(3, 4)] * 24 + [(4, 4)] * 6
    assert effective_size(groups) == pytest.approx(384, rel=0.05)


def test_a_spread_below_chance_never_counts_for_more_than_the_trials() -> None:
    assert effective_size([(1, 2)] * 50 + [(2, 2), (0, 2)]) <= 104


def test_all_passes_are_as_sure_as_the_number_of_scenarios() -> None:
    interval = clustered([(10, 10)] * 5)
    plain = wilson(5, 5)
    assert interval is not None
    assert plain is not None
    assert interval.high == 1
    assert interval.low <= plain.low


def test_the_forecast_is_widest_at_one_half_and_narrows_with_scenarios() -> None:
    half, high = forecast(114), forecast(114, rate=0.9)
    assert half is not None
    assert high is not None
    assert half.half_width == pytest.approx(0.0903, abs=0.0005)
    assert high.half_width < half.half_width
    assert forecast(0) is None
    with pytest.raises(ValueError, match="no forecast"):
        forecast(10, trials=0)


def test_importing_the_package_loads_no_numbers_library() -> None:
    modules = "scenarios.analysis.intervals, scenarios.analysis.passk, sys"
    code = f"import {modules}; print({{'scipy', 'numpy'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
