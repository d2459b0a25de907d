"""tau2's three layouts, and what is kept of a simulation."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from scenarios.formats.imports.detect import open_import
from scenarios.formats.imports.source import DamagedFile
from tests.scenarios.formats.imports.files import answer, call, imported, results, simulation, task, write


def test_a_single_file_says_what_it_says_and_the_rest_is_unknown(tmp_path: Path) -> None:
    run, (trial,) = imported(tmp_path, results([simulation()], seed=300))

    assert (run.format, run.domain_name, run.git_commit, run.num_trials, run.seed) == ("tau2", "retail", "abc", 1, 300)
    assert (run.agent.model, run.agent.settings) == ("model-a", {"llm_args": {"temperature": 0.0}})
    assert (run.user.implementation, run.policy, run.max_steps) == ("user_simulator", "Be kind.", None)
    assert (trial.id, trial.task_id, trial.trial, trial.seed, trial.duration_s) == ("s1", "0", 0, 7, 12.5)
    assert (trial.agent_cost, trial.ended_at, trial.mode, trial.policy) == (None, None, None, None)
    assert [(turn.side, turn.spoken) for turn in trial.turns] == [("agent", "Hi!"), ("user", "Hello ###STOP###")]
    assert trial.task is run.tasks["0"]
    assert trial.remarks == ()
    assert run.remarks == []
    assert run.refused == []


def test_packed_and_plain_have_the_same_content_hash(tmp_path: Path) -> None:
    data = json.dumps(results([simulation()])).encode()
    plain, packed = open_import(write(tmp_path, data)), open_import(write(tmp_path, data, "other.json.gz"))

    assert plain.source.sha256 == plain.source.content_sha256 == hashlib.sha256(data).hexdigest()
    assert packed.source.content_sha256 == plain.source.sha256
    assert packed.source.sha256 == hashlib.sha256((tmp_path / "other.json.gz").read_bytes()).hexdigest()
    assert (packed.source.content_size, packed.source.size) == (len(data), len(gzip.compress(data)))


def test_head_after_the_simulations_is_read_as_well(tmp_path: Path) -> None:
    data = results([simulation()])
    run, (trial,) = imported(tmp_path, {name: data[name] for name in reversed(data)})

    assert trial.task is not None
    assert run.agent.model == "model-a"


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_directory_is_read_with_what_does_not_belong_there_named(tmp_path: Path, suffix: str) -> None:
    data = results(None)
    del data["simulations"]
    data["simulation_index"] = [{"id": "s1"}, {"id": "gone"}]
    write(tmp_path, data, f"results.json{suffix}")
    write(tmp_path, simulation(), f"simulations/s1.json{suffix}")
    write(tmp_path, simulation(id="s2", trial=1), f"simulations/s2.json{suffix}")
    write(tmp_path, b'{"id": "s3", "messages": [', f"simulations/s3.json{suffix}")
    write(tmp_path, b"me", "notes.txt")

    run = open_import(tmp_path)
    trials = list(run.trials())

    assert run.format == "tau2_directory"
    assert [trial.id for trial in trials] == ["s1", "s2"]
    assert [(remark.place, "breaks off" in remark.text) for remark in run.refused] == [
        (f"simulations/s3.json{suffix}", True)
    ]
    said = {(remark.place, remark.text) for remark in run.remarks}
    assert ("simulation_index", "gone is listed and has no file") in said
    assert ("notes.txt", "no part of the layout; not read") in said
    assert ("simulations/s2", "not in simulation_index; read all the same") in said


def test_the_results_file_of_a_directory_leads_to_the_directory(tmp_path: Path) -> None:
    data = results(None)
    del data["simulations"]
    head = write(tmp_path, data)
    write(tmp_path, simulation(), "simulations/s1.json")

    assert open_import(head).source == open_import(tmp_path).source
    before = open_import(tmp_path).source.content_sha256
    write(tmp_path, simulation(seed=8), "simulations/s1.json")
    assert open_import(tmp_path).source.content_sha256 != before


def test_a_folder_with_a_single_file_is_that_file(tmp_path: Path) -> None:
    write(tmp_path, results([simulation()]))

    assert open_import(tmp_path).format == "tau2"


def test_a_stray_simulations_folder_hides_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, results([simulation()]))
    write(tmp_path, simulation(id="other"), "simulations/other.json")

    run = open_import(path)
    assert [trial.id for trial in run.trials()] == ["s1"]
    assert "tau2 itself would read that" in run.remarks[0].text


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_bare_simulation_belongs_to_no_known_run(tmp_path: Path, wrapped: bool) -> None:
    data: Any = simulation()
    run, (trial,) = imported(tmp_path, {"task_id": "0", "reward": 1, "simulation_run": data} if wrapped else data)

    assert (run.format, run.domain_name, run.agent.model, run.tasks) == ("tau2_simulation", None, None, {})
    assert (trial.id, trial.task, trial.verdict.mapped) == ("s1", None, "pass")


@pytest.mark.parametrize(
    ("fields", "version"),
    [
        ({}, "0.1 to 0.2"),
        ({"messages": [{"role": "user", "content": "", "errors": None, "reasoning": None}]}, "0.2 (gym branch)"),
        ({"mode": "half_duplex"}, "1.0"),
        ({"mode": "half_duplex", "agent_usage": None}, "mid 2026"),
    ],
)
def test_versions_are_told_apart(tmp_path: Path, fields: dict[str, Any], version: str) -> None:
    assert imported(tmp_path, results([simulation(**fields)]))[0].version == version


def test_calls_are_paired_by_id_and_where_ids_fail_by_position(tmp_path: Path) -> None:
    two = call("a", {}, "x")
    two["tool_calls"].append({"id": "y", "name": "b", "arguments": {"n": 1}, "requestor": "user"})
    same = call("c", {}, "z")
    same["tool_calls"].append({"id": "z", "name": "d", "arguments": {}})
    messages = [two, answer("B", "y"), answer("A", "x"), same, answer("C", "z"), answer("D", "z"), answer("lost", "q")]
    _, (trial,) = imported(tmp_path, results([simulation(messages=messages)]))

    assert [(one.tool, one.side, one.result, one.paired_by) for one in trial.tool_calls] == [
        ("a", "agent", "A", "id"),
        ("b", "user", "B", "id"),
        ("c", "agent", "C", "position"),
        ("d", "agent", "D", "id"),
    ]
    texts = [remark.text for remark in trial.remarks]
    assert "an answer without a tool call before it" in texts
    assert "1 ids of tool calls are used more than once, such as 'z'" in texts


def test_duplicate_and_nameless_tasks_are_remarked_on(tmp_path: Path) -> None:
    run, trials = imported(tmp_path, results([simulation(task_id="9")], tasks=[task(), task(), {"description": 1}, 5]))

    assert list(run.tasks) == ["0"]
    assert sorted(remark.place for remark in run.remarks) == ["tasks[1]", "tasks[2]", "tasks[3]"]
    assert trials[0].task is None
    assert trials[0].remarks[0].text == "the file has no task '9'"


def test_wrong_types_become_unknown_with_a_remark(tmp_path: Path) -> None:
    rubbish = simulation(
        id=["x"],
        trial="one",
        seed=True,
        duration="long",
        reward_info=[1],
        messages=[7, {"role": 3, "content": {"a": 1}}, {"role": "assistant", "tool_calls": "x"}, call("t", "{no json")],
    )
    run, (trial,) = imported(tmp_path, results([rubbish, "text", None]))

    assert (trial.id, trial.trial, trial.seed, trial.duration_s) == (None, None, None, None)
    assert trial.verdict.mapped == "not_scored"
    assert (trial.tool_calls[0].arguments, trial.tool_calls[0].raw_arguments) == (None, "{no json")
    places = {remark.place for remark in trial.remarks}
    assert {"simulations[0].trial", "simulations[0].seed", "simulations[0].messages[0]"} <= places
    assert [remark.place for remark in run.refused] == ["simulations[1]", "simulations[2]"]


@pytest.mark.parametrize(
    ("info", "said"), [(None, "none: domain"), ("gone", "none: domain"), ([], "expected an object")]
)
def test_without_its_head_a_run_is_unknown_and_its_calls_are_not(tmp_path: Path, info: Any, said: str) -> None:
    data: dict[str, Any] = {**results([simulation()]), "info": info}
    if info == "gone":
        del data["info"]
    run, (trial,) = imported(tmp_path, data)

    assert (run.domain_name, run.agent.model, run.num_trials) == (None, None, None)
    assert (trial.task is not None, trial.verdict.mapped) == (True, "pass")
    assert [(remark.place, said in remark.text) for remark in run.remarks] == [("info", True)]


def test_what_is_no_simulation_is_refused_and_counts_nowhere(tmp_path: Path) -> None:
    run, trials = imported(tmp_path, results([simulation(), {"name": "notes", "a": 1}, {}]))

    assert len(trials) == 1
    assert [(remark.place, remark.text) for remark in run.refused] == [
        ("simulations[1]", "this is no simulation (found: name, a)"),
        ("simulations[2]", "this is no simulation (found: nothing)"),
    ]


def test_trials_before_the_break_are_read(tmp_path: Path) -> None:
    entries = [
        simulation(id=f"s{number}", messages=[{"role": "user", "content": "x" * 999}] * 40) for number in range(9)
    ]
    whole = json.dumps(results(entries)).encode()
    run = open_import(write(tmp_path, whole[: len(whole) * 2 // 3]))

    read: list[str | None] = []
    with pytest.raises(DamagedFile, match=r"results\.json, byte \d+: the JSON breaks off"):
        read.extend(trial.id for trial in run.trials())
    assert 2 <= len(read) < 9


def test_reading_twice_gives_the_same(tmp_path: Path) -> None:
    run = open_import(write(tmp_path, results([simulation(), "x"])))

    assert list(run.trials()) == list(run.trials())
    assert len(run.refused) == 1
