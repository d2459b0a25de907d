"""What the lint says of a run's calls: each finding from the smallest file that has it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scenarios.formats.imports.lint import Lint, LintFinding, result_vector
from scenarios.formats.imports.records import ImportedAudio, ImportedTurn
from scenarios.sides import Side
from tests.scenarios.formats.imports.files import answer, call, imported, results, simulation, task


def lint(folder: Path, simulations: list[dict[str, Any]], **more: Any) -> dict[str, list[LintFinding]]:
    """Return the findings of a file by code."""
    run, trials = imported(folder, results(simulations, **more))
    found = Lint(run)
    for trial in trials:
        found.see(trial, "not asked for")
    by_code: dict[str, list[LintFinding]] = {}
    for finding in found.findings():
        by_code.setdefault(finding.code, []).append(finding)
    return by_code


def test_a_plain_run_has_no_findings(tmp_path: Path) -> None:
    assert lint(tmp_path, [simulation()]) == {}


@pytest.mark.parametrize(
    ("claims", "rulings", "basis", "reward", "silent"),
    [
        (["a", "b"], [], ["DB", "NL_ASSERTION"], 1.0, "2 of its claims"),
        (["a", "b"], [True], ["NL_ASSERTION"], 1.0, "1 of its claims"),
        (["a"], [None], ["NL_ASSERTION"], 1.0, "1 of its claims"),
        (["a"], [True], ["NL_ASSERTION"], 1.0, ""),
        (["a"], [], ["DB"], 1.0, ""),
        (["a"], [], ["NL_ASSERTION"], 0.0, ""),
    ],
)
def test_claims_that_passed_without_a_ruling(
    tmp_path: Path, claims: Any, rulings: Any, basis: Any, reward: float, silent: str
) -> None:
    ruled = [{"nl_assertion": "c", "met": met, "justification": ""} for met in rulings]
    info = {"reward": reward, "db_check": {"db_match": True}, "nl_assertions": ruled, "reward_basis": basis}
    given = task(evaluation_criteria={"actions": [], "nl_assertions": claims, "reward_basis": basis})
    found = lint(tmp_path, [simulation(reward_info=info)], tasks=[given]).get("vacuous_pass", [])

    assert [silent in one.text for one in found] == ([True] if silent else [])


def test_duplicate_trials(tmp_path: Path) -> None:
    (found,) = lint(tmp_path, [simulation(id="a"), simulation(id="b")])["duplicate_trial"]
    assert found.severity == "error"
    assert "task 0: trial 0 is there 2 times" in found.text


def test_missing_trials_by_what_the_file_declares(tmp_path: Path) -> None:
    (found,) = lint(tmp_path, [simulation(trial=0)], num_trials=4)["missing_trials"]
    assert (found.severity, found.text) == ("warning", "1 of 1 tasks have fewer than 4 trials: 0 (1)")


def test_missing_trials_by_what_other_tasks_have(tmp_path: Path) -> None:
    sims = [simulation(trial=0), simulation(trial=1), simulation(task_id="1", trial=0)]
    (found,) = lint(tmp_path, sims, tasks=[task("0"), task("1")], num_trials=None)["missing_trials"]
    assert found.text == "1 of 2 tasks have fewer than 2 trials: 1 (1)"


def test_tasks_without_any_call(tmp_path: Path) -> None:
    (found,) = lint(tmp_path, [simulation()], tasks=[task("0"), task("1"), task("2")])["missing_tasks"]
    assert found.text == "2 of the file's 3 tasks have no call: 1, 2"


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        ({"mode": "half_duplex"}, {"mode": "full_duplex"}, "mode"),
        ({"policy": "Be kind."}, {"policy": "Be strict."}, "policy"),
        (
            {"speech_environment": {"complexity": "control"}},
            {"speech_environment": {"complexity": "regular"}},
            "speech_environment.complexity",
        ),
    ],
)
def test_settings_that_changed_at_a_resume(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], name: str
) -> None:
    found = lint(tmp_path, [simulation(trial=0, **first), simulation(trial=1, **second)])["settings_changed"]
    assert [one.severity for one in found] == ["error"]
    assert name in found[0].text
    assert found[0].place == "simulations[1]"


def test_a_denominator_that_differs(tmp_path: Path) -> None:
    (found,) = lint(tmp_path, [simulation()], num_simulations=3)["denominator"]
    assert found.text == "the file says num_simulations = 3, and holds 1 calls"


def test_a_pass_with_nothing_checked(tmp_path: Path) -> None:
    (found,) = lint(tmp_path, [simulation(reward_info={"reward": 1.0})])["vacuous_pass"]
    assert (found.severity, found.position) == ("warning", 0)


def test_a_judges_failure_stored_as_a_failure(tmp_path: Path) -> None:
    claims = [{"nl_assertion": "says 42", "met": False, "justification": "Error: 429"}]
    broken = {"reward": 0.0, "reward_basis": ["NL_ASSERTION"], "nl_assertions": claims}
    (found,) = lint(tmp_path, [simulation(reward_info=broken)])["judge_error"]
    assert found.severity == "error"


def test_call_ids_that_stand_for_several_calls(tmp_path: Path) -> None:
    messages = [call("a", {}, "x"), answer("1", "x"), call("b", {}, "x"), answer("2", "x")]
    (found,) = lint(tmp_path, [simulation(messages=messages)])["repeated_call_id"]
    assert found.text == "1 ids of tool calls stand for several calls"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"start_time": "2025-08-01T16:00:00", "end_time": "2025-08-01T15:00:00", "duration": None}, "ends before"),
        ({"start_time": "2025-08-01T16:00:00", "end_time": "2025-08-01T16:10:00", "duration": 5}, "600 s apart"),
        ({"start_time": "2025-08-01T16:00:00", "end_time": "2025-08-01T16:00:09+00:00"}, "others have none"),
        (
            {
                "messages": [
                    {"role": "user", "content": "b", "timestamp": "2025-08-01T16:00:05"},
                    {"role": "user", "content": "a", "timestamp": "2025-08-01T16:00:01"},
                ]
            },
            "backwards 1 times",
        ),
    ],
)
def test_clocks_that_are_off(tmp_path: Path, fields: dict[str, Any], text: str) -> None:
    found = lint(tmp_path, [simulation(**fields)])["clock_skew"]
    assert text in found[0].text


def test_errors_come_first(tmp_path: Path) -> None:
    sims = [simulation(id="a", reward_info={"reward": 1.0}), simulation(id="b", reward_info={"reward": 1.0})]
    run, trials = imported(tmp_path, results(sims))
    found = Lint(run)
    for trial in trials:
        found.see(trial, "not asked for")
    assert [one.severity for one in found.findings()] == ["error", "warning", "warning"]


def test_result_vectors_do_not_depend_on_the_order() -> None:
    assert result_vector({"a": "pass", "b": "fail"}) == result_vector({"b": "fail", "a": "pass"})
    assert result_vector({"a": "pass"}) != result_vector({"a": "fail"})


@pytest.mark.parametrize(
    ("sides", "seconds", "expected"),
    [(("agent",), 10.0, True), (("agent",), 12.0, False), (("user",), 1.0, False), ((), 10.0, True)],
)
def test_a_recording_that_ends_before_its_transcript(
    tmp_path: Path, sides: tuple[Side, ...], seconds: float, expected: bool
) -> None:
    """A channel is measured by the turns of its own side; one with both mixed by all."""
    run, (held,) = imported(tmp_path, results([simulation()]))
    audio = ImportedAudio(Path("a.wav"), "a.wav", max(1, len(sides)), 8000, 2, seconds, 1, sides)
    turns = (ImportedTurn("agent", "Hello", started_ms=9000, ended_ms=12_000), ImportedTurn("user", "Hi", ended_ms=500))
    found = Lint(run)
    found.see(replace(held, audio=(audio,), turns=turns), "not asked for")

    named = [one.text for one in found.findings() if one.code == "audio_length"]
    assert named == (["the transcript goes on to 12 s, a.wav to 10 s"] if expected else [])
