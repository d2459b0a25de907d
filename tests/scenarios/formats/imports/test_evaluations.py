"""Simulations inside what an evaluation script says of them: wrapped ones, and lists of results."""

import json
from pathlib import Path
from typing import Any

import pytest

from scenarios.formats.imports.detect import open_import
from scenarios.formats.imports.lint import Lint
from scenarios.formats.imports.source import DamagedFile
from tests.scenarios.formats.imports.files import imported, simulation, write
from tests.scenarios.formats.imports.test_damage import attack


def bare(**fields: Any) -> dict[str, Any]:
    """Return a simulation that says nothing of its task, trial and verdict."""
    return {**simulation(), "task_id": None, "trial": None, "reward_info": None, **fields}


def evaluation(*entries: Any, **more: Any) -> dict[str, Any]:
    """Return a file of an evaluation script."""
    config = {"domain": "retail", "task_split_name": "base", "agent_llm": "model-a", "agent_temperature": 0.5}
    config |= {"user_llm": "model-b", "max_steps": 100, "seed": 300, "num_trials": 2}
    counts = {"n_tasks": 1, "n_trials": 2, "n_total_runs": len(entries), "success_rate": 0.5}
    source = {"policy_path": "/home/somebody/policy.md", "policy_length": 9}
    head = {"source": source, "config": config, "results": counts, "task_results": list(entries)}
    return {**head, "policy": "Be kind.", "timestamp": "2025-10-01T10:00:00", **more}


def result(**fields: Any) -> dict[str, Any]:
    """Return a result that passed, without its trajectory."""
    base = {"task_id": "0", "success": True, "reward": 1.0, "actions": ["a"], "n_messages": 2, "trial": 0}
    return {**base, "termination_reason": "user_stop", "error": None, **fields}


@pytest.mark.parametrize("names", [("task_id", "reward", "simulation_run"), ("simulation_run", "reward", "task_id")])
def test_a_wrapper_says_what_its_simulation_does_not(tmp_path: Path, names: tuple[str, ...]) -> None:
    data = {"task_id": "5", "reward": 1.0, "simulation_run": bare()}
    run, (trial,) = imported(tmp_path, {name: data[name] for name in names})

    assert (run.format, trial.place, trial.task_id) == ("tau2_simulation", "simulation_run", "5")
    assert (trial.verdict.mapped, trial.verdict.reward, trial.verdict.written) == ("pass", 1.0, {"reward": 1.0})
    assert trial.verdict.db_match is None


def test_a_simulations_own_verdict_counts_and_a_contradiction_is_named(tmp_path: Path) -> None:
    _, (trial,) = imported(tmp_path, {"task_id": "9", "reward": 0.0, "simulation_run": simulation()})

    assert (trial.task_id, trial.verdict.mapped, trial.verdict.db_match) == ("0", "pass", True)
    assert [remark.text for remark in trial.remarks] == ["is 0, and the simulation's own is another; that counts"]


def test_a_wrapper_without_a_reward_has_no_verdict(tmp_path: Path) -> None:
    _, (trial,) = imported(tmp_path, {"simulation_run": bare()})

    assert (trial.task_id, trial.verdict.mapped, trial.verdict.written) == (None, "not_scored", None)


def test_an_evaluation_has_settings_and_trials(tmp_path: Path) -> None:
    entries = [result(trajectory=bare()), result(trial=1, trajectory=bare(), reward=0.0, success=False)]
    run, trials = imported(tmp_path, evaluation(*entries))

    assert (run.format, run.domain_name, run.num_trials, run.max_steps) == ("tau2_evaluation", "retail", 2, 100)
    assert (run.agent.model, run.agent.settings) == ("model-a", {"llm_args": {"temperature": 0.5}})
    assert (run.user.model, run.user.settings, run.policy) == ("model-b", {}, "Be kind.")
    assert (run.timestamp, run.facts["config"]) == ("2025-10-01T10:00:00", {"task_split_name": "base"})
    assert [(one.place, one.trial, one.verdict.mapped) for one in trials] == [
        ("task_results[0].trajectory", 0, "pass"),
        ("task_results[1].trajectory", 1, "fail"),
    ]
    assert [turn.spoken for turn in trials[0].turns] == ["Hi!", "Hello ###STOP###"]
    assert trials[0].facts["result"] == {"success": True, "actions": ["a"], "n_messages": 2}
    assert all(one.remarks == () for one in trials)


@pytest.mark.parametrize(
    ("fields", "mapped", "why"),
    [
        ({}, "pass", ""),
        ({"reward": 0.0, "success": False}, "fail", ""),
        ({"reward": 0.0, "success": False, "termination_reason": "max_steps"}, "fail", "ended by max_steps"),
        ({"reward": 0.0, "success": False, "error": "RateLimitError: 429"}, "excluded", "RateLimitError: 429"),
        ({"reward": None, "success": False}, "fail", "whether it succeeded"),
        ({"reward": None, "success": None}, "not_scored", "no reward"),
    ],
)
def test_scores_without_a_conversation_are_verdicts_only(
    tmp_path: Path, fields: dict[str, Any], mapped: str, why: str
) -> None:
    run, (trial,) = imported(tmp_path, evaluation(result(**fields)))

    assert (trial.place, trial.verdict.mapped, trial.tool_calls, trial.turns) == ("task_results[0]", mapped, (), ())
    assert why in trial.verdict.why
    assert run.refused == []


def test_a_success_that_contradicts_its_reward_is_named(tmp_path: Path) -> None:
    _, (trial,) = imported(tmp_path, evaluation(result(success=False)))

    assert trial.verdict.mapped == "pass"
    assert "is false, and its verdict is pass" in [remark.text for remark in trial.remarks]


def test_what_is_no_result_is_refused_and_a_wrong_count_is_linted(tmp_path: Path) -> None:
    counts = {"n_total_runs": 5}
    run, trials = imported(tmp_path, evaluation(result(), "x", results=counts))
    lint = Lint(run)
    for trial in trials:
        lint.see(trial, "not asked for")

    assert [remark.place for remark in run.refused] == ["task_results[1]"]
    assert [one.text for one in lint.findings() if one.code == "denominator"] == [
        "the file says n_total_runs = 5, and holds 1 calls"
    ]


def test_what_broke_off_gives_the_results_before_it(tmp_path: Path) -> None:
    whole = json.dumps(evaluation(*[result(trial=number, trajectory=bare()) for number in range(400)])).encode()
    path = write(tmp_path, whole[: whole.index(b'"trial": 300')])
    # The policy stands at the end, so that it is looked for there: the break is found at once.
    with pytest.raises(DamagedFile, match="the JSON breaks off"):
        list(open_import(path).trials())


def test_keys_are_taken_out_of_settings_and_results(tmp_path: Path) -> None:
    key = "sk-" + "a1" * 12
    data = evaluation(result(error=f"401 for {key} at https://models.example/v1"))
    data["config"]["api_key"] = "secret-without-a-look"
    run, (trial,) = imported(tmp_path, data)

    kept = json.dumps([dict(run.facts), dict(trial.facts), trial.verdict.why, trial.verdict.written])
    assert "secret-without-a-look" not in kept
    assert key not in kept
    assert "models.example" not in kept


@pytest.mark.usefixtures("benchmarks")
def test_no_field_of_an_evaluation_breaks_the_reader(tmp_path: Path) -> None:
    data = evaluation(result(trajectory=bare()), result())
    assert attack(data, lambda value: write(tmp_path, value)) > 300
