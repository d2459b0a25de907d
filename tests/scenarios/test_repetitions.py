"""pass^k of a run, from its rows and from the stored multi-trial sets of real models."""

import pytest
from pytest_django import DjangoAssertNumQueries

from scenarios.importing import import_path
from scenarios.models import Trial
from scenarios.repetitions import repetitions
from tests.factories import make_run
from tests.scenarios.formats.imports.files import real

pytestmark = pytest.mark.django_db


def test_a_run_that_repeats_nothing_has_none() -> None:
    assert repetitions(make_run(3, 1, ["pass"])) is None


def test_tables_are_over_complete_scenarios_and_missing_trials_are_named() -> None:
    run = make_run(3, 2, ["pass", "pass", "fail", "fail", "pass", "infra_error"])
    found = repetitions(run)
    assert found is not None
    # toy__1 pass and fail, toy__2 pass twice, toy__3 fail and a call that broke.
    assert [(k, power.value, chance.value) for k, power, chance in found.rows] == [(1, 0.75, 0.75), (2, 0.5, 1.0)]
    assert {power.left_out for _, power, _ in found.rows} == {1}
    assert found.stability == {"flaky": 1, "stable_pass": 1, "incomplete": 1}
    assert found.flaky == ["toy__1"]
    assert found.missing == 1
    assert list(map(str, found.named)) == ["toy__3#2: infra_error"]


def test_an_open_trial_is_missing_not_failed() -> None:
    run = make_run(1, 2, ["pass", "queued"])
    found = repetitions(run)
    assert found is not None
    assert [power.value for _, power, _ in found.rows] == [None, None]
    assert list(map(str, found.named)) == ["toy__1#2: open"]


@pytest.mark.parametrize(("outcomes", "queries"), [(["pass", "fail", "fail"], 1), (["pass", "infra_error"], 2)])
def test_a_large_run_costs_a_query_and_one_to_name_what_is_missing(
    django_assert_num_queries: DjangoAssertNumQueries, outcomes: list[str], queries: int
) -> None:
    run = make_run(50, 4, outcomes)
    with django_assert_num_queries(queries):
        repetitions(run)
    assert Trial.objects.count() == 200


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("blakeelias-tau2-bench/grok-3_airline_4tasks_4trials.json.gz", [0.438, 0.25, 0.25, 0.25]),
        ("blakeelias-tau2-bench/grok-4_airline_4tasks_4trials.json.gz", [0.438, 0.208, 0.062, 0.0]),
        ("blakeelias-tau2-bench/grok-3-mini_airline_4tasks_4trials.json.gz", [0.062, 0.0, 0.0, 0.0]),
        ("blakeelias-tau2-bench/grok-3_airline_task1_20trials.json.gz", [0.2, 0.032, 0.004, 0.0, 0.0]),
        ("blakeelias-tau2-bench/grok-3_airline-tighter-policy_4tasks_4trials.json.gz", [0.562, 0.417, 0.312, 0.25]),
        ("sierra-tau2-bench/text/gpt-4.1_telecom-no-user_5tasks_4trials.json.gz", [0.8, 0.8, 0.8, 0.8]),
        ("sierra-tau-bench-v1/gpt-4o-airline.json.gz", [0.42, 0.273, 0.22, 0.2]),
    ],
)
def test_stored_sets_have_the_figures_of_their_readme(file: str, expected: list[float]) -> None:
    run = import_path(real(file)).run
    assert run is not None
    found = repetitions(run)
    assert found is not None
    values = [power.value for _, power, _ in found.rows][: len(expected)]
    assert values == [pytest.approx(value, abs=0.00051) for value in expected]
