"""Rates over runs, each configuration a series."""

from typing import Any

import pytest
from django.utils import timezone

from scenarios.configurations import alike, identities, identity
from scenarios.models import Finding, Run, Scenario
from scenarios.trends import trend
from tests.factories import make_run, make_scenarios
from tests.scenarios.test_configurations import agent

pytestmark = pytest.mark.django_db
LARGE: dict[str, Any] = {"agent": agent(model="large-model")}


def test_runs_of_a_configuration_are_one_series_oldest_first() -> None:
    scenarios = make_scenarios(2)
    runs = [
        make_run(scenarios, 1, ["pass", "fail"]),
        make_run(scenarios, 1, ["pass"], config=LARGE),
        make_run(scenarios, 2, ["pass"]),
    ]
    found = trend("toy")
    assert [point.run for point in found.points] == runs
    assert [(point.rate.passes, point.rate.total) for point in found.points] == [(1, 2), (2, 2), (4, 4)]
    assert found.series == ["careful: agent.model small-model", "careful: agent.model large-model"]
    assert [point.series for point in found.points] == [found.series[0], found.series[1], found.series[0]]


def test_an_agent_with_one_configuration_is_named_by_itself() -> None:
    make_run(1, 1, ["pass"])
    make_run(1, 1, ["pass"], config={"agent": agent(slug="bold")})
    assert trend("toy").series == ["careful", "bold"]


def test_a_name_tells_three_fields_and_counts_the_rest() -> None:
    make_run(1, 1, ["pass"])
    make_run(1, 1, ["pass"], config={**LARGE, "judge": None, "persona": True, "strictness": "upstream"})
    (first, second) = trend("toy").series
    assert first.endswith("more")
    assert "agent.model large-model" in second


def test_a_scenario_has_a_trend_of_its_own() -> None:
    scenarios = make_scenarios(2)
    make_run(scenarios, 2, ["pass", "fail", "pass", "pass"])
    make_run(scenarios[:1], 1, ["fail"])
    (second,) = Scenario.objects.filter(name="toy__2")
    found = trend("toy", second)
    assert [(point.rate.passes, point.rate.total) for point in found.points] == [(1, 2)]
    assert len(trend("toy", scenarios[0]).points) == 2


def test_what_is_no_measurement_of_a_model_stands_apart_or_is_left_out() -> None:
    scenarios = make_scenarios(1)
    make_run(scenarios, 1, ["infra_error"])
    wrong = make_run(scenarios, 1, ["pass"])
    Finding.objects.create(run=wrong, severity="error", code="x", text="x")
    rehearsal = make_run(scenarios, 1, ["pass"], is_rehearsal=True)
    make_run(1, 1, ["pass"], domain="other")
    assert trend("toy").points == []
    assert [point.run for point in trend("toy", rehearsals=True).points] == [rehearsal]


def test_a_cancelled_run_is_in_it_only_when_asked_for() -> None:
    scenarios = make_scenarios(4)
    whole = make_run(scenarios, 1, ["pass"])
    stopped = make_run(
        scenarios, 1, ["pass", "cancelled", "cancelled", "cancelled"], cancel_requested_at=timezone.now()
    )
    assert [point.run for point in trend("toy").points] == [whole]
    assert [point.run for point in trend("toy", cancelled=True).points] == [whole, stopped]


def test_queries_do_not_grow_with_the_runs(django_assert_num_queries: Any) -> None:
    scenarios = make_scenarios(3)
    for _ in range(6):
        make_run(scenarios, 2, ["pass", "fail"])
    with django_assert_num_queries(4):
        trend("toy")
    with django_assert_num_queries(3):
        trend("toy", scenarios[0])


def test_a_run_of_another_tool_is_never_in_the_series_of_ours() -> None:
    """Same agent, same settings: the verdicts are another tool's, and the label says so."""
    scenarios = make_scenarios(2, "tau2_retail")
    ours = make_run(scenarios, 1, ["pass", "pass"], domain="tau2_retail")
    theirs = make_run(scenarios, 1, ["fail", "fail"], domain="tau2_retail")
    Run.objects.filter(pk=theirs.pk).update(config={**ours.config, "imported": {"format": "tau2", "version": "1.0"}})

    found = trend("tau2_retail")

    series = {point.run.pk: point.series for point in found.points}
    assert series[theirs.pk] == f"{series[ours.pk]} (imported, tau2)"
    theirs.refresh_from_db()
    assert alike(theirs) == []
    assert identity(theirs.config) == identities(Run.objects.filter(pk=theirs.pk))[theirs.pk]


def test_long_values_that_tell_configurations_apart_are_cut_and_stay_apart() -> None:
    scenarios = make_scenarios(2)
    for ending in ("be kind", "be terse"):
        prompt = "You play the role of a caller. " * 50 + ending
        make_run(scenarios, 1, ["pass"], config={"agent": agent(parameters={"prompt": prompt})})

    series = trend("toy").series

    assert len(set(series)) == 2
    assert all(len(name) < 120 and "You play the role" in name for name in series)
