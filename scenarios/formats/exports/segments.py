"""Segments for speech tools: segLST (MeetEval) and RTTM (NIST RT-09), times in seconds; and a call as JSON lines."""

import re
from collections.abc import Iterator
from dataclasses import replace
from operator import itemgetter
from typing import IO, Any

from scenarios.formats.exports.form import Export, Format
from scenarios.formats.exports.results import trial_id
from scenarios.formats.exports.text import Cleaner
from scenarios.formats.reference_records import TrialExport
from scenarios.formats.transcripts import note_on_times, segments, text_of


def write_seglst(export: Export, file: IO[bytes]) -> None:
    """Write one list over all calls, a session each; keys beyond the format's own five are allowed and say more."""
    clean = Cleaner.of(export.run)
    between = b"[\n"
    for trial in export.trials():
        times = "unknown" if not trial.row.is_timed else "messages" if export.run.channel == "text" else "speech"
        more = {"is_rehearsal": export.run.is_rehearsal, "times": times}
        for segment in segments(trial):
            entry = {
                "session_id": trial.folder,
                "speaker": segment.side,
                "words": segment.text,
                "start_time": segment.start_ms / 1000,
                "end_time": segment.end_ms / 1000,
                "turn": segment.turn,
                **more,
            }
            file.write(between + clean.json(entry))
            between = b",\n"
    file.write(b"\n]\n" if between == b",\n" else b"[]\n")


def write_rttm(export: Export, file: IO[bytes]) -> None:
    """Write a line a turn with the format's ten fields; the file id is the call's, and there is one channel."""
    for trial in export.trials():
        name = re.sub(r"\s", "_", trial.folder)
        for segment in segments(trial):
            start, length = segment.start_ms / 1000, (segment.end_ms - segment.start_ms) / 1000
            line = f"SPEAKER {name} 1 {start:.3f} {length:.3f} <NA> <NA> {segment.side} <NA> <NA>\n"
            file.write(line.encode("utf-8", "replace"))


def write_lines(export: Export, file: IO[bytes]) -> None:
    """Write a call as JSON lines: first what it is, then turns and tool calls in order; milliseconds from its start."""
    clean = Cleaner.of(export.run)
    for trial in export.trials():
        for entry in (_head(export, trial), *_happened(trial)):
            file.write(clean.json(entry) + b"\n")


def _head(export: Export, trial: TrialExport) -> dict[str, Any]:
    run = export.run
    return {
        "type": "call",
        "trial_id": trial_id(run, trial),
        "scenario": trial.scenario,
        "trial": trial.number,
        "outcome": trial.outcome,
        "outcome_reason": trial.outcome_reason,
        "is_rehearsal": run.is_rehearsal,
        "strictness": run.strictness,
        "channel": run.channel,
        "end_reason": trial.call.end_reason,
        "duration_ms": trial.duration_ms,
        **({"note": note} if (note := note_on_times(run, trial)) else {}),
    }


def _happened(trial: TrialExport) -> Iterator[dict[str, Any]]:
    times = {event.seq: event.at_ms for event in trial.events}
    turns = [
        {
            "type": "turn",
            "seq": turn.seq,
            "turn": turn.turn,
            "side": turn.side,
            "said": text_of(turn),
            "heard": turn.heard,
            "start_ms": turn.started_ms,
            "end_ms": turn.ended_ms,
            "interrupted": turn.interrupted,
        }
        for turn in trial.call.turns.values()
    ]
    tools = [
        {
            "type": "tool",
            "seq": use.seq,
            "call": use.call,
            "side": use.side,
            "tool": use.tool,
            "arguments": use.arguments,
            "ok": use.ok,
            "result": use.result,
            "error": use.error,
            "changes": use.changes,
            "at_ms": times.get(use.seq),
        }
        for use in trial.call.tools.values()
    ]
    yield from sorted([*turns, *tools], key=itemgetter("seq"))


_JSONL = "application/jsonl"
SEGLST = Format(
    name="seglst",
    title="segLST",
    suffix=".seglst.json",
    media_type="application/json",
    lacks="what was said and when, seconds: no tool calls, no verdicts",
    write=write_seglst,
)
RTTM = Format(
    name="rttm",
    title="RTTM",
    suffix=".rttm",
    media_type="text/plain; charset=utf-8",
    lacks="who spoke when, seconds: no words, no place for a note, so a rehearsal is not labelled",
    write=write_rttm,
)
TRANSCRIPTS_JSONL = Format(
    name="transcripts-jsonl",
    title="Transcripts, JSON lines",
    suffix=".transcripts.jsonl",
    media_type=_JSONL,
    lacks="turns and tool calls of the attempt that counts: no verdicts",
    write=write_lines,
)
CALL_SEGLST = replace(SEGLST, of="call")
CALL_RTTM = replace(RTTM, of="call")
CALL_JSONL = replace(
    TRANSCRIPTS_JSONL, name="jsonl", title="Turns and tool calls, JSON lines", suffix=".jsonl", of="call"
)
