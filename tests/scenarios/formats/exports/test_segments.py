import json
from dataclasses import replace
from pathlib import Path

from scenarios.formats.exports import segments
from scenarios.formats.reference_run import export_folder
from tests.scenarios.formats.exports.samples import NASTY, ROW, export, held, nasty, written
from tests.scenarios.formats.records import RUN

WHOLE = NASTY.replace("\ud800", "?")


def test_seglst_holds_all_calls_as_sessions() -> None:
    read = json.loads(written(segments.SEGLST, export([held(), held(number=2)], channel="voice", is_rehearsal=True)))
    assert [entry["session_id"] for entry in read] == ["toy__1"] * 4 + ["toy__1__trial2"] * 4
    assert read[0] == {
        "session_id": "toy__1",
        "speaker": "user",
        "words": "Cancel W1.",
        "start_time": 0.1,
        "end_time": 3.0,
        "turn": 1,
        "is_rehearsal": True,
        "times": "speech",
    }
    assert json.loads(written(segments.SEGLST, export([held()])))[0]["times"] == "messages"


def test_seglst_agrees_with_the_run_folders(tmp_path: Path) -> None:
    folder = export_folder(RUN, [held()], tmp_path)
    theirs = json.loads((folder / "toy__1" / "conversation_log.seglst.json").read_text())
    ours = json.loads(written(segments.SEGLST, export([held()])))
    assert [{name: entry[name] for name in theirs[0]} for entry in ours] == theirs


def test_rttm_has_ten_fields_in_seconds() -> None:
    lines = written(segments.RTTM, export([held(scenario="toy__a b")])).decode().splitlines()
    assert lines[0] == "SPEAKER toy__a_b 1 0.100 2.900 <NA> <NA> user <NA> <NA>"
    assert {len(line.split()) for line in lines} == {10}
    assert len(lines) == 4


def test_a_call_is_a_head_and_what_happened_in_order() -> None:
    text = written(segments.CALL_JSONL, export([held()], is_rehearsal=True))
    head, *rest = [json.loads(line) for line in text.splitlines()]
    assert (head["type"], head["trial_id"], head["outcome"], head["is_rehearsal"]) == (
        "call",
        "run7/toy__1/t1",
        "pass",
        True,
    )
    assert "messages on the text channel" in head["note"]
    assert [entry["type"] for entry in rest] == ["turn", "tool", "turn", "turn", "turn"]
    tool = rest[1]
    assert (tool["tool"], tool["arguments"], tool["ok"]) == ("cancel", {"order_id": "W1"}, True)
    assert tool["changes"][0]["after"] == "cancelled"
    assert isinstance(tool["at_ms"], int)


def test_hostile_texts_come_back_as_they_were() -> None:
    (segment,) = json.loads(written(segments.SEGLST, export([nasty()])))
    assert segment["words"] == WHOLE
    entries = [json.loads(line) for line in written(segments.CALL_JSONL, export([nasty()])).splitlines()]
    assert entries[1]["said"] == entries[1]["heard"] == WHOLE
    assert entries[2]["arguments"] == {"order_id": WHOLE}
    assert len(written(segments.RTTM, export([nasty()])).splitlines()) == 1


def test_a_run_of_nothing_is_an_empty_list() -> None:
    assert json.loads(written(segments.SEGLST, export([]))) == []
    assert written(segments.RTTM, export([])) == b""


def test_a_call_without_times_says_so() -> None:
    unknown = export([held(row=replace(ROW, is_timed=False, duration_ms=None))])
    assert json.loads(written(segments.SEGLST, unknown))[0]["times"] == "unknown"
    head = json.loads(written(segments.CALL_JSONL, unknown).splitlines()[0])
    assert (head["duration_ms"], head["note"][:17]) == (None, "Times are unknown")
