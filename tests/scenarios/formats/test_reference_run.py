import csv
import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pytest

from scenarios import events
from scenarios.formats.reference_records import RunExport, TrialExport, TrialRow, redacted
from scenarios.formats.reference_run import FolderExists, export_folder, export_zip
from scenarios.scoring.evidence import read_events
from tests.scenarios.formats.records import HAPPENED, RUN, claim, judged, trial
from tests.scenarios.scoring.cases import CANCEL, rows, said, spec
from tests.spoken import wav

HIDDEN = "[REDACTED]"


def load(path: Path) -> Any:
    return json.loads(path.read_text())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return export_folder(RUN, [judged(claim(1, True)), replace(trial(outcome="fail"), number=2)], tmp_path)


def test_the_folder_has_every_file_of_the_references(folder: Path) -> None:
    assert folder.name == "eval_20261130_082705"
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    each = {
        "metrics.json",
        "final_agent_response.json",
        "final_scenario_db_hash.txt",
        "bridge_log.txt",
        "conversation_log.txt",
        "conversation_log.seglst.json",
        "bot_logs_agent/llm_context.json",
        "scenario_config/agent_prompt.txt",
        "scenario_config/agent_tools.json",
        "scenario_config/metadata.json",
        "scenario_config/reference_answer.json",
    }
    assert files == {
        "run_args.json",
        "all_metrics.json",
        "all_latencies.csv",
        "all_summary.txt",
        "evaluation_log.txt",
        "toy__1/judge_result.json",
        *(f"toy__1/{name}" for name in each),
        *(f"toy__1__trial2/{name}" for name in each),
    }


def test_metrics_of_all_trials_stand_in_one_list(folder: Path) -> None:
    both = load(folder / "all_metrics.json")
    assert [row["scenario_directory"] for row in both] == ["toy__1", "toy__1__trial2"]
    assert both[1] == load(folder / "toy__1__trial2" / "metrics.json")


def test_the_conversation_is_readable_and_segmented(folder: Path) -> None:
    lines = (folder / "toy__1" / "conversation_log.txt").read_text().splitlines()
    assert "[0.10s - 3.00s] (2.90s) USER: Cancel W1." in lines
    agent = lines.index("[2.00s - 6.00s] (4.00s) AGENT: =Done.")
    assert lines[agent + 1] == "    Latency: 410.0 ms"
    assert lines[-1] == "Stop reason: [EXIT]"
    assert load(folder / "toy__1" / "conversation_log.seglst.json")[0] == {
        "session_id": "toy__1",
        "words": "Cancel W1.",
        "speaker": "user",
        "start_time": 0.1,
        "end_time": 3.0,
    }


def test_an_agent_that_cut_in_has_a_negative_time_in_the_text_log(tmp_path: Path) -> None:
    happened = (
        said("agent", 1, "Hello.", started_ms=0, ended_ms=900),
        events.LatencyMeasured("agent", 1, 500.0),
        said("user", 2, "Well, I think", started_ms=2000, ended_ms=4000),
        said("agent", 3, "One moment.", started_ms=3500, ended_ms=5000),
        events.CallEnded("end_tool", "agent", 9500),
    )
    folder = export_folder(RUN, [trial(happened=happened)], tmp_path)
    lines = (folder / "toy__1" / "conversation_log.txt").read_text().splitlines()
    assert [line for line in lines if "Latency" in line] == ["    Latency: -500.0 ms"]
    assert lines[-2:] == ["End time: 9.50s", "Stop reason: [EXIT]"]


def test_latencies_are_a_csv_without_formulas(folder: Path) -> None:
    rows = list(csv.reader(io.StringIO((folder / "all_latencies.csv").read_text(), newline="")))
    assert rows[0] == ["Scenario", "User_Transcript", "Agent_Transcript", "Latency_ms"]
    assert rows[1] == ["toy__1", "Cancel W1.", "'=Done.", "410.0"]
    assert len(rows) == 5


def test_actions_hash_context_and_configuration(folder: Path) -> None:
    one = folder / "toy__1"
    assert load(one / "final_agent_response.json") == [{"actions": [CANCEL]}]
    assert (one / "final_scenario_db_hash.txt").read_text() == "db_hash: aa\n"
    assert load(one / "bot_logs_agent" / "llm_context.json") == [{"role": "system", "content": "Be kind."}]
    config = one / "scenario_config"
    assert json.loads(load(config / "agent_tools.json")) == [{"name": "cancel"}]
    assert (config / "agent_prompt.txt").read_text() == "Be kind."
    assert load(config / "reference_answer.json") == {"actions": [CANCEL]}
    metadata = load(config / "metadata.json")
    assert metadata["success_signals"] == ["db_state_match", "nl_assertion", "clean_exit"]
    assert (metadata["disallow_extra_items"], metadata["expected_scenario_db_hash"]) == (False, "aa")


def test_the_summary_counts_by_the_references_rules_and_by_ours(folder: Path) -> None:
    text = (folder / "all_summary.txt").read_text()
    assert "Overall success: 100.0% (2/2)" in text
    assert "NL-assertion pass (assertions): 100.0% (1/1)" in text
    assert "DB-state-assertion pass (predicates): - (0/0)" in text
    assert "Judge score mean: 0.950 (over 1)" in text
    assert "Tokens agent: calls 2, prompt 200, completion 14, total 214" in text
    assert "Pass rate: 50.0% (1/2)" in text


def test_actions_of_the_agent_come_before_the_callers(tmp_path: Path) -> None:
    mine = {**CANCEL, "name": "toggle_data", "side": "user"}
    happened = (
        HAPPENED[0],
        events.ToolCalled("user", 1, "toggle_data", {}, "a"),
        events.ToolReturned("user", 1, "toggle_data", True, {}, 1.0, action=mine),
        events.ToolCalled("agent", 2, "cancel", {}, "b"),
        events.ToolReturned("agent", 2, "cancel", True, {}, 1.0, action=CANCEL),
    )
    folder = export_folder(RUN, [trial(happened=happened)], tmp_path)
    assert load(folder / "toy__1" / "final_agent_response.json") == [{"actions": [CANCEL, mine]}]


def test_no_secret_reaches_a_file(tmp_path: Path) -> None:
    leak = (*HAPPENED[:2], said("user", 1, "My key is top-secret-value, do not tell."), *HAPPENED[3:])
    folder = export_folder(RUN, [trial(happened=leak)], tmp_path)
    written = "".join(path.read_text() for path in folder.rglob("*") if path.is_file())
    for secret in ("top-secret-value", "plain-secret", "hunter22"):
        assert secret not in written
    arguments = load(folder / "run_args.json")["invocations"][0]
    assert arguments["parsed_args"]["judge_api_key"] == "[REDACTED]"
    assert arguments["parsed_args"]["callboard"]["agent"]["key_env"] == "AGENT_KEY"
    assert arguments["parsed_args"]["callboard"]["caller"]["parameters"]["max_tokens"] == 100
    assert arguments["resolved_scenario_names"] == ["toy__1"]
    assert arguments["started_at"] == "2026-11-30T08:27:05+00:00"


def test_a_second_export_to_the_same_place_is_refused_and_harmless(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(FolderExists, match="exists already"):
        export_folder(RUN, [], folder.parent)
    assert (folder / "toy__1" / "metrics.json").exists()


def broken_trials() -> Iterator[TrialExport]:
    yield trial()
    raise RuntimeError("the database went away")


def test_an_error_on_the_way_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="went away"):
        export_folder(RUN, broken_trials(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_zip_holds_the_same_files(tmp_path: Path, folder: Path) -> None:
    stream = io.BytesIO()
    export_zip(RUN, [judged(claim(1, True)), replace(trial(outcome="fail"), number=2)], stream)
    with zipfile.ZipFile(stream) as archive:
        names = {name for name in archive.namelist()}
        text = archive.read(f"{folder.name}/all_summary.txt").decode()
    assert names == {f"{folder.name}/{path.relative_to(folder)}" for path in folder.rglob("*") if path.is_file()}
    assert text == (folder / "all_summary.txt").read_text()


def test_a_call_that_was_recorded_has_its_recording_byte_for_byte(tmp_path: Path) -> None:
    recording = wav()
    recorded = replace(judged(claim(1, True)), open_recording=lambda _: io.BytesIO(recording))
    silent = replace(recorded, number=2, open_recording=lambda _: None)
    folder = export_folder(RUN, [recorded, silent], tmp_path)
    assert (folder / "toy__1" / "conversation_log.wav").read_bytes() == recording
    assert not (folder / "toy__1__trial2" / "conversation_log.wav").exists()
    stream = io.BytesIO()
    export_zip(RUN, [recorded, silent], stream)
    with zipfile.ZipFile(stream) as archive:
        assert archive.read(f"{folder.name}/toy__1/conversation_log.wav") == recording


def test_what_was_recorded_before_a_bot_died_is_kept_beside_the_attempt_that_counts(tmp_path: Path) -> None:
    recordings: dict[int | None, IO[bytes]] = {1: io.BytesIO(b"heard")}
    broken = trial(outcome="infra_error", row=TrialRow(attempts=3), open_recording=recordings.get)
    folder = export_folder(RUN, [broken], tmp_path) / "toy__1"
    assert [path.name for path in folder.glob("*.wav")] == ["conversation_log.attempt1.wav"]
    assert (folder / "conversation_log.attempt1.wav").read_bytes() == b"heard"


def test_a_spoken_call_has_the_times_of_its_sound(tmp_path: Path) -> None:
    """Names and units of the reference: seconds in log and segments, milliseconds in the CSV."""
    turns = [
        events.TurnEnded("agent", 1, "Hello.", "Hello.", 120, ended_ms=1480),
        events.TurnEnded("user", 2, "Cancel W1.", "Cancel W one.", 2250, ended_ms=4000),
        events.TurnEnded("agent", 3, "Done.", None, 5100, ended_ms=5900),
    ]
    happened = [events.CallStarted("voice"), *turns, events.LatencyMeasured("agent", 3, 1100.0)]
    call = read_events(rows(*happened, events.CallEnded("end_tool", "agent", 6400)))
    folder = export_folder(RUN, [replace(trial(), call=call)], tmp_path) / "toy__1"
    segments = load(folder / "conversation_log.seglst.json")
    assert [(row["speaker"], row["start_time"], row["end_time"]) for row in segments] == [
        ("agent", 0.12, 1.48),
        ("user", 2.25, 4.0),
        ("agent", 5.1, 5.9),
    ]
    log = (folder / "conversation_log.txt").read_text()
    assert "[2.25s - 4.00s] (1.75s) USER: Cancel W1." in log
    assert "    Latency: 1100.0 ms" in log
    (_, row) = csv.reader((folder.parent / "all_latencies.csv").read_text().splitlines())
    assert row == ["toy__1", "Cancel W1.", "Done.", "1100.0"]


def test_a_zip_that_broke_sends_nothing() -> None:
    stream = io.BytesIO()
    with pytest.raises(RuntimeError):
        export_zip(RUN, broken_trials(), stream)
    assert stream.getvalue() == b""


@pytest.mark.parametrize(
    ("name", "folder"), [("../../etc", "_.._etc"), ("a/b", "a_b"), (".hidden", "hidden"), ("eva__5.2.5", "eva__5.2.5")]
)
def test_a_scenarios_name_cannot_leave_the_folder(name: str, folder: str) -> None:
    assert trial(scenario=name).folder == folder


def test_text_that_no_encoding_knows_is_written_all_the_same(tmp_path: Path) -> None:
    odd = (HAPPENED[0], said("agent", 1, "broken \ud800 half \x00 <script>"))
    folder = export_folder(RUN, [trial(happened=odd, spec=None, reference_actions=None)], tmp_path)
    assert "broken ? half" in (folder / "toy__1" / "conversation_log.txt").read_text()
    assert not (folder / "toy__1" / "scenario_config" / "metadata.json").exists()


def test_an_empty_run_is_an_empty_list(tmp_path: Path) -> None:
    folder = export_folder(RUN, [], tmp_path)
    assert load(folder / "all_metrics.json") == []
    assert "Overall success: - (0/0)" in (folder / "all_summary.txt").read_text()


def test_domains_are_listed_apart_when_there_are_several(tmp_path: Path) -> None:
    other = trial(scenario="other__1", spec=spec(name="other__1"))
    text = (export_folder(RUN, [trial(), other], tmp_path) / "all_summary.txt").read_text()
    rates = "success 100.0% (1/1), task 100.0% (1/1), DB state 100.0% (1/1)"
    assert f"\nBy domain\n  other: {rates}" in text
    assert f"\n  toy: {rates}" in text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"api_key": "abc", "n": [{"Authorization": "x"}]}, {"api_key": HIDDEN, "n": [{"Authorization": HIDDEN}]}),
        ({"key_env": "JUDGE_KEY", "max_tokens": 5, "token": ""},) * 2,
        ("Bearer abcdefghijklmnop", "[REDACTED]"),
        ("use sk-abcdefghijklmnop now", "use [REDACTED] now"),
        ("https://me:pw@host:1/v1", "https://[REDACTED]@host:1/v1"),
        ("https://host/v1", "https://host/v1"),
        (5, 5),
    ],
)  # fmt: skip
def test_redaction(value: Any, expected: Any) -> None:
    assert redacted(value) == expected


def test_a_run_without_a_judge_names_none(tmp_path: Path) -> None:
    run = RunExport(1, "", RUN.started_at, {**RUN.config, "judge": None})
    arguments = load(export_folder(run, [], tmp_path) / "run_args.json")["invocations"][0]["parsed_args"]
    assert (arguments["judge_model"], arguments["judge_api_key"]) == ("", None)
