"""Eva run folders: what each side meant, what the other heard, when, and what the databases say."""

from pathlib import Path
from typing import Any

import pytest

from scenarios.formats.imports.comparison import rescore
from scenarios.formats.imports.detect import open_import
from scenarios.formats.imports.events import events_of
from scenarios.formats.imports.records import ImportedRun, ImportedTrial
from scenarios.formats.imports.tasks import CannotReplay
from tests.scenarios.formats.imports import folders
from tests.scenarios.formats.imports.files import real


def opened(root: Path, records: Any = None) -> tuple[ImportedRun, list[ImportedTrial]]:
    run = open_import(folders.eva_run(root, records))
    return run, list(run.trials())


def one(root: Path, files: Any) -> ImportedTrial:
    _, (trial,) = opened(root, {"1.1.2": files})
    return trial


def test_a_run_is_read_with_all_its_parts(tmp_path: Path) -> None:
    run, (trial,) = opened(tmp_path)

    assert (run.format, run.agent.model, run.domain_name, run.remarks) == ("eva", "gpt-x", "eva_airline", [])
    assert (trial.task_id, trial.termination_reason, trial.duration_s) == ("1.1.2", "goodbye", 20.5)
    assert trial.policy == "You are an airline."
    assert [(turn.side, turn.said, turn.spoken, turn.started_ms, turn.ended_ms) for turn in trial.turns] == [
        ("agent", None, "Hello!", 1000, None),
        ("user", "My code is Z K three F F W.", "My code is ZK3FFW.", 2500, 4000),
        ("agent", "Got it, Ms Rodriguez.", "Got it, Miss Rodriguez.", 5500, 7500),
    ]
    (call,) = trial.tool_calls
    assert (call.tool, call.at_ms, call.is_error, call.result) == (
        *("get_reservation", 4200, False),
        '{"status": "success"}',
    )
    assert [message.role for message in trial.messages] == ["assistant", "user", "assistant", "tool", "assistant"]
    assert [event.at_ms for event in events_of(trial)] == [1000, 4000, 4200, 4200, 7500]


def test_recordings_of_the_record_are_handles_and_paths_in_files_are_not_followed(tmp_path: Path) -> None:
    trial = one(tmp_path, {**folders.eva_record(), "audio_mixed.wav": folders.sound(1, 8000, 800)})

    assert [(audio.name, audio.rate, audio.duration_s, audio.sides) for audio in trial.audio] == [
        ("records/1.1.2/audio_user.wav", 24000, 0.1, ("user",)),
        ("records/1.1.2/audio_mixed.wav", 8000, 0.1, ()),
    ]
    assert "/home/somebody" not in str([audio.path for audio in trial.audio])


@pytest.mark.parametrize(
    ("metric", "result", "mapped", "why"),
    [
        ({"score": 1.0}, {}, "pass", "task_completion counts"),
        ({"score": 0.0}, {}, "fail", "task_completion counts"),
        ({"score": 0.5}, {}, "not_scored", "neither 0 nor 1"),
        ({"score": None, "error": "no reply"}, {}, "judge_error", "task_completion failed: no reply"),
        ({"score": None, "skipped": True}, {}, "not_scored", "was skipped"),
        ({}, {}, "not_scored", "no task_completion in metrics.json"),
        ({"score": 1.0}, {"completed": False, "error": "socket closed"}, "excluded", "socket closed"),
        ({"score": 1.0}, {"completed": True, "error": "odd"}, "excluded", "odd"),
    ],
)
def test_what_a_verdict_counts_as(tmp_path: Path, metric: Any, result: Any, mapped: str, why: str) -> None:
    files = {
        **folders.eva_record(**result),
        "metrics.json": {"metrics": {"task_completion": metric, "wer": {"score": 1}}},
    }
    verdict = one(tmp_path, files).verdict

    assert verdict.mapped == mapped
    assert why in verdict.why
    assert verdict.db_match == {"pass": True, "fail": False}.get(mapped)
    assert verdict.written == files["metrics.json"]


def test_without_metrics_nothing_is_scored(tmp_path: Path) -> None:
    files = {name: content for name, content in folders.eva_record().items() if name != "metrics.json"}
    verdict = one(tmp_path, files).verdict

    assert (verdict.mapped, verdict.why, verdict.written) == ("not_scored", "the folder has no metrics.json", None)


def test_trials_of_a_record_have_their_numbers(tmp_path: Path) -> None:
    records = {f"1.1.2/trial_{number}": folders.eva_record() for number in (2, 10, 0)}
    _, trials = opened(tmp_path, records)

    assert [(trial.task_id, trial.trial, trial.place) for trial in trials] == [
        ("1.1.2", 0, "records/1.1.2/trial_0"),
        ("1.1.2", 2, "records/1.1.2/trial_2"),
        ("1.1.2", 10, "records/1.1.2/trial_10"),
    ]


def test_what_does_not_fit_is_remarked_on(tmp_path: Path) -> None:
    files = folders.eva_record(record_id="9.9", num_tool_calls=4, final_scenario_db_hash="f" * 64)
    root = folders.eva_run(tmp_path, {"1.1.2": files})
    folders.put(root / "records", {"2.1.1/notes.txt": "held tomorrow"})
    folders.put(root, {"results.csv": "record_id,completed\n1.1.2,true\n5.5.5,true\n"})
    run = open_import(root)
    (trial,) = run.trials()

    assert [remark.text.partition(":")[0] for remark in trial.remarks] == [
        "the folder is called '1.1.2'",
        "is not the plain hash of the database beside it",
        "says 4 tool calls; the audit log has 1",
    ]
    assert [(remark.place, remark.text[:20]) for remark in run.refused] == [("records/2.1.1", "neither result.json ")]
    assert [remark.text for remark in run.remarks] == [
        "record 5.5.5 is listed and has no folder",
        "record 2.1.1 has a folder and is not listed",
    ]


def test_a_record_alone_is_a_run_of_one(tmp_path: Path) -> None:
    root = folders.eva_run(tmp_path)
    run = open_import(root / "records" / "1.1.2")

    assert [trial.task_id for trial in run.trials()] == ["1.1.2"]
    assert run.agent.model is None
    assert "models and settings are unknown" in run.remarks[0].text


def test_no_secret_of_the_settings_is_kept(tmp_path: Path) -> None:
    run, _ = opened(tmp_path)

    assert run.agent.settings["llm_params"] == {"api_key": "[redacted]"}
    assert "sk-" not in str(run.facts)


@pytest.mark.usefixtures("benchmarks")
def test_another_database_at_the_start_is_the_one_that_calls_run_on(tmp_path: Path) -> None:
    run, (trial,) = opened(tmp_path)
    rescored = rescore(run, trial)

    assert rescored.replay.task.source == "file"
    assert "began with another database" in rescored.replay.task.notes[0]
    assert [call.error for call in rescored.replay.calls] == ["reservation_not_found"]
    assert (rescored.stored, rescored.same_end) == (True, {"agent": True})


@pytest.mark.usefixtures("benchmarks")
@pytest.mark.parametrize("database", [{"reservations": {}}, {"reservations": [], "journeys": {}}, {"x": 1}])
def test_a_database_of_another_kind_is_not_run_on(tmp_path: Path, database: Any) -> None:
    run, (trial,) = opened(tmp_path, {"1.1.2": {**folders.eva_record(), "initial_scenario_db.json": database}})

    with pytest.raises(CannotReplay, match="initial database is none of eva_airline: .*(journeys|reservations)"):
        rescore(run, trial)


@pytest.mark.usefixtures("benchmarks")
def test_the_real_run_ends_in_the_state_that_it_recorded() -> None:
    run = open_import(real("servicenow-eva/tests/artifacts"))
    (trial,) = run.trials()
    rescored = rescore(run, trial)

    assert (len(trial.turns), len(trial.tool_calls), trial.remarks) == (24, 5, ())
    assert all(turn.ended_ms is not None for turn in trial.turns[1:])
    assert trial.turns[3].said == "The confirmation is Z K three F F W, and the last name is Rodriguez."
    assert rescored.same_end == {"agent": True}
    assert rescored.ours
    assert rescored.stored is None
    assert [call.difference for call in rescored.replay.calls] == [""] * 5
    assert trial.verdict.mapped == "not_scored"
