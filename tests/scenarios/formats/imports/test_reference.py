"""Run folders of the reference system: every file is used, and what is missing is said."""

from pathlib import Path
from typing import Any

import pytest

from scenarios.formats.imports.comparison import rescore
from scenarios.formats.imports.detect import open_import
from scenarios.formats.imports.events import events_of
from scenarios.formats.imports.records import ImportedRun, ImportedTrial
from scenarios.formats.imports.tasks import CannotReplay
from tests.scenarios.formats.imports import folders


def opened(root: Path, calls: Any = None) -> tuple[ImportedRun, list[ImportedTrial]]:
    run = open_import(folders.reference_run(root, calls))
    return run, list(run.trials())


def without(*names: str, **changed: Any) -> dict[str, Any]:
    """Return a call's files without some of them."""
    files = folders.reference_call(**changed)
    return {name: content for name, content in files.items() if name not in names}


def one(tmp_path: Path, *names: str, **changed: Any) -> ImportedTrial:
    _, (trial,) = opened(tmp_path, {"tau2_retail__24": without(*names, **changed)})
    return trial


def test_a_run_is_read_with_all_its_parts(tmp_path: Path) -> None:
    run, (trial,) = opened(tmp_path)

    assert (run.format, run.timestamp, run.refused) == ("reference", "2026-01-01T00:00:00", [])
    assert (trial.task_id, trial.domain_name, trial.trial) == ("tau2_retail__24", "tau2_retail", None)
    assert (trial.termination_reason, trial.duration_s, trial.policy) == ("[EXIT]", 12.5, "Be kind.")
    assert [(turn.side, turn.spoken, turn.started_ms, turn.ended_ms) for turn in trial.turns] == [
        ("user", "Move it.", 500, 1500),
        ("agent", "Done. Bye.", 2000, 3250),
    ]
    (call,) = trial.tool_calls
    assert (call.tool, call.arguments, call.result) == (
        "ModifyPendingOrderAddressTool",
        folders.ADDRESS,
        '{"status": "success"}',
    )
    assert trial.end_hashes == {"agent": "a" * 64, "user": "b" * 64}
    assert trial.facts["judge_result"]["judge_input"]["system_prompt"] == "Judge."
    assert trial.verdict.nl_assertions[0]["met"] is True
    assert trial.verdict.env_assertions[0]["env_assertion"]["func_name"] == "assert_x"
    assert trial.verdict.reward_basis == ("DB", "clean_exit")
    assert trial.remarks == ()


def test_the_recording_is_a_handle_with_what_its_header_says(tmp_path: Path) -> None:
    (audio,) = one(tmp_path).audio

    assert audio.path == tmp_path / "tau2_retail__24" / "conversation_log.wav"
    assert (audio.name, audio.channels, audio.rate, audio.width) == (
        "tau2_retail__24/conversation_log.wav",
        2,
        16000,
        2,
    )
    assert (audio.duration_s, audio.sides) == (0.05, ("user", "agent"))


@pytest.mark.parametrize(
    ("sound", "remark"),
    [
        (b"RIFF", "cannot be read"),
        (b"", "cannot be read"),
        (folders.sound()[:200], "too short for"),
        (folders.sound(channels=1), "1 channels where 2 were expected"),
    ],
)
def test_odd_recordings_are_remarked_on(tmp_path: Path, sound: bytes, remark: str) -> None:
    _, (trial,) = opened(tmp_path, {"x__1": {**folders.reference_call(), "conversation_log.wav": sound}})

    assert [entry.place for entry in trial.remarks] == ["x__1/conversation_log.wav"]
    assert remark in trial.remarks[0].text
    assert all(audio.sides == () or audio.size < 500 for audio in trial.audio)


def test_calls_stand_between_the_turns_they_were_made_in(tmp_path: Path) -> None:
    kinds = [(event.kind, event.side) for event in events_of(one(tmp_path))]

    assert kinds == [
        ("turn.ended", "user"),
        ("tool.called", "agent"),
        ("tool.returned", "agent"),
        ("turn.ended", "agent"),
    ]


def test_turns_come_from_the_next_best_file(tmp_path: Path) -> None:
    segments, text = "conversation_log.seglst.json", "conversation_log.txt"

    assert [turn.started_ms for turn in one(tmp_path / "a", segments).turns] == [500]
    assert [turn.ended_ms for turn in one(tmp_path / "b", segments, turns=[]).turns] == [1500]
    spoken = one(tmp_path / "c", segments, text, turns=[]).turns
    assert [(turn.side, turn.first_message) for turn in spoken] == [("user", 1), ("agent", 4)]


def test_without_contexts_the_recorded_writes_are_all_that_is_known(tmp_path: Path) -> None:
    trial = one(tmp_path, "bot_logs_agent/llm_context.json", "bot_logs_user/llm_context.json")

    assert [(call.tool, call.arguments, call.is_error) for call in trial.tool_calls] == [("cancel", {"a": 1}, False)]
    assert "only successful writes are known" in trial.remarks[0].text


def test_an_empty_context_is_said_to_be_empty(tmp_path: Path) -> None:
    files = {**folders.reference_call(), "bot_logs_agent/llm_context.json": []}
    _, (trial,) = opened(tmp_path, {"tau2_retail__24": files})

    assert "no context of the agent: the log is empty" in [remark.text for remark in trial.remarks]


def test_calls_of_both_sides_are_put_in_one_order(tmp_path: Path) -> None:
    files = folders.reference_call()
    files["bot_logs_user/llm_context.json"] = [
        folders.asks("toggle_airplane_mode", {}, "u1"),
        {"role": "tool", "tool_call_id": "u1", "content": "on"},
        {"role": "assistant", "content": "Move it."},
        {"role": "user", "content": "Done. Bye."},
        folders.asks("reboot_device", {}, "u2"),
    ]
    _, (trial,) = opened(tmp_path, {"tau2_telecom__x": files})

    assert [(call.side, call.tool, call.position) for call in trial.tool_calls] == [
        ("user", "toggle_airplane_mode", 0),
        ("agent", "ModifyPendingOrderAddressTool", 1),
        ("user", "reboot_device", 2),
    ]
    assert "no file has their times" in trial.remarks[0].text
    assert [event.kind for event in events_of(trial)] == [
        *("tool.called", "tool.returned", "turn.ended", "tool.called", "tool.returned", "turn.ended", "tool.called"),
    ]


def test_no_secret_or_address_of_the_settings_is_kept(tmp_path: Path) -> None:
    run, (trial,) = opened(tmp_path)

    kept = f"{run.facts} {run.agent} {trial.facts}"
    assert "j" in str(run.facts["parsed_args"][0]["judge_model"])
    for secret in ("sk-live", "sk-abcdefgh", "10.0.0.1"):
        assert secret not in kept


def test_folders_that_are_no_calls_are_passed_over_and_unfinished_ones_refused(tmp_path: Path) -> None:
    root = folders.reference_run(tmp_path)
    folders.put(root / "tau2_retail__25", {"bridge_log.txt": "..."})
    folders.put(root / "tau2_retail__26.killed.20260101", folders.reference_call())
    folders.put(root / "notes", {"me.txt": "..."})
    run = open_import(root)

    assert [trial.place for trial in run.trials()] == ["tau2_retail__24"]
    assert [(remark.place, remark.text[:15]) for remark in run.refused] == [("tau2_retail__25", "no metrics.json")]
    assert [remark.place for remark in run.remarks] == ["notes", "tau2_retail__26.killed.20260101"]


def test_calls_that_only_the_list_of_metrics_has_are_read_from_it(tmp_path: Path) -> None:
    root = folders.reference_run(tmp_path)
    other = folders.reference_metrics(scenario_name="tau2_retail__7", scenario_directory="tau2_retail__7")
    folders.put(root, {"all_metrics.json": [folders.reference_metrics(), other, 5]})
    run = open_import(root)
    trials = list(run.trials())

    assert [(trial.place, trial.task_id) for trial in trials] == [
        ("tau2_retail__24", "tau2_retail__24"),
        ("all_metrics.json[1]", "tau2_retail__7"),
    ]
    assert "nothing but its metrics" in trials[1].remarks[0].text
    assert [remark.place for remark in run.refused] == ["all_metrics.json[2]"]


def test_one_calls_folder_is_a_run_of_one(tmp_path: Path) -> None:
    root = folders.reference_run(tmp_path)
    run = open_import(root / "tau2_retail__24")

    assert [trial.task_id for trial in run.trials()] == ["tau2_retail__24"]


def test_flags_that_changed_at_a_resume_are_remarked_on(tmp_path: Path) -> None:
    parsed = [{"strict_match": False, "min_agent_turns": 3}, {"strict_match": True, "min_agent_turns": 3}]
    root = folders.reference_run(tmp_path)
    folders.put(root, {"run_args.json": {"invocations": [{"parsed_args": one} for one in parsed]}})

    assert [remark.text for remark in open_import(root).remarks] == ["strict_match changed when the run was resumed"]


def test_numbers_that_are_none_are_unknown(tmp_path: Path) -> None:
    root = folders.reference_run(tmp_path)
    path = root / "tau2_retail__24" / "metrics.json"
    path.write_text(path.read_text().replace('"duration_seconds": 12.5', '"duration_seconds": NaN'))
    (trial,) = open_import(root).trials()

    assert trial.duration_s is None
    assert [remark.text for remark in trial.remarks] == ["1 numbers are NaN or infinite; read as unknown"]


@pytest.mark.usefixtures("benchmarks")
def test_calls_run_again_under_the_files_own_expected_actions(tmp_path: Path) -> None:
    run, (trial,) = opened(tmp_path)
    rescored = rescore(run, trial)

    assert rescored.replay.task.source == "file"
    assert (rescored.stored, rescored.ours, rescored.agrees) == (True, True, True)
    assert [check.met for check in rescored.replay.action_checks] == [True]
    assert rescored.same_end == {"agent": False}


@pytest.mark.usefixtures("benchmarks")
def test_another_expected_end_explains_another_verdict(tmp_path: Path) -> None:
    files = folders.reference_call(db_state_match=False, is_successful=False)
    run, (trial,) = opened(tmp_path, {"tau2_retail__24": files})
    rescored = rescore(run, trial)

    assert rescored.agrees is False
    assert [(reason.kind, reason.text[:38]) for reason in rescored.reasons] == [
        ("task_version", "the agent's expected database was anot")
    ]


@pytest.mark.usefixtures("benchmarks")
def test_a_call_of_which_only_the_metrics_are_left_is_not_run_again(tmp_path: Path) -> None:
    metrics = {"metrics.json": folders.reference_call()["metrics.json"], "conversation_log.txt": b""}
    run = open_import(folders.reference_run(tmp_path, {"tau2_retail__24": metrics}))
    (trial,) = run.trials()

    assert trial.turns
    with pytest.raises(CannotReplay, match="no messages and no tool calls"):
        rescore(run, trial)
