"""Foreign verdicts are kept as written and mapped; what the file does not say stays unknown."""

from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.formats.imports.files import imported, results, simulation


def _claim(met: bool, why: str) -> dict[str, Any]:
    return {"nl_assertion": "c", "met": met, "justification": why}


@pytest.mark.parametrize(
    ("reward_info", "end", "mapped", "why"),
    [
        ({"reward": 1.0}, "user_stop", "pass", ""),
        ({"reward": 0.9999999}, "agent_stop", "pass", ""),
        ({"reward": 0}, "user_stop", "fail", ""),
        ({"reward": 0.5}, "user_stop", "fail", "less than 1"),
        ({"reward": 0.0}, "max_steps", "fail", "ended by max_steps"),
        ({"reward": 0.0}, "infrastructure_error", "excluded", "leaves out"),
        ({"reward": 1.0}, None, "pass", ""),
        ({"reward": 2.0}, "user_stop", "not_scored", "more than 1"),
        ({"reward": "1"}, "user_stop", "not_scored", "no reward"),
        ({"reward": True}, "user_stop", "not_scored", "no reward"),
        (None, "user_stop", "not_scored", "no reward"),
        ([], "user_stop", "not_scored", "no reward"),
    ],
)
def test_tau2_rewards_are_mapped(tmp_path: Path, reward_info: Any, end: Any, mapped: str, why: str) -> None:
    _, (trial,) = imported(tmp_path, results([simulation(reward_info=reward_info, termination_reason=end)]))

    assert trial.verdict.mapped == mapped
    assert why in trial.verdict.why
    assert trial.verdict.written == (reward_info or None if isinstance(reward_info, dict) else None)


@pytest.mark.parametrize(
    ("claims", "basis", "db", "mapped"),
    [
        ([_claim(False, "Judge error: timeout")], ["DB", "NL_ASSERTION"], True, "judge_error"),
        ([_claim(False, "Judge error"), _claim(True, "said")], ["NL_ASSERTION"], None, "judge_error"),
        ([_claim(False, "Judge error"), _claim(False, "never said")], ["NL_ASSERTION"], True, "fail"),
        ([_claim(False, "Judge error")], ["DB", "NL_ASSERTION"], False, "fail"),
        ([_claim(False, "Judge error")], ["DB"], True, "fail"),
        ([_claim(False, "The agent made an error")], ["NL_ASSERTION"], True, "fail"),
    ],
)
def test_a_judge_that_failed_is_no_failure_of_the_call(
    tmp_path: Path, claims: Any, basis: Any, db: Any, mapped: str
) -> None:
    check = None if db is None else {"db_match": db}
    reward = {"reward": 0.0, "nl_assertions": claims, "reward_basis": basis, "db_check": check}
    _, (trial,) = imported(tmp_path, results([simulation(reward_info=reward)]))

    assert trial.verdict.mapped == mapped
    assert (trial.verdict.db_match, trial.verdict.reward_basis) == (db, tuple(basis))


@pytest.mark.parametrize(
    ("basis", "others", "mapped"),
    [
        # What is not in the basis decides nothing: tau2 fills these checks in all the same.
        (["DB", "NL_ASSERTION"], {"communicate_checks": [{"info": "10", "met": False}]}, "judge_error"),
        (["NL_ASSERTION"], {"db_check": {"db_match": False}}, "judge_error"),
        (["DB", "NL_ASSERTION"], {"action_checks": [{"action_match": False}]}, "judge_error"),
        (["DB", "NL_ASSERTION"], {"env_assertions": [{"met": False}]}, "judge_error"),
        (["COMMUNICATE", "NL_ASSERTION"], {"communicate_checks": [{"info": "10", "met": False}]}, "fail"),
        (["ACTION", "NL_ASSERTION"], {"action_checks": [{"action_match": False}]}, "fail"),
        (["ENV_ASSERTION", "NL_ASSERTION"], {"env_assertions": [{"met": False}]}, "fail"),
    ],
)
def test_only_what_is_in_the_basis_decides_beside_a_judge_that_failed(
    tmp_path: Path, basis: Any, others: Any, mapped: str
) -> None:
    reward = {"reward": 0.0, "nl_assertions": [_claim(False, "Judge error")], "reward_basis": basis, **others}
    _, (trial,) = imported(tmp_path, results([simulation(reward_info=reward)]))

    assert trial.verdict.mapped == mapped


def _bench(reward: Any, info: Any) -> list[dict[str, Any]]:
    traj = [{"role": "system", "content": "Policy"}, {"role": "user", "content": "Hi"}]
    return [{"task_id": 3, "trial": 1, "reward": reward, "traj": traj, "info": {"reward_info": info, "user_cost": 0.1}}]


@pytest.mark.parametrize(
    ("reward", "info", "mapped", "db_match"),
    [
        (1.0, {"info": {"r_actions": 1.0}}, "pass", True),
        (0.0, {"info": {"r_actions": 0.0}}, "fail", False),
        (1.0, {"info": {"r_outputs": 1.0, "outputs": {"10": True}}}, "pass", True),
        (0.0, {"info": {"r_outputs": 1.0, "outputs": {"10": True}}}, "fail", False),
        (0.0, {"info": {"r_outputs": 0.0, "outputs": {"10": False}}}, "fail", None),
        (0.0, None, "fail", None),
        (0.93, {"info": {"r_actions": 1.0}, "components": {"base_success": 1.0}}, "pass", True),
        (0.0, {"info": {"r_actions": 0.0}, "components": {"base_success": 0.0}}, "fail", False),
        (0.93, {"info": {}}, "not_scored", None),
        (None, None, "not_scored", None),
    ],
)
def test_tau_bench_rewards_are_mapped(tmp_path: Path, reward: Any, info: Any, mapped: str, db_match: Any) -> None:
    _, (trial,) = imported(tmp_path, _bench(reward, info))

    assert (trial.verdict.mapped, trial.verdict.db_match, trial.verdict.reward) == (mapped, db_match, reward)
    assert (trial.task_id, trial.trial, trial.user_cost, trial.policy) == ("3", 1, 0.1, "Policy")
    assert (trial.id, trial.started_at, trial.termination_reason) == (None, None, None)


def test_an_error_of_tau_benchs_harness_is_no_failure_of_the_agent(tmp_path: Path) -> None:
    broken = {"task_id": 1, "reward": 0.0, "info": {"error": "429 " + "sk-" + "a1" * 12, "traceback": "..."}}
    _, (trial,) = imported(tmp_path, [broken | {"traj": [], "trial": 0}])

    assert trial.verdict.mapped == "excluded"
    assert "harness itself failed (429 [redacted])" in trial.verdict.why


@pytest.mark.parametrize(("info", "why"), [({"reward_info": None}, "limit of steps"), ({}, "")])
def test_a_limit_of_steps_is_named_only_where_the_file_shows_it(tmp_path: Path, info: Any, why: str) -> None:
    _, (trial,) = imported(tmp_path, [_bench(0.0, None)[0] | {"info": info}])

    assert trial.verdict.mapped == "fail"
    assert why in trial.verdict.why
    assert bool(trial.verdict.why) == bool(why)


def test_tau_bench_runs_only_the_first_call_of_a_message(tmp_path: Path) -> None:
    calls = [{"id": "", "function": {"name": name, "arguments": '{"a": 1}'}} for name in ("first", "second")]
    entry = _bench(1.0, None)[0]
    entry["traj"] += [{"role": "assistant", "content": None, "tool_calls": calls}, {"role": "tool", "content": "done"}]
    failing = {"role": "tool", "content": "Error: 503 Service Unavailable"}
    entry["traj"] += [{"role": "assistant", "content": None, "tool_calls": calls[:1]}, failing]
    run, (trial, *others) = imported(tmp_path, [entry, "rubbish"])

    first, second, third = trial.tool_calls
    assert (first.arguments, first.result, first.paired_by, first.is_executed) == ({"a": 1}, "done", "position", True)
    assert (second.result, second.is_executed) == (None, False)
    assert (third.is_executed, third.not_executed) == (False, "the harness answered with an error of its own")
    assert others == []
    assert [remark.place for remark in run.refused] == ["[1]"]
