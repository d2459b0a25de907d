"""What earlier runs say about a launch."""

from typing import Any

import pytest

from scenarios.foresight import Foresight, foresee
from scenarios.models import ImportedFile, Run, Trial
from tests.factories import make_config, make_run, make_scenarios
from tests.scenarios.test_configurations import agent

pytestmark = pytest.mark.django_db
PRICED: dict[str, Any] = {"agent": agent(prompt_price=1.0, completion_price=1.0), "judge": None}


def priced() -> dict[str, Any]:
    party = {"slug": "patient", "kind": "caller", "prompt_price": 1.0, "completion_price": 1.0}
    return {**PRICED, "caller": agent(**party)}


def foreseen(names: int = 20, trials: int = 4, **config: Any) -> Foresight:
    return foresee(make_config([f"toy__{n}" for n in range(1, names + 1)], trials, **{**priced(), **config}))


def held(outcomes: list[str], trials: int = 4, ms: int = 60_000, cost: float | None = 0.5, **config: Any) -> Run:
    run = make_run(make_scenarios(20), trials, outcomes, config={**priced(), **config})
    run.trials.update(duration_ms=ms, cost=cost)
    return run


def test_nothing_is_known_where_there_is_no_run() -> None:
    found = foreseen()
    assert (found.seconds, found.cost, found.sight, found.baseline) == (None, None, None, None)
    assert found.blind == "no earlier run of this configuration"


def test_time_and_money_have_a_mean_a_range_and_denominators() -> None:
    held(["pass"], trials=1, ms=60_000, cost=0.5)
    held(["pass"], trials=3, ms=100_000, cost=0.1)
    found = foreseen()
    assert found.is_alike
    assert found.seconds is not None
    assert found.cost is not None
    assert (found.seconds.mean, found.seconds.spread) == (90, (60, 100))
    assert (found.seconds.runs, found.seconds.calls) == (2, 80)
    assert found.cost.mean == pytest.approx(0.2)
    assert found.cost.spread == pytest.approx((0.1, 0.5))


def test_one_run_has_no_range_and_calls_without_a_cost_are_not_free() -> None:
    run = held(["pass"], trials=1)
    Trial.objects.filter(run=run, scenario__name="toy__1").update(cost=None)
    found = foreseen()
    assert found.seconds is not None
    assert found.cost is not None
    assert (found.seconds.spread, found.seconds.calls) == (None, 20)
    assert (found.cost.mean, found.cost.calls) == (0.5, 19)
    assert foreseen(caller=agent(slug="patient", kind="caller")).cost is None  # its price is unknown


def test_another_configuration_of_the_agent_tells_time_but_not_power() -> None:
    held(["pass", "fail"], persona=True)
    found = foreseen()
    assert not found.is_alike
    assert found.seconds is not None
    assert (found.sight, found.blind) == (None, "no earlier run of this configuration")


def test_power_comes_from_the_flakiness_of_the_configuration() -> None:
    run = held(["pass"] * 15 + ["fail"] * 5, trials=4)
    run.trials.filter(scenario__name__in=["toy__1", "toy__2"], number__lte=2).update(outcome="fail")
    found = foreseen()
    assert found.sight is not None
    assert (found.baseline, found.repeated) == (run, 20)
    assert (found.sight.scenarios, found.sight.trials) == (20, 4)
    assert found.sight.discordance == pytest.approx(2 * (2 * 2 * 2 / 12) / 20)
    assert found.sight.outright is not None
    assert foreseen(trials=1).sight != found.sight


def test_two_single_sweeps_tell_flakiness_too_and_one_does_not() -> None:
    held(["pass"], trials=1)
    assert foreseen().blind == "no scenario was called twice with this configuration, so its flakiness is unknown"
    held(["pass", "fail"], trials=1)
    found = foreseen()
    assert found.sight is not None
    assert found.sight.trials == 1  # as many as the last run has
    assert found.sight.discordance == pytest.approx(0.375)  # 0.5, but a rate of 0.75 allows no more


def test_scenarios_that_the_last_run_did_not_hold_show_nothing() -> None:
    make_run(make_scenarios(30)[25:], 2, ["pass"], config=priced())
    assert "rated none of these scenarios" in foreseen().blind


def test_an_imported_run_says_nothing_about_calls_here() -> None:
    run = held(["pass"])
    Run.objects.filter(pk=run.pk).update(imported_from=ImportedFile.objects.create(name="results.json"))
    assert foreseen().seconds is None
