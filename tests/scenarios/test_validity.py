"""Whether scenarios measure anything: idle agents, odd gold, known errors, and the record over runs."""

from pathlib import Path
from typing import Any, cast

import pytest

from scenarios import catalogue
from scenarios.analysis.trials import TrialRow, gather
from scenarios.launch import FrozenProfile, Limits
from scenarios.models import Run, Scenario
from scenarios.models.scenario import no_findings
from scenarios.scoring.config import Strictness
from scenarios.scoring.results import Outcome
from scenarios.standing import prefix_of
from scenarios.validity import (
    FINDINGS,
    RECORDS,
    Soundness,
    effects,
    is_so,
    record_counts,
    soundness,
    tallies,
)
from tests.factories import make_run, make_scenario, make_scenarios

pytestmark = pytest.mark.django_db


def odd(name: str = "toy__1", **health: Any) -> Scenario:
    return make_scenario(name, health={**no_findings(), **health})


@pytest.mark.parametrize(
    ("finding", "health"),
    [
        ("start", {"true_at_start": [0]}),
        ("broken", {"cannot_start": "there is no step 'x'"}),
        ("write", {"failing_writes": [2]}),
        ("read", {"failing_reads": [1]}),
        ("duplicate", {"duplicate_of": "toy__0"}),
        ("unwritten", {"nothing_written": ["NL_ASSERTION"]}),
        ("too_easy", {"known_errors": [["x", "too_easy", None]]}),
        ("none", {"known_errors": [["x", "none", None]]}),
    ],
)
def test_each_finding_is_found_alone(finding: str, health: dict[str, Any]) -> None:
    row = odd(**health)
    assert [key for key in FINDINGS if is_so(row, key, "reference")] == [finding]
    assert is_so(row, "odd", "reference")


def test_a_sound_scenario_is_not_odd_though_code_has_looked_at_it() -> None:
    assert not is_so(odd(computed_by="abc"), "odd", "reference")


@pytest.mark.parametrize(("strictness", "expected"), [("reference", {"too_easy"}), ("upstream", {"none"})])
def test_an_error_may_do_something_else_under_upstream(strictness: Strictness, expected: set[str]) -> None:
    assert effects(odd(known_errors=[["x", "too_easy", "none"]]), strictness) == expected


def test_the_idle_line_keeps_scenarios_that_write_apart() -> None:
    rows = [
        make_scenario("toy__1", passes_by_inaction=True, health={**no_findings(), "gold_equals_seed": True}),
        make_scenario("toy__2", health={**no_findings(), "gold_equals_seed": True}),
        make_scenario("toy__3"),
    ]
    (found,) = soundness(rows, "reference")
    line, strict = found.idle["reference"], found.idle["upstream"]
    assert [(rate.passes, rate.total) for rate in (line.everything, line.writing, line.still)] == [
        (1, 3),
        (0, 1),
        (1, 2),
    ]
    assert strict.everything.passes == 0


def test_prefixes_are_reported_apart() -> None:
    rows = [make_scenario(name) for name in ("toy__1", "toy__2", "toy_workflow__1")]
    assert [(found.prefix, found.scenarios) for found in soundness(rows, "reference")] == [
        ("toy", 2),
        ("toy_workflow", 1),
    ]
    assert prefix_of("tau2_telecom_workflow__mms_issue__bad_vpn") == "tau2_telecom_workflow"


def of(domain: str, strictness: Strictness = "reference") -> dict[str, Soundness]:
    return {found.prefix: found for found in soundness(Scenario.objects.filter(domain=domain), strictness)}


def test_the_benchmarks_are_as_measured(benchmarks: Path) -> None:
    """field-reports.md B.2, reference-system.md 5 and 9."""
    catalogue.sync()

    def idle(found: Soundness) -> list[tuple[int, int]]:
        lines = [found.idle["reference"], found.idle["upstream"]]
        return [(rate.passes, rate.total) for line in lines for rate in (line.everything, line.writing, line.still)]

    retail = of("tau2_retail")["tau2_retail"]
    assert idle(retail) == [(6, 114), (0, 103), (6, 11)] * 2
    assert (retail.findings["read"], retail.findings["write"], retail.findings["unwritten"]) == (13, 2, 72)
    airline = of("tau2_airline")["tau2_airline"]
    assert idle(airline) == [(24, 50), (0, 26), (24, 24), (23, 50), (0, 26), (23, 24)]
    assert (airline.findings["read"], airline.findings["write"], airline.findings["unwritten"]) == (0, 0, 44)
    assert idle(of("eva_airline")["eva_airline"])[:3] == [(6, 50), (0, 44), (6, 6)]
    telecom = of("tau2_telecom")
    assert list(telecom) == ["tau2_telecom", "tau2_telecom_workflow"]
    for found in telecom.values():
        assert idle(found)[0] == (20, 114)
        assert idle(found)[3] == (0, 114)
        assert found.predicates[1] == 209
        assert found.findings["too_easy"] >= 20
        assert found.findings["start"] >= 20
    assert of("tau2_telecom", "upstream")["tau2_telecom"].findings["none"] == 20


AGENTS = {slug: FrozenProfile(slug=slug, kind="agent", model="m", base_url="http://x/v1") for slug in ("one", "two")}


def play(scenario: Scenario, agent: str, *outcomes: str, others: tuple[str, ...] = (), **fields: Any) -> None:
    config = {"agent": AGENTS[agent], **fields.pop("config", {})}
    run = make_run([scenario], len(outcomes), outcomes, config=config, **fields)
    for trial, other in zip(run.trials.order_by("number"), others, strict=False):
        trial.other_outcome = other
        trial.save()


@pytest.mark.parametrize(
    ("played", "record", "passes", "total"),
    [
        ({"one": ["pass", "pass"]}, "stable_pass", 2, 2),
        ({"one": ["fail", "stalled"]}, "stable_fail", 0, 2),
        ({"one": ["pass", "fail"]}, "flaky", 1, 2),
        ({"one": ["pass", "pass"], "two": ["fail"]}, "by_agent", 2, 3),
        ({"one": ["pass"], "two": ["pass", "fail"]}, "flaky", 2, 3),
        ({"one": ["infra_error"], "two": ["pass"]}, "once", 1, 1),
        ({"one": ["fail"], "two": ["fail"]}, "stable_fail", 0, 2),
        ({"one": ["pass"], "two": ["fail"]}, "by_agent", 1, 2),
    ],
)
def test_the_record_of_a_scenario(played: dict[str, list[str]], record: str, passes: int, total: int) -> None:
    (scenario,) = make_scenarios(1)
    for agent, outcomes in played.items():
        play(scenario, agent, *outcomes)
    found = tallies("toy", "reference", rehearsals=False)[scenario.pk]
    assert (found.record, found.rate.passes, found.rate.total) == (record, passes, total)


def test_flaky_means_over_runs_as_well_as_within_one() -> None:
    (scenario,) = make_scenarios(1)
    play(scenario, "one", "pass")
    play(scenario, "one", "fail")
    assert tallies("toy", "reference", rehearsals=False)[scenario.pk].record == "flaky"


def test_one_agent_under_two_settings_is_not_flaky() -> None:
    (scenario,) = make_scenarios(1)
    play(scenario, "one", "pass", "pass")
    play(scenario, "one", "fail", "fail", config={"persona": True})
    play(scenario, "one", "pass", config={"limits": Limits(concurrency=3)})  # changes no call
    assert tallies("toy", "reference", rehearsals=False)[scenario.pk].record == "by_agent"


def test_pages_and_comparisons_mean_the_same_by_flaky() -> None:
    """One definition: what the record of a scenario says is what a comparison says of the same calls."""
    for outcomes in (["pass"], ["fail"], ["pass", "pass"], ["fail", "stalled"], ["pass", "fail", "pass"]):
        Run.objects.all().delete()
        (scenario,) = make_scenarios(1)
        play(scenario, "one", *outcomes)
        rows = [
            TrialRow(scenario.name, number, cast(Outcome, outcome)) for number, outcome in enumerate(outcomes, start=1)
        ]
        record = tallies("toy", "reference", rehearsals=False)[scenario.pk].record
        assert record == gather(rows)[scenario.name].stability


def test_calls_without_a_score_are_no_record() -> None:
    first, second = make_scenarios(2)
    play(first, "one", "infra_error", "queued")
    found = tallies("toy", "reference", rehearsals=False)
    assert record_counts([first, second], found) == {**dict.fromkeys(RECORDS, 0), "never": 2}


def test_rehearsals_stand_apart() -> None:
    (scenario,) = make_scenarios(1)
    play(scenario, "one", "pass", "pass")
    play(scenario, "one", "fail", "fail", is_rehearsal=True)
    assert tallies("toy", "reference", rehearsals=False)[scenario.pk].record == "stable_pass"
    assert tallies("toy", "reference", rehearsals=True)[scenario.pk].record == "stable_fail"


def test_every_call_is_taken_by_the_strictness_asked_for() -> None:
    (scenario,) = make_scenarios(1)
    play(scenario, "one", "pass", others=("fail",))
    play(scenario, "one", "fail", others=("pass",), config={"strictness": "upstream"})
    assert tallies("toy", "reference", rehearsals=False)[scenario.pk].record == "stable_pass"
    assert tallies("toy", "upstream", rehearsals=False)[scenario.pk].record == "stable_fail"


def test_records_take_two_queries_however_many_runs(django_assert_num_queries: Any) -> None:
    scenarios = make_scenarios(3)
    for _ in range(4):
        make_run(scenarios, 2, ["pass", "fail"])
    with django_assert_num_queries(2):
        tallies("toy", "reference", rehearsals=False)
