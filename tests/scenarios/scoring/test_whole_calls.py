"""Every scenario of the built-in domain and of tau2_retail, from played calls to the outcome."""

from pathlib import Path

import pytest

from scenarios import domains
from scenarios.domains.base import GoldAction
from tests.scenarios.scoring.whole_calls import score


def test_on_the_front_desk_the_gold_actions_pass_and_nothing_else_does() -> None:
    for spec in domains.load()["frontdesk"].scenarios():
        faithful = score(spec, spec.gold_actions)
        assert (spec.name, faithful.decision.outcome) == (spec.name, "pass")
        assert not faithful.decision.by_inaction
        if "nl_assertion" in spec.success_signals:
            assert score(spec, spec.gold_actions, claims_hold=False).decision.outcome == "fail"


def test_an_agent_that_does_nothing_fails_where_something_was_wanted() -> None:
    outcomes = {
        spec.name: score(spec, (), claims_hold=False).decision for spec in domains.load()["frontdesk"].scenarios()
    }
    passed = {name for name, decision in outcomes.items() if decision.outcome == "pass"}
    assert passed == {name for name, decision in outcomes.items() if decision.by_inaction}
    assert len(passed) < len(outcomes) / 2


def test_the_rehearsal_figures_of_retail(benchmarks: Path) -> None:
    retail = domains.load()["tau2_retail"].scenarios()
    faithful = [score(spec, spec.gold_actions).decision.outcome for spec in retail]
    assert (len(faithful), set(faithful)) == (114, {"pass"})
    idle = [score(spec, (), claims_hold=False) for spec in retail]
    matches = [scored for scored in idle if scored.results[1].passed]
    passes = [scored for scored in idle if scored.decision.outcome == "pass"]
    assert (len(matches), len(passes)) == (11, 6)
    assert all(scored.decision.by_inaction for scored in passes)


def test_a_skipped_write_of_retail_is_missing_in_the_diff(benchmarks: Path) -> None:
    spec = next(spec for spec in domains.load()["tau2_retail"].scenarios() if spec.task_id == "16")
    reads: list[GoldAction] = [action for action in spec.gold_actions if action.tool.startswith(("get_", "find_"))]
    scored = score(spec, reads)
    assert scored.decision.outcome == "fail"
    match = scored.results[1]
    assert match.detail["diff"]
    assert {row["why"] for row in match.detail["diff"]} == {"never_attempted"}
    assert scored.results[0].detail["missing"]


@pytest.mark.parametrize("task", ["0", "16", "24", "64", "105"])
def test_scoring_again_gives_the_same(benchmarks: Path, task: str) -> None:
    spec = next(spec for spec in domains.load()["tau2_retail"].scenarios() if spec.task_id == task)
    first, second = score(spec, spec.gold_actions), score(spec, spec.gold_actions)
    assert first == second
