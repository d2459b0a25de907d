"""Every form there is, by name: pages and commands list these and nothing else."""

from collections.abc import Mapping
from typing import IO

from scenarios.formats.exports import captions, inspect_log, junit, otel, segments, tables, tau2
from scenarios.formats.exports.form import Export, Format
from scenarios.formats.reference_run import export_zip


def _reference(export: Export, file: IO[bytes]) -> None:
    export_zip(export.run, export.trials(), file)


REFERENCE = Format(
    name="reference",
    title="Run folder as the reference writes it, zip",
    suffix=".reference.zip",
    media_type="application/zip",
    lacks="its figures by its own rules, our outcomes beside them; no evidence of claims, no people's rulings",
    write=_reference,
)
RUN_GROUPS: Mapping[str, tuple[Format, ...]] = {
    "Whole runs": (REFERENCE, tau2.FORMAT, inspect_log.EVAL, inspect_log.JSON),
    "Results": (
        junit.FORMAT,
        tables.TRIALS_CSV,
        tables.TRIALS_JSONL,
        tables.VERDICTS_CSV,
        tables.VERDICTS_JSONL,
        otel.FORMAT,
    ),
    "Transcripts": (
        segments.TRANSCRIPTS_JSONL,
        segments.SEGLST,
        segments.RTTM,
        captions.VTT_ZIP,
        captions.SRT_ZIP,
    ),
}
RUN_FORMATS: Mapping[str, Format] = {form.name: form for forms in RUN_GROUPS.values() for form in forms}
CALL_FORMATS: Mapping[str, Format] = {
    form.name: form
    for form in (captions.VTT, captions.SRT, segments.CALL_SEGLST, segments.CALL_RTTM, segments.CALL_JSONL)
}
