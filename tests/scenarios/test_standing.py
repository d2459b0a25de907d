"""How a run stands: progress, headline, signals, what is left out; from aggregates that agree with the rows."""

from typing import Any

import pytest
from django.utils import timezone

from scenarios.models import SignalResult, Trial, Verdict
from scenarios.standing import findings, standings
from tests.factories import make_run, make_scenario

pytestmark = pytest.mark.django_db


def test_ended_and_passed_are_two_numbers() -> None:
    run = make_run(5, 1, ["pass", "pass", "pass", "pass", "fail"])
    standing = standings([run])[run.pk]
    assert (standing.ended, standing.total) == (5, 5)
    assert (standing.rate.passes, standing.rate.total) == (4, 5)
    assert standing.state == "finished"


def test_attempts_never_push_progress_over_the_total() -> None:
    run = make_run(5, 1, ["pass"])
    run.trials.filter(scenario__name="toy__1").update(attempts=3)
    assert standings([run])[run.pk].ended == 5
    assert findings(run).retried == 1


def test_what_has_no_score_is_left_out_and_named() -> None:
    run = make_run(10, 1, ["pass", "pass", *["infra_error"] * 8])
    rate = standings([run])[run.pk].rate
    assert (rate.passes, rate.total) == (2, 2)
    assert rate.left_out_text == "8 infrastructure failed"
    assert rate.warning == "only 2 of 10 are in this rate"


def test_open_trials_are_left_out_by_name() -> None:
    run = make_run(4, 1, ["pass", "running", "scoring", "queued"])
    standing = standings([run])[run.pk]
    assert (standing.open, standing.running, standing.ended) == (3, 2, 1)
    assert standing.rate.left_out_text == "3 not finished"


@pytest.mark.parametrize(
    ("states", "facts", "state"),
    [
        (["queued"], {}, "queued"),
        (["queued", "pass"], {}, "running"),
        (["queued", "running"], {}, "running"),
        (["queued", "pass"], {"paused_at": timezone.now()}, "paused"),
        (["pass"], {"paused_at": timezone.now()}, "finished"),
        (["running", "cancelled"], {"cancel_requested_at": timezone.now()}, "cancelling"),
        (["pass", "cancelled"], {"cancel_requested_at": timezone.now()}, "cancelled"),
    ],
)
def test_the_state_is_read_from_the_trials(states: list[str], facts: dict[str, Any], state: str) -> None:
    run = make_run(2, 1, states, **facts)
    assert standings([run])[run.pk].state == state


def test_the_parts_of_the_bar_add_up_in_a_fixed_order() -> None:
    run = make_run(6, 1, ["queued", "running", "fail", "pass", "cancelled", "pass"])
    parts = standings([run])[run.pk].parts
    assert parts == [("pass", 2), ("fail", 1), ("cancelled", 1), ("running", 1), ("queued", 1)]


def test_repetitions_of_a_scenario_widen_the_interval() -> None:
    repeated = make_run(10, 4, ["pass"] * 5 + ["fail"] * 5)
    interval = standings([repeated])[repeated.pk].rate.interval
    single = make_run(40, 1, ["pass", "fail"], domain="wide")
    plain = standings([single])[single.pk].rate.interval
    assert interval is not None
    assert plain is not None
    assert "clustered" in interval.method
    assert interval.half_width > plain.half_width


@pytest.mark.parametrize(("strictness", "other"), [("reference", "upstream"), ("upstream", "reference")])
def test_the_other_figure_stands_beside_the_headline(strictness: str, other: str) -> None:
    run = make_run(4, 1, ["pass", "pass", "fail", "infra_error"], config={"strictness": strictness})
    run.trials.filter(scenario__name="toy__1").update(other_outcome="fail")
    standing = standings([run])[run.pk]
    assert (standing.strictness, standing.other_strictness) == (strictness, other)
    assert (standing.rate.passes, standing.rate.total) == (2, 3)
    assert (standing.other_rate.passes, standing.other_rate.total) == (1, 3)
    assert standing.other_rate.left_out_text == "1 infrastructure failed"


def test_what_only_one_strictness_rates_counts_there_alone() -> None:
    run = make_run(2, 2, ["pass", "unscored"])
    run.trials.filter(outcome="unscored").update(other_outcome="fail")
    standing = standings([run])[run.pk]
    assert (standing.rate.passes, standing.rate.total) == (2, 2)
    assert (standing.other_rate.passes, standing.other_rate.total) == (2, 4)
    assert standing.other_rate.interval is not None
    assert "clustered" in standing.other_rate.interval.method


@pytest.mark.parametrize(("strictness", "passes"), [("reference", 2), ("upstream", 1)])
def test_the_do_nothing_line_goes_by_the_runs_strictness(strictness: str, passes: int) -> None:
    both = make_scenario("toy__1", passes_by_inaction=True, passes_upstream_by_inaction=True)
    one = make_scenario("toy__2", passes_by_inaction=True)
    run = make_run([both, one, make_scenario("toy__3")], 1, config={"strictness": strictness})
    line = findings(run).do_nothing
    assert (line.passes, line.total) == (passes, 3)


@pytest.mark.parametrize("trials", [1, 3])
def test_prefixes_that_are_reported_apart_have_rates_of_their_own(trials: int) -> None:
    scenarios = [make_scenario(name) for name in ("toy__1", "toy__2", "toy_workflow__1", "toy_workflow__2")]
    run = make_run(scenarios, trials, ["pass", "fail", "fail", "infra_error"])
    rates = findings(run).prefixes
    assert list(rates) == ["toy", "toy_workflow"]
    assert [(rate.passes, rate.total) for rate in rates.values()] == [(trials, 2 * trials), (0, trials)]
    assert rates["toy_workflow"].left_out == {"infra_error": trials}
    assert all(rate.interval is not None for rate in rates.values())
    assert findings(make_run(2, 1, ["pass"], domain="plain")).prefixes == {}


def test_many_runs_take_as_many_queries_as_one(django_assert_num_queries: object) -> None:
    runs = [make_run(3, 2, ["pass", "fail"]) for _ in range(4)]
    with django_assert_num_queries(2):  # type: ignore[operator]
        found = standings(runs)
    assert {standing.rate.total for standing in found.values()} == {6}


def test_by_inaction_is_counted_and_can_be_left_out() -> None:
    idle = make_scenario("toy__1", passes_by_inaction=True)
    run = make_run([idle, make_scenario("toy__2")], 1, ["pass", "pass"])
    run.trials.filter(scenario=idle).update(by_inaction=True)
    assert standings([run])[run.pk].by_inaction == 1
    found = findings(run)
    assert (found.without_inaction.passes, found.without_inaction.total) == (1, 1)
    assert (found.do_nothing.passes, found.do_nothing.total) == (1, 2)


def add_signal(trial: Trial, state: str, value: bool | None, scoring: int = 1) -> None:
    SignalResult.objects.create(
        trial=trial, signal="nl_assertion", state=state, is_gating=state != "excluded", value=value, scoring=scoring
    )


def test_only_the_newest_scoring_counts() -> None:
    run = make_run(2, 1, ["pass", "fail"])
    first, second = run.trials.all()
    add_signal(first, "failed", False)
    add_signal(first, "passed", True, scoring=2)
    add_signal(second, "failed", False)
    rate = findings(run).signals["nl_assertion"]
    assert (rate.passes, rate.total) == (1, 2)


def test_signals_that_do_not_gate_count_by_their_value() -> None:
    run = make_run(3, 1, ["pass", "pass", "pass"])
    for trial, value in zip(run.trials.all(), (True, False, None), strict=True):
        add_signal(trial, "excluded", value)
    rate = findings(run).signals["nl_assertion"]
    assert (rate.passes, rate.total) == (1, 2)
    assert rate.left_out_text == "1 not applicable"


def test_claims_are_counted_one_by_one_and_errors_left_out() -> None:
    run = make_run(1, 1, ["fail"])
    trial = run.trials.get()
    for index, (passed, error) in enumerate([(True, ""), (False, ""), (False, "outage")], start=1):
        Verdict.objects.create(
            trial=trial, signal="nl_assertion", index=index, claim="c", passed=passed, error=error, judge=None
        )
    rate = findings(run).items["nl_assertion"]
    assert (rate.passes, rate.total) == (1, 2)
    assert rate.left_out_text == "1 no ruling"


def test_kinds_of_errors_are_counted_most_frequent_first() -> None:
    run = make_run(4, 1, ["infra_error"])
    run.trials.filter(scenario__name="toy__1").update(error_kind="socket_closed")
    assert list(findings(run).error_kinds) == [("llm_http_429", 3), ("socket_closed", 1)]
