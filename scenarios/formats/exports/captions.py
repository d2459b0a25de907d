"""Captions: WebVTT (https://www.w3.org/TR/webvtt1/) and SRT, a cue a turn; of a run a zip with a file a call."""

import re
import zipfile
from collections.abc import Callable, Iterator
from html import escape
from typing import IO

from scenarios.formats.exports.form import Export, Format
from scenarios.formats.exports.results import trial_id
from scenarios.formats.exports.text import Cleaner
from scenarios.formats.reference_records import TrialExport
from scenarios.formats.transcripts import Segment, note_on_times, segments

Lines = Callable[[Export, TrialExport], Iterator[str]]
_NAMES = {"agent": "Agent", "user": "Caller"}
# Whatever a reader may take for the end of a line or of the text; a cue ends at an empty line.
_BREAKS = re.compile(r"[\r\n\x0b\x0c\x00\u0085\u2028\u2029]+")


def vtt(export: Export, trial: TrialExport) -> Iterator[str]:
    """Yield the lines of a WebVTT file: speakers are voices, markup in what was said is text."""
    yield "WEBVTT\n\n"
    yield f"NOTE {_note(export, trial)}\n\n"
    if note := note_on_times(export.run, trial):
        yield f"NOTE {note}\n\n"
    for segment in segments(trial):
        text = escape(_one_line(segment.text), quote=False)
        yield f"turn-{segment.turn}\n{_span(segment, '.')}\n<v {_NAMES[segment.side]}>{text}\n\n"


def srt(export: Export, trial: TrialExport) -> Iterator[str]:
    """Yield the lines of an SRT file: cues counted from 1, the speaker's name before the text."""
    for number, segment in enumerate(segments(trial), 1):
        # The arrow of the times would begin another cue for lenient readers.
        text = _one_line(segment.text).replace("-->", "->")
        yield f"{number}\n{_span(segment, ',')}\n{_NAMES[segment.side]}: {text}\n\n"


def _note(export: Export, trial: TrialExport) -> str:
    """Return one line on which call this is; an arrow would end the comment."""
    rehearsal = "REHEARSAL (a party or the judge is a stand-in). " if export.run.is_rehearsal else ""
    reason = f": {trial.outcome_reason}" if trial.outcome_reason else ""
    text = f"{rehearsal}{trial_id(export.run, trial)}, {trial.outcome or 'no outcome'}{reason}"
    return escape(_one_line(text).replace("-->", "->"), quote=False)


def _one_line(text: str) -> str:
    return _BREAKS.sub(" ", text).strip()


def _span(segment: Segment, point: str) -> str:
    # A cue that ends as it begins is an error in WebVTT and is dropped.
    end = max(segment.end_ms, segment.start_ms + 1)
    return f"{_time(segment.start_ms, point)} --> {_time(end, point)}"


def _time(ms: int, point: str) -> str:
    seconds, milliseconds = divmod(ms, 1000)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{point}{milliseconds:03d}"


def _whole(lines: Lines, export: Export, trial: TrialExport, clean: Cleaner) -> bytes:
    return "".join(clean.text(line) for line in lines(export, trial)).encode()


def _of_call(lines: Lines) -> Callable[[Export, IO[bytes]], None]:
    def write(export: Export, file: IO[bytes]) -> None:
        clean = Cleaner.of(export.run)
        for trial in export.trials():
            file.write(_whole(lines, export, trial, clean))

    return write


def _of_run(lines: Lines, suffix: str) -> Callable[[Export, IO[bytes]], None]:
    def write(export: Export, file: IO[bytes]) -> None:
        clean = Cleaner.of(export.run)
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for trial in export.trials():
                archive.writestr(f"{trial.folder}{suffix}", _whole(lines, export, trial, clean))

    return write


_VTT_LACKS = "what was said and when: no tool calls, no verdicts"
_SRT_LACKS = f"{_VTT_LACKS}, no place for a note: a rehearsal is not labelled"
VTT = Format("vtt", "WebVTT captions", ".vtt", "text/vtt; charset=utf-8", _VTT_LACKS, _of_call(vtt), of="call")
SRT = Format("srt", "SRT captions", ".srt", "application/x-subrip; charset=utf-8", _SRT_LACKS, _of_call(srt), of="call")
_ZIP = "application/zip"
VTT_ZIP = Format("vtt", "WebVTT captions, a file a call", ".vtt.zip", _ZIP, _VTT_LACKS, _of_run(vtt, ".vtt"))
SRT_ZIP = Format("srt", "SRT captions, a file a call", ".srt.zip", _ZIP, _SRT_LACKS, _of_run(srt, ".srt"))
