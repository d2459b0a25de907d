"""The telecom scenarios as they are loaded, under both support texts: reference-system.md 2.2, 2.4 and 5."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from scenarios import domains
from scenarios.domains.base import ScenarioSpec
from scenarios.domains.predicates import evaluate
from scenarios.domains.tau2_telecom import Tau2Telecom
from scenarios.domains.tau2_telecom.initialization import STEPS
from scenarios.replay import gold_replay
from tests.scenarios.domains.tau2_telecom.worlds import telecom

VARIANTS = ("tau2_telecom", "tau2_telecom_workflow")

pytestmark = pytest.mark.usefixtures("benchmarks")


def variant(prefix: str) -> list[ScenarioSpec]:
    return [spec for spec in telecom().scenarios() if spec.name.startswith(f"{prefix}__")]


@pytest.mark.parametrize("prefix", VARIANTS)
def test_counts_of_the_reference(prefix: str) -> None:
    specs = variant(prefix)
    assert len({spec.name for spec in specs}) == 114
    assert Counter(spec.task_id.partition("]")[0] for spec in specs) == {
        "[mms_issue": 49,
        "[mobile_data_issue": 36,
        "[service_issue": 29,
    }
    kinds = Counter(assertion.func_name for spec in specs for assertion in spec.db_assertions)
    assert kinds == {
        "assert_mobile_data_status": 36,
        "assert_internet_speed": 36,
        "assert_service_status": 29,
        "assert_can_send_mms": 49,
        "assert_data_refueling_amount": 50,
        "assert_no_overdue_bill": 9,
    }
    assert {spec.success_signals for spec in specs} == {("db_state_assertion", "clean_exit")}
    assert {(spec.domain, spec.max_duration_s) for spec in specs} == {("tau2_telecom", 900)}


def test_a_name_says_category_faults_and_how_hard_the_caller_is() -> None:
    names = {(spec.task_id, spec.name) for spec in telecom().scenarios()}
    plain = "[mobile_data_issue]airplane_mode_on|user_abroad_roaming_enabled_off[PERSONA:None]"
    hard = "[mobile_data_issue]airplane_mode_on|bad_network_preference[PERSONA:Hard]"
    for prefix in VARIANTS:
        assert (plain, f"{prefix}__mobile_data_issue__airplane_mode_on__user_abroad_roaming_enabled_off") in names
        assert (hard, f"{prefix}__mobile_data_issue__airplane_mode_on__bad_network_preference__hard") in names


def test_tags_choose_a_variant_a_category_and_a_split() -> None:
    tags = Counter(tag for spec in telecom().scenarios() for tag in spec.tags)
    assert (tags["manual"], tags["workflow"]) == (114, 114)
    assert (tags["mms_issue"], tags["easy"], tags["hard"]) == (98, 76, 72)
    assert (tags["train"], tags["test"]) == (148, 80)
    assert tags["full"] == 0


def test_the_persona_is_kept_and_nobody_is_told() -> None:
    personas = Counter(bool(spec.persona) for spec in variant("tau2_telecom"))
    assert personas == {True: 74, False: 40}
    for spec in telecom().scenarios():
        assert bool(spec.persona) == bool({"easy", "hard"} & set(spec.tags))
        if spec.persona:
            assert spec.persona[:40] not in telecom().caller_prompt(spec)
            assert telecom().caller_prompt(spec.with_persona()).count(spec.persona) == 1
    assert {spec.persona_name for spec in telecom().scenarios()} == {"lisa_brenner", "matt_delaney"}


@pytest.mark.parametrize(
    ("prefix", "text"), [(VARIANTS[0], "tech_support_manual.md"), (VARIANTS[1], "tech_support_workflow.md")]
)
def test_what_the_agent_is_told_begins_with_both_texts_word_for_word(prefix: str, text: str, benchmarks: Path) -> None:
    folder = benchmarks / "tau2_telecom"
    prompt = telecom().agent_prompt(variant(prefix)[0])
    policy, support = (folder / "main_policy.md").read_text(), (folder / text).read_text()
    assert prompt.startswith(f"{policy}\n\n---\n\n{support.rstrip()}")
    notes = prompt.removeprefix(f"{policy}\n\n---\n\n{support.rstrip()}")
    for side in ("agent", "user"):
        assert all(f"`{tool.model_name()}`" in notes for tool in telecom().tools(side))
    assert "abroad" in notes
    assert "end_conversation" in notes


def test_what_the_caller_is_told() -> None:
    spec = telecom().scenarios()[0]
    prompt = telecom().caller_prompt(spec)
    for text in (spec.caller.goal, spec.caller.personality, spec.caller.known_info, "Step 4:"):
        assert text in prompt
    headings = [line for line in prompt.splitlines() if line.startswith("#")]
    assert headings == [
        "# Persona",
        "# Task",
        "# Actions",
        "## Instructions",
        "## Guidelines",
        "# Resources",
        "## Additional Information",
        "### Things you know",
    ]


def test_everything_a_task_names_exists() -> None:
    domain = telecom()
    tools = {side: {tool.model_name() for tool in domain.tools(side)} for side in ("agent", "user")}
    assert (len(tools["agent"]), len(tools["user"]), len(STEPS), len(domain.predicates())) == (14, 30, 20, 6)
    used = set()
    for spec in domain.scenarios():
        assert all(action.tool in tools[action.side] for action in spec.gold_actions)
        assert all(STEPS[action.func_name][0] == action.side for action in spec.init_actions)
        assert all(assertion.func_name in domain.predicates() for assertion in spec.db_assertions)
        used |= {action.func_name for action in spec.init_actions}
    assert used == set(STEPS)


@pytest.mark.parametrize("prefix", VARIANTS)
def test_every_gold_state_satisfies_its_predicates(prefix: str) -> None:
    domain = telecom()
    for spec in variant(prefix):
        gold = gold_replay(spec)
        assert all(call.ok for call in gold.calls)
        for assertion in spec.db_assertions:
            verdict = evaluate(assertion, domain.predicates(), gold.databases)
            assert (verdict.passed, verdict.error) == (True, None)


@pytest.mark.parametrize("prefix", VARIANTS)
def test_who_passes_by_doing_nothing(prefix: str) -> None:
    specs = variant(prefix)
    inaction = {spec.task_id for spec in specs if gold_replay(spec).health.passes_by_inaction}
    demand_transfer = {spec.task_id for spec in specs if "ACTION" in spec.reward_basis}
    assert len(inaction) == 20
    assert inaction == demand_transfer
    assert all("transfer" in spec.extra["known_errors"][0].text for spec in specs if spec.task_id in inaction)
    assert not any(gold_replay(spec).health.duplicate_of for spec in specs)


def test_hints_about_refuelling_are_noted_where_they_are_given() -> None:
    for spec in telecom().scenarios():
        noted = any("refuelled" in note.text for note in spec.extra["known_errors"])
        assert noted == ("mms_issue" in spec.tags and "refuel" in spec.caller.personality)


def test_both_variants_end_in_the_same_states() -> None:
    for manual, workflow in zip(*map(variant, VARIANTS), strict=True):
        assert manual.task_id == workflow.task_id
        assert gold_replay(manual).expected_hashes == gold_replay(workflow).expected_hashes
        assert manual.fingerprint != workflow.fingerprint


@pytest.fixture
def folder(tmp_path: Path, benchmarks: Path) -> Any:
    shutil.copytree(benchmarks / "tau2_telecom", tmp_path / "tau2_telecom", copy_function=shutil.copyfile)
    domains.set_data_root(tmp_path)
    yield tmp_path / "tau2_telecom"
    domains.set_data_root(None)


@pytest.mark.parametrize("name", ["user_db.json", "main_policy.md", "tech_support_workflow.md"])
def test_an_absent_file_is_named_with_the_remedy(folder: Path, name: str) -> None:
    (folder / name).unlink()
    missing = Tau2Telecom().missing_data()
    assert missing is not None
    assert f"tau2_telecom/{name} is absent" in missing
    assert "fetch_benchmarks" in missing
    with pytest.raises(FileNotFoundError, match="tau2_telecom cannot be used"):
        Tau2Telecom().scenarios()


def test_a_task_id_of_another_form_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    domain = Tau2Telecom()
    tasks = json.loads((folder / "tasks.json").read_text())
    tasks[0]["id"] = "airplane_mode_on"
    files = {"tasks.json": tasks, "split_tasks.json": {"base": ["airplane_mode_on"]}}
    monkeypatch.setattr(domain, "_read", files.__getitem__)
    with pytest.raises(ValueError, match="'airplane_mode_on' is not of the form"):
        domain.scenarios()
