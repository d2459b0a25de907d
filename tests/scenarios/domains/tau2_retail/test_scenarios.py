"""The retail scenarios as they are loaded: what gates them, what is known about them, what both sides are told."""

from dataclasses import replace
from pathlib import Path

import pytest

from scenarios import domains
from scenarios.domains.tau2_retail import Tau2Retail
from scenarios.domains.tau2_retail.known_errors import KNOWN_ERRORS


@pytest.fixture
def retail(benchmarks: Path) -> Tau2Retail:
    domain = domains.load()["tau2_retail"]
    assert isinstance(domain, Tau2Retail)
    return domain


def test_counts_of_the_reference(retail: Tau2Retail) -> None:
    scenarios = retail.scenarios()
    with_claims = [spec for spec in scenarios if spec.nl_assertions]
    assert len(scenarios) == len({spec.name for spec in scenarios}) == 114
    assert (len(with_claims), sum(len(spec.nl_assertions) for spec in with_claims)) == (40, 61)


def test_claims_gate_where_they_are_written(retail: Tau2Retail) -> None:
    for spec in retail.scenarios():
        assert ("nl_assertion" in spec.success_signals) == bool(spec.nl_assertions)
        assert spec.success_signals[0] == "db_state_match"
        assert spec.success_signals[-1] == "clean_exit"


def test_scenarios_stand_in_the_order_of_the_task_file(retail: Tau2Retail) -> None:
    assert [spec.task_id for spec in retail.scenarios()] == [str(number) for number in range(114)]


def test_every_scenario_carries_its_splits_and_a_persona(retail: Tau2Retail) -> None:
    tags = [spec.tags for spec in retail.scenarios()]
    assert (tags.count(("train",)), tags.count(("test",))) == (74, 40)
    assert {spec.persona_name for spec in retail.scenarios()} == {"lisa_brenner", "matt_delaney"}


def test_compare_args_are_kept(retail: Tau2Retail) -> None:
    compared = {
        spec.task_id: action.compare_args
        for spec in retail.scenarios()
        for action in spec.gold_actions
        if action.compare_args is not None
    }
    assert compared == {"10": (), "12": (), "26": (), "50": ()}


def test_what_the_caller_is_told(retail: Tau2Retail) -> None:
    spec = retail.scenarios()[0]
    prompt = retail.caller_prompt(spec)
    for text in (spec.caller.goal, spec.caller.personality, spec.caller.known_info, spec.caller.unknown_info):
        assert text in prompt
    headings = [line for line in prompt.splitlines() if line.startswith("#")]
    assert headings == [
        "# Persona",
        "# Task",
        "# Actions",
        "## Guidelines",
        "# Resources",
        "## Additional Information",
        "### Things you know",
        "### Things you don't know",
    ]


def test_an_unknown_that_is_not_given_has_no_section(retail: Tau2Retail) -> None:
    spec = next(spec for spec in retail.scenarios() if not spec.caller.unknown_info)
    assert "Things you don't know" not in retail.caller_prompt(spec)


def test_what_the_agent_is_told_begins_with_the_policy_word_for_word(retail: Tau2Retail, benchmarks: Path) -> None:
    prompt = retail.agent_prompt(retail.scenarios()[0])
    policy = (benchmarks / "tau2_retail" / "policy.md").read_text()
    assert prompt.startswith(policy.rstrip("\n"))
    assert "## Additional Notes to Follow" in prompt
    assert "end_conversation" in prompt
    assert "transfer_to_human_agents" in prompt


def test_tools_that_the_prompt_names_exist_under_this_name(retail: Tau2Retail) -> None:
    names = {tool.model_name() for tool in retail.tools("agent")}
    assert {"end_conversation", "transfer_to_human_agents", "find_user_id_by_name_zip"} <= names
    assert len(names) == 17
    assert {action.tool for spec in retail.scenarios() for action in spec.gold_actions} <= names


def test_known_errors_are_those_of_tasks_that_exist(retail: Tau2Retail) -> None:
    ids = {spec.task_id for spec in retail.scenarios()}
    assert set(KNOWN_ERRORS) <= ids
    notes = {spec.task_id: spec.extra["known_errors"] for spec in retail.scenarios()}
    assert "gift card" in notes["105"][0].text
    assert notes["7"] == []


def test_notes_for_pages_do_not_change_the_fingerprint(retail: Tau2Retail) -> None:
    spec = retail.scenarios()[0]
    assert replace(spec, title="x", tags=("y",), extra={}).fingerprint == spec.fingerprint
    assert replace(spec, max_duration_s=1).fingerprint != spec.fingerprint
