from typing import Any

import pytest

from scenarios.domains.base import GoldAction
from scenarios.formats.foreign_tasks import spec_of, tau2_definition
from scenarios.formats.reference_records import ForeignRecord
from tests.scenarios.scoring.cases import spec

TODAY = spec()
TAU_BENCH: dict[str, Any] = {
    "user_id": "u",
    "instruction": "Cancel W1.",
    "actions": [
        {"name": "cancel", "kwargs": {"order_id": "W1"}},
        {"name": "respond", "kwargs": {"content": "10"}},
    ],
    "outputs": [10, "ten"],
}


def foreign(format_: str, task: dict[str, Any] | None) -> ForeignRecord:
    return ForeignRecord(format_, "user_stop", "5", task, None)


def made(format_: str, task: dict[str, Any] | None) -> Any:
    return spec_of(foreign(format_, task), "toy", "toy__5", TODAY)


def test_a_task_of_tau_bench_becomes_one_of_tau2() -> None:
    definition = tau2_definition(foreign("tau_bench", TAU_BENCH))
    assert definition is not None
    criteria = definition["evaluation_criteria"]
    assert [(action["action_id"], action["name"]) for action in criteria["actions"]] == [("5_0", "cancel")]
    assert criteria["communicate_info"] == ["10", "ten"]
    assert definition["user_scenario"]["instructions"] == "Cancel W1."


def test_a_task_of_tau2_is_kept_as_it_is() -> None:
    task = {"id": "5", "anything": [1]}
    for format_ in ("tau2", "tau2_directory", "tau2_simulation"):
        assert tau2_definition(foreign(format_, task)) == task
    assert tau2_definition(foreign("tau2", None)) is None
    assert tau2_definition(foreign("eva", task)) is None


def test_the_files_own_task_is_the_scenario_and_not_todays() -> None:
    found = made("tau_bench", TAU_BENCH)
    assert (found.name, found.task_id, found.caller.goal) == ("toy__5", "5", "Cancel W1.")
    assert found.gold_actions == (GoldAction("cancel", {"order_id": "W1"}),)
    told = {"reason_for_call": "Why", "known_info": None, "task_instructions": "Be brief."}
    task = {"user_scenario": {"instructions": told}, "evaluation_criteria": {"nl_assertions": ["Said."]}}
    found = made("tau2", task)
    assert (found.caller.goal, found.caller.personality, found.caller.known_info) == ("Why", "Be brief.", "")
    assert found.nl_assertions == ("Said.",)


def test_tools_that_run_our_scenarios_have_todays_task() -> None:
    for format_ in ("eva", "reference", "inspect"):
        assert made(format_, {"any": "thing"}) is TODAY


@pytest.mark.parametrize(
    "task",
    [
        None,
        {"evaluation_criteria": {"actions": [{"arguments": {}}]}},
        {"evaluation_criteria": {"actions": [3]}},
        {"evaluation_criteria": {"env_assertions": 7}},
        {"user_scenario": "text"},
    ],
)
def test_a_task_that_is_missing_or_damaged_is_none(task: dict[str, Any] | None) -> None:
    assert made("tau2", task) is None


def test_a_damaged_task_of_tau_bench_is_none() -> None:
    assert made("tau_bench", {"actions": [{"name": "x"}]}) is None
