import io
import re
import zipfile
from dataclasses import replace
from typing import Any

import webvtt

from scenarios import events
from scenarios.formats.exports import captions
from scenarios.formats.reference_records import TrialExport
from tests.scenarios.formats.exports.samples import ROW, export, held, nasty, written
from tests.scenarios.formats.records import HAPPENED
from tests.scenarios.scoring.cases import said


def vtt(trials: list[TrialExport], **facts: Any) -> str:
    return written(captions.VTT, export(trials, **facts)).decode()


def test_turns_are_cues_with_their_speaker_and_times() -> None:
    read = webvtt.from_string(vtt([held()]))
    assert [(cue.start, cue.end, cue.voice, cue.text) for cue in read.captions] == [
        ("00:00:00.100", "00:00:03.000", "Caller", "Cancel W1."),
        ("00:00:02.000", "00:00:06.000", "Agent", "=Done."),
        ("00:00:04.000", "00:00:08.000", "Caller", "[INTERRUPTED]"),
        ("00:00:06.000", "00:00:09.000", "Agent", "Goodbye."),
    ]
    assert read.captions[0].identifier == "turn-1"


def test_notes_say_which_call_it_is_that_it_is_a_rehearsal_and_what_times_mean() -> None:
    text = vtt([held(outcome_reason="a --> b\n\nc")], is_rehearsal=True)
    assert text.startswith(
        "WEBVTT\n\nNOTE REHEARSAL (a party or the judge is a stand-in). run7/toy__1/t1, pass: a -&gt; b c\n"
    )
    assert "Times are those of messages on the text channel" in text
    spoken = vtt([held()], channel="voice")
    assert "messages" not in spoken
    assert "REHEARSAL" not in spoken


def test_hostile_text_is_one_cue_of_text() -> None:
    text = vtt([nasty()])
    (cue,) = webvtt.from_string(text).captions
    assert "<script>" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp;" in text
    assert text.count(" --> ") == 1
    assert "WEBVTT" in cue.text
    assert "日本 😀" in cue.text


def test_srt_counts_its_cues_and_has_commas() -> None:
    text = written(captions.SRT, export([held()])).decode()
    assert text.startswith(
        "1\n00:00:00,100 --> 00:00:03,000\nCaller: Cancel W1.\n\n2\n00:00:02,000 --> 00:00:06,000\nAgent: =Done.\n\n"
    )
    read = webvtt.from_buffer(io.StringIO(text), format="srt")
    assert read.captions[-1].text == "Agent: Goodbye."


def test_hostile_text_is_one_cue_of_srt() -> None:
    text = written(captions.SRT, export([nasty()])).decode()
    assert len(re.findall(r"^\d+\n\d\d:", text, re.MULTILINE)) == 1
    assert text.count("-->") == 1
    assert "\n\nWEBVTT" not in text


def test_long_calls_and_turns_without_length_have_valid_times() -> None:
    happened = (
        HAPPENED[0],
        said("user", 1, "a", started_ms=3_723_004),
        events.CallEnded("end_tool", "agent", 4_000_000),
    )
    late = held(happened=happened)
    turn = next(iter(late.call.turns.values()))
    late.call.turns["user", 1] = replace(turn, ended_ms=turn.started_ms - 50)
    assert "01:02:03.004 --> 01:02:03.005" in vtt([late])


def test_a_run_is_a_zip_with_a_file_a_call() -> None:
    calls = [held(), held(number=2)]
    for form, suffix in ((captions.VTT_ZIP, "vtt"), (captions.SRT_ZIP, "srt")):
        archive = zipfile.ZipFile(io.BytesIO(written(form, export(calls))))
        assert archive.namelist() == [f"toy__1.{suffix}", f"toy__1__trial2.{suffix}"]
        assert archive.testzip() is None
    one = written(captions.VTT_ZIP, export(calls[:1]))
    assert zipfile.ZipFile(io.BytesIO(one)).read("toy__1.vtt") == written(captions.VTT, export(calls[:1]))


def test_known_keys_are_taken_out() -> None:
    happened = (HAPPENED[0], said("user", 1, "it is top-secret-value"), HAPPENED[-1])
    assert "it is [REDACTED]" in vtt([held(happened=happened)])


def test_a_call_without_times_says_so() -> None:
    unknown = held(row=replace(ROW, is_timed=False))
    assert "NOTE Times are unknown: the file that this call came from has none." in vtt([unknown])
