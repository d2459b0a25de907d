"""The airline scenarios as they are loaded: what gates them, what is known about them, what both sides are told."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from scenarios import domains
from scenarios.domains.base import GoldAction
from scenarios.domains.tau2_airline import Tau2Airline
from scenarios.domains.tau2_airline.known_errors import KNOWN_ERRORS
from scenarios.replay import Gold, gold_replay

# Tasks whose gold changes nothing: all of them refusals.
UNCHANGED = {str(number) for number in (*range(7), 9, 10, 13, 26, 27, 28, 31, 34, 36, 38, 41, 43, *range(45, 50))}


@pytest.fixture
def airline(benchmarks: Path) -> Tau2Airline:
    domain = domains.load()["tau2_airline"]
    assert isinstance(domain, Tau2Airline)
    return domain


def gold(airline: Tau2Airline, task_id: str) -> Gold:
    return gold_replay(next(spec for spec in airline.scenarios() if spec.task_id == task_id))


def test_all_tasks_in_the_order_of_the_task_file(airline: Tau2Airline) -> None:
    scenarios = airline.scenarios()
    assert [spec.task_id for spec in scenarios] == [str(number) for number in range(50)]
    assert len({spec.name for spec in scenarios}) == 50
    assert {spec.max_duration_s for spec in scenarios} == {900}


def test_state_and_exit_gate_and_nothing_else(airline: Tau2Airline) -> None:
    assert {spec.success_signals for spec in airline.scenarios()} == {("db_state_match", "clean_exit")}


def test_assertions_of_the_task_file_are_shown_and_do_not_count(airline: Tau2Airline) -> None:
    assert not any(spec.nl_assertions for spec in airline.scenarios())
    assert all(spec.extra["assertions_that_do_not_count"] for spec in airline.scenarios())
    first = airline.scenarios()[0]
    assert first.extra["assertions_that_do_not_count"] == ["Agent should refuse to proceed with the cancellation."]


def test_facts_that_upstream_wants_said_are_kept(airline: Tau2Airline) -> None:
    said = {spec.task_id: spec.communicate_info for spec in airline.scenarios() if spec.communicate_info}
    assert said == {
        "3": ("4",),
        "7": ("1628",),
        "11": ("5244",),
        "14": ("327", "1000", "1786"),
        "18": ("23553",),
        "23": ("327", "1000", "1286"),
    }


def test_every_scenario_carries_a_split_and_a_persona(airline: Tau2Airline) -> None:
    tags = [spec.tags for spec in airline.scenarios()]
    assert (tags.count(("train",)), tags.count(("test",))) == (30, 20)
    assert {spec.persona_name for spec in airline.scenarios()} == {"lisa_brenner", "matt_delaney"}


def test_what_the_agent_is_told_begins_with_the_policy_word_for_word(airline: Tau2Airline, benchmarks: Path) -> None:
    prompt = airline.agent_prompt(airline.scenarios()[0])
    assert prompt.startswith((benchmarks / "tau2_airline" / "policy.md").read_text().rstrip("\n"))
    assert "2024-05-15 15:00:00" in prompt
    assert "transfer_to_human_agents" in prompt


def test_what_the_caller_is_told(airline: Tau2Airline) -> None:
    spec = airline.scenarios()[0]
    prompt = airline.caller_prompt(spec)
    for text in (spec.caller.goal, spec.caller.personality, spec.caller.known_info):
        assert text in prompt
    assert "refuse to proceed" not in prompt


def test_the_agent_has_fourteen_tools_and_a_way_to_hang_up(airline: Tau2Airline) -> None:
    names = [tool.model_name() for tool in airline.tools("agent")]
    assert (len(names), names[-1]) == (15, "end_conversation")
    assert {action.tool for spec in airline.scenarios() for action in spec.gold_actions} <= set(names)
    assert airline.tools("user") == ()


def test_the_day_is_fixed(airline: Tau2Airline) -> None:
    assert {airline.tool_now(spec) for spec in airline.scenarios()} == {"2024-05-15T15:00:00"}


@pytest.mark.parametrize(
    ("task_id", "digest"),
    [
        ("7", "e3ec53d88edc272cba693e15579a593f454d7d234b1e02038afa7b214690f370"),
        ("8", "4a5525cb304e5dd07aa65431a4c4cdbd7b9cc64526ead19562465d0dcca71ca4"),
        ("0", "4da8c3f8adaffe176a9daaa5f20658bb9b36cd945733ab8f9ecf2e8bcbaabcc8"),
    ],
)
def test_the_gold_hashes_of_the_reference(airline: Tau2Airline, task_id: str, digest: str) -> None:
    assert gold(airline, task_id).expected_hashes == {"agent": digest}


def test_the_do_nothing_line_is_24_of_50(airline: Tau2Airline) -> None:
    health = {spec.task_id: gold_replay(spec).health for spec in airline.scenarios()}
    assert {task for task, found in health.items() if found.gold_equals_seed} == UNCHANGED
    assert {task for task, found in health.items() if found.passes_by_inaction} == UNCHANGED
    assert len(UNCHANGED) == 24


def test_no_gold_call_fails_and_no_task_is_given_twice(airline: Tau2Airline) -> None:
    for spec in airline.scenarios():
        found = gold_replay(spec)
        assert all(call.ok for call in found.calls)
        assert found.health.duplicate_of is None


def test_both_fidelities_expect_the_same(airline: Tau2Airline) -> None:
    for spec in airline.scenarios():
        assert gold_replay(spec).expected_hashes == gold_replay(spec, "reference").expected_hashes
        assert gold_replay(spec).reference_actions == gold_replay(spec, "reference").reference_actions


def test_known_errors_are_those_of_tasks_that_exist(airline: Tau2Airline) -> None:
    notes = {spec.task_id: spec.extra["known_errors"] for spec in airline.scenarios()}
    assert set(KNOWN_ERRORS) <= set(notes)
    assert "issue 514" in notes["14"][1].text
    assert notes["0"] == []


def turned(action: GoldAction) -> GoldAction:
    """Return an action with passengers and payments the other way round; the order of flights is meant to matter."""
    lists = {
        name: action.arguments[name][::-1] for name in ("passengers", "payment_methods") if name in action.arguments
    }
    return replace(action, arguments={**action.arguments, **lists})


def test_the_order_of_a_list_matters_exactly_where_it_is_said_to(airline: Tau2Airline) -> None:
    noted = {task for task, notes in KNOWN_ERRORS.items() if any("the order in which" in note.text for note in notes)}
    measured = set()
    for spec in airline.scenarios():
        other = replace(spec, gold_actions=tuple(map(turned, spec.gold_actions)))
        if gold_replay(other).expected_hashes != gold_replay(spec).expected_hashes:
            measured.add(spec.task_id)
    assert measured == noted == {"8", "14", "20", "23", "24", "25", "40"}


@pytest.fixture
def folder(tmp_path: Path, benchmarks: Path) -> Iterator[Path]:
    """Return a copy of the airline files that a test may damage; it is the data root while the test runs."""
    shutil.copytree(benchmarks / "tau2_airline", tmp_path / "tau2_airline", copy_function=shutil.copyfile)
    domains.set_data_root(tmp_path)
    yield tmp_path / "tau2_airline"
    domains.set_data_root(None)


@pytest.mark.parametrize("shard", ["flights", "reservations", "users"])
def test_a_damaged_shard_is_refused_by_name(folder: Path, shard: str) -> None:
    path = folder / "db" / f"{shard}.json"
    text = path.read_text()
    path.write_text(text[:1000] + ("1" if text[1000] != "1" else "2") + text[1001:])
    domain = Tau2Airline()
    missing = domain.missing_data()
    assert missing is not None
    assert f"tau2_airline/db/{shard}.json is damaged: expected sha256" in missing
    assert missing.count(".json is ") == 1
    with pytest.raises(FileNotFoundError, match=f"tau2_airline cannot be used: .*{shard}.json is damaged"):
        domain.scenarios()


def test_an_absent_shard_is_named_with_the_remedy(folder: Path) -> None:
    (folder / "db" / "users.json").unlink()
    missing = Tau2Airline().missing_data()
    assert missing is not None
    assert "tau2_airline/db/users.json is absent" in missing
    assert "manage.py fetch_benchmarks" in missing
