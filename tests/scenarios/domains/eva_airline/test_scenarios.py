"""The eva scenarios as they are loaded: where they come from, what gates them, what both sides are told."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from scenarios import domains
from scenarios.domains.base import ScenarioSpec
from scenarios.domains.environment import Environment
from scenarios.domains.eva_airline import NAMES, EvaAirline
from scenarios.replay import gold_replay
from scenarios.state.canonical import canonical_hash
from scenarios.state.diff import three_way

UNCHANGED = {"5.2.5", "7.1.1", "7.2.2", "7.2.8", "7.3.1", "7.4.1"}


@pytest.fixture
def eva(benchmarks: Path) -> EvaAirline:
    domain = domains.load()["eva_airline"]
    assert isinstance(domain, EvaAirline)
    return domain


@pytest.fixture
def rows(benchmarks: Path) -> dict[str, Any]:
    lines = (benchmarks / "eva_airline" / "eva_airline_dataset.jsonl").read_text().splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def scenario(eva: EvaAirline, task_id: str) -> ScenarioSpec:
    return next(spec for spec in eva.scenarios() if spec.task_id == task_id)


def test_all_lines_of_the_data_set_in_their_order(eva: EvaAirline, rows: dict[str, Any]) -> None:
    assert [spec.task_id for spec in eva.scenarios()] == list(rows)
    assert len({spec.name for spec in eva.scenarios()}) == 50


def test_names_come_from_the_id_but_for_five(eva: EvaAirline) -> None:
    names = {spec.task_id: spec.name for spec in eva.scenarios()}
    assert names["1.1.3"] == "eva_airline__1_1_3"
    assert {names[task_id] for task_id in NAMES} == {f"eva_airline__{name}" for name in NAMES.values()}


def test_state_and_exit_gate_and_nothing_else(eva: EvaAirline) -> None:
    assert {spec.success_signals for spec in eva.scenarios()} == {("db_state_match", "clean_exit")}
    assert not any(spec.nl_assertions or spec.persona_name for spec in eva.scenarios())


def test_the_day_is_the_scenarios_own(eva: EvaAirline, rows: dict[str, Any]) -> None:
    for spec in eva.scenarios():
        assert rows[spec.task_id]["current_date_time"].startswith(eva.tool_now(spec))
    assert eva.tool_now(scenario(eva, "1.1.2")) == "2026-03-17"


def test_titles_fit_a_list(eva: EvaAirline) -> None:
    assert all(0 < len(spec.title) <= 120 for spec in eva.scenarios())


def test_adversarial_scenarios_are_tagged(eva: EvaAirline, rows: dict[str, Any]) -> None:
    tagged = {spec.task_id for spec in eva.scenarios() if spec.tags == ("adversarial",)}
    assert tagged == {task for task, row in rows.items() if "adversarial_vector" in row["scenario_context"]}
    assert len(tagged) == 9


def test_the_expected_state_is_the_data_sets_own(eva: EvaAirline, rows: dict[str, Any]) -> None:
    for spec in eva.scenarios():
        shipped = canonical_hash(rows[spec.task_id]["ground_truth"]["expected_scenario_db"])
        expected = eva.expected_databases(spec)["agent"]
        assert expected.hash == canonical_hash(expected.to_json()) == shipped
        assert expected.seed is eva.seeds(spec)["agent"]
        assert gold_replay(spec).expected_hashes == {"agent": shipped}


def test_the_reference_calls_lead_to_it(eva: EvaAirline) -> None:
    for spec in eva.scenarios():
        world = Environment(eva, spec)
        results = [world.call_tool("agent", action.tool, dict(action.arguments)) for action in spec.gold_actions]
        assert all(result.ok for result in results)
        expected = gold_replay(spec)
        assert world.databases["agent"].hash == expected.expected_hashes["agent"]
        fields = three_way(expected.databases["agent"], world.databases["agent"], [], expected.calls)
        assert all(field.state == "right" for field in fields)
        assert bool(fields) == (spec.task_id not in UNCHANGED)


def test_pages_say_that_the_reference_calls_are_not_the_only_way(eva: EvaAirline) -> None:
    for spec in eva.scenarios():
        assert bool(spec.extra["reference_calls"]) == bool(spec.gold_actions)


def test_the_do_nothing_line_is_6_of_50(eva: EvaAirline) -> None:
    health = {spec.task_id: gold_replay(spec).health for spec in eva.scenarios()}
    assert {task for task, found in health.items() if found.gold_equals_seed} == UNCHANGED
    assert {task for task, found in health.items() if found.passes_by_inaction} == UNCHANGED
    assert not any(found.failing_reads or found.failing_writes or found.duplicate_of for found in health.values())


def test_what_a_call_does_stays_in_the_call(eva: EvaAirline) -> None:
    spec = scenario(eva, "1.1.2")
    before = eva.seeds(spec)["agent"].hash
    world = Environment(eva, spec)
    for action in spec.gold_actions:
        assert world.call_tool("agent", action.tool, dict(action.arguments)).ok
    assert world.databases["agent"].hash != before
    assert Environment(eva, spec).databases["agent"].hash == before


def test_what_the_agent_is_told(eva: EvaAirline, benchmarks: Path) -> None:
    agent = yaml.safe_load((benchmarks / "eva_airline" / "airline_agent.yaml").read_text())
    prompt = eva.agent_prompt(scenario(eva, "2.1.1"))
    assert prompt.startswith(f"{agent['role'].strip()}\n\n{agent['instructions'].rstrip()}\n\n## Additional Notes")
    assert "It is 2026-04-14 09:45 PST now." in prompt
    assert "Ids of journeys" in prompt
    assert "end_conversation" in prompt


def test_what_the_caller_is_told(eva: EvaAirline, rows: dict[str, Any]) -> None:
    for spec in eva.scenarios():
        goal, person = rows[spec.task_id]["user_goal"], rows[spec.task_id]["user_config"]
        tree = goal["decision_tree"]
        prompt = eva.caller_prompt(spec)
        told = [goal["high_level_user_goal"], goal["starting_utterance"], person["name"], person["user_persona"]]
        told += [tree["resolution_condition"], tree["failure_condition"], tree["escalation_behavior"]]
        for part in ("must_have_criteria", "nice_to_have_criteria", "negotiation_behavior", "edge_cases"):
            told += [f"- {line}" for line in tree[part]]
        told += [value for value in goal["information_required"].values() if isinstance(value, str)]
        assert all(text in prompt for text in told)


def test_the_caller_is_not_told_what_is_right(eva: EvaAirline) -> None:
    spec = scenario(eva, "7.2.2")
    prompt = eva.caller_prompt(spec)
    assert spec.extra["expected_flow"] not in prompt
    assert spec.extra["premise"] not in prompt
    assert "FL_" not in prompt


def test_what_is_nested_is_told_in_words(eva: EvaAirline) -> None:
    known = scenario(eva, "1.1.2").caller.known_info
    assert "Booking confirmation number: ZK3FFW" in known
    assert "seat preference: first choice: window, second choice: aisle, third choice: middle" in known
    assert "{" not in known


def test_the_agent_has_fifteen_tools_and_a_way_to_hang_up(eva: EvaAirline) -> None:
    names = [tool.model_name() for tool in eva.tools("agent")]
    assert (len(names), names[-1]) == (16, "end_conversation")
    assert {action.tool for spec in eva.scenarios() for action in spec.gold_actions} <= set(names)
    assert eva.tools("user") == ()


@pytest.fixture
def folder(tmp_path: Path, benchmarks: Path) -> Iterator[Path]:
    """Return a copy of the eva files that a test may damage; it is the data root while the test runs."""
    shutil.copytree(benchmarks / "eva_airline", tmp_path / "eva_airline", copy_function=shutil.copyfile)
    domains.set_data_root(tmp_path)
    yield tmp_path / "eva_airline"
    domains.set_data_root(None)


def test_a_damaged_scenario_is_refused_by_name(folder: Path) -> None:
    path = folder / "4.1.2.json"
    path.write_text(path.read_text().replace("JL42CX", "JL42CY", 1))
    missing = EvaAirline().missing_data()
    assert missing is not None
    assert missing.startswith("eva_airline/4.1.2.json is damaged: expected sha256")
    with pytest.raises(FileNotFoundError, match="eva_airline cannot be used: .*4.1.2.json is damaged"):
        EvaAirline().scenarios()


def test_of_many_absent_files_some_are_named(folder: Path) -> None:
    shutil.rmtree(folder)
    missing = EvaAirline().missing_data()
    assert missing is not None
    assert missing.count("is absent") == 8
    assert "; 44 more. Run `manage.py fetch_benchmarks`" in missing
