"""The gate of a release on the command line."""

import json
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.management import CommandError, call_command

from scenarios.models import Finding, Run, Scenario
from tests.factories import make_run, make_scenarios
from tests.scenarios.test_configurations import agent

pytestmark = pytest.mark.django_db
NAMES = 40
TRIALS = 8


def run(fails: int = 0, trials: int = TRIALS, **config: Any) -> Run:
    """Make a run in which the first scenarios always fail."""
    scenarios = make_scenarios(NAMES)
    return make_run(scenarios, trials, (["fail"] * fails + ["pass"] * (NAMES - fails)) * trials, config=config)


def compared(before: Run | int, after: Run | int, *options: str) -> tuple[int, str]:
    """Return exit code and what was printed."""
    printed = StringIO()
    numbers = [str(one.pk if isinstance(one, Run) else one) for one in (before, after)]
    try:
        call_command("compare", "--baseline", numbers[0], "--candidate", numbers[1], *options, stdout=printed)
    except SystemExit as stop:
        return int(stop.code or 0), printed.getvalue()
    return 0, printed.getvalue()


def test_a_run_like_the_baseline_passes_the_gate() -> None:
    code, text = compared(run(), run(agent=agent(model="large-model")))
    assert code == 0
    assert "Newly failing: 0" in text
    assert "changed agent.model: small-model -> large-model" in text
    assert "Topline: not distinguishable, 100.0 % (320 of 320) -> 100.0 % (320 of 320), +0.0 points" in text


def test_a_broken_scenario_closes_it() -> None:
    code, text = compared(run(), run(fails=1))
    assert code == 10
    assert "Newly failing: 1, 1 beyond flakiness\n  toy__1  8/8 -> 0/8  by chance < 0.0001  beyond flakiness" in text


def test_so_does_a_topline_that_fell_without_a_single_culprit() -> None:
    code, text = compared(run(trials=1), run(fails=12, trials=1))
    assert code == 10
    assert "Newly failing: 12\n" in text
    assert "Topline: worse" in text


def test_a_change_within_flakiness_does_not() -> None:
    assert compared(run(trials=1), run(fails=1, trials=1))[0] == 0


def test_a_scenario_that_was_mended_is_no_regression() -> None:
    code, text = compared(run(fails=1), run())
    assert code == 0
    assert "Newly passing: 1, 1 beyond flakiness" in text


@pytest.mark.parametrize("state", ["queued", "running", "infra_error", "judge_error"])
def test_a_gate_that_rests_on_less_than_was_asked_says_so(state: str) -> None:
    scenarios = make_scenarios(2)
    code, text = compared(make_run(scenarios, 1, ["pass"]), make_run(scenarios, 1, ["pass", state]))
    assert code == 12
    assert "Incomplete: " in text
    assert "1 scenarios of both runs have no rated call in one of them" in text


def test_a_regression_closes_the_gate_though_the_run_goes_on() -> None:
    after = run(fails=1)
    after.trials.filter(scenario__name="toy__2", number=1).update(status="running", outcome="")
    code, text = compared(run(), after)
    assert (code, "1 calls of run" in text) == (10, True)


def test_json_says_the_same(tmp_path: Path) -> None:
    code, text = compared(run(), run(fails=1), "--json", "--margin", "10")
    found = json.loads(text)
    assert (code, found["regressed"], found["regressions"]) == (10, True, ["toy__1"])
    (change,) = found["sets"]["newly_failing"]
    assert change["counts"] == {"passes": 8, "rated": 8, "later_passes": 0, "later_rated": 8}
    assert (found["passing_in_both"], found["topline"]["scenarios"]) == (39, 40)
    assert found["topline"]["candidate"]["passes"] == 312
    assert found["topline"]["equivalence"]["margin"] == 0.1
    assert found["incomplete"] == ""


def test_junit_has_a_case_a_scenario(tmp_path: Path) -> None:
    path = tmp_path / "compare.xml"
    before, after = run(), run(fails=2)
    after.trials.filter(scenario__name="toy__7").update(outcome="infra_error")
    Scenario.objects.filter(name="toy__1").update(name="toy__\x01<b>")
    for one in (before, after):
        one.config["scenarios"][0]["name"] = "toy__\x01<b>"
        one.save()
    assert compared(before, after, "--junit", str(path))[0] == 10
    suite = ElementTree.parse(path).getroot()[0]
    cases = {case.get("name", ""): [child.tag for child in case] for case in suite}
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("41", "2", "1")
    assert len(cases) == 41
    assert [name for name, tags in cases.items() if tags == ["failure"]] == ["toy__\ufffd<b>", "toy__2"]
    assert (cases["toy__7"], cases["toy__3"], cases["topline"]) == (["skipped"], [], [])


def test_junit_fails_for_the_topline_where_no_scenario_does(tmp_path: Path) -> None:
    path = tmp_path / "compare.xml"
    assert compared(run(trials=1), run(fails=12, trials=1), "--junit", str(path))[0] == 10
    suite = ElementTree.parse(path).getroot()[0]
    assert [case.get("name") for case in suite if len(case)] == ["topline"]


def test_what_cannot_be_compared_is_an_error_and_no_pass() -> None:
    one = run(trials=1)
    cases: list[tuple[Run | int, Run | int, str, list[str]]] = [
        (one, 99_999, "--candidate: there is no run 99999; the newest are", []),
        (2**70, one, "--baseline: there is no run", []),
        (one, one, "cannot be compared with itself", []),
        (one, make_run(1, domain="other"), "different domains", []),
        (one, make_run(1, 1, ["infra_error"]), "no scenario has a rated call in both", []),
        (one, make_run(1, 1, ["pass"], is_rehearsal=True), "a rehearsal with stand-ins", []),
        (one, run(trials=1), "--margin 0: give points", ["--margin", "0"]),
        (one, run(trials=1), "cannot be written: ", ["--junit", "/nowhere/at/all.xml"]),
    ]
    for before, after, message, options in cases:
        with pytest.raises(CommandError, match=message):
            compared(before, after, *options)
    bad = run(trials=1)
    Finding.objects.create(run=bad, severity="error", code="x", text="x")
    with pytest.raises(CommandError, match="nobody has accepted"):
        compared(one, bad)
