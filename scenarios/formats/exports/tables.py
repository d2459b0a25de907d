"""Tables of trials and of rulings: CSV that a spreadsheet shows and never runs, and the same as JSON lines."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, Any

from scenarios.domains.base import SIGNALS
from scenarios.formats import csv_cells
from scenarios.formats.exports.form import Export, Format
from scenarios.formats.exports.results import claim_id, is_rated, ruled_by, trial_id, verdict_id
from scenarios.formats.exports.text import Cleaner
from scenarios.formats.reference_records import RunExport, TrialExport, VerdictRecord

Row = dict[str, Any]
Rows = Callable[[RunExport, TrialExport], Iterable[Row]]
# Excel's limit of a cell; what is longer would spill over the next rows.
_LONGEST_CELL = 32_000


def trial_rows(run: RunExport, trial: TrialExport) -> Iterator[Row]:
    """Yield the one row of a trial; times in UTC, durations in milliseconds, cost in dollars; None: not measured."""
    row = trial.row
    states = {signal.signal: signal.state for signal in trial.signals}
    yield {
        "trial_id": trial_id(run, trial),
        **_run_columns(run),
        "scenario": trial.scenario,
        "trial": trial.number,
        "tags": list(trial.tags),
        "scenario_fingerprint": trial.fingerprint,
        "status": row.status,
        "outcome": trial.outcome,
        "in_rate": is_rated(trial.outcome),
        "outcome_reason": trial.outcome_reason,
        "other_outcome": trial.other_outcome or trial.outcome,
        "by_inaction": trial.by_inaction,
        "judged_outcome": row.judged_outcome or trial.outcome,
        "verdicts_overruled": row.overruled,
        "fault": row.fault,
        **{signal: states.get(signal) for signal in SIGNALS},
        "end_reason": row.end_reason,
        "error_kind": row.error_kind,
        "attempts": row.attempts,
        "turns": row.turns,
        "started_at": trial.started_at.isoformat() if trial.started_at else None,
        "ended_at": trial.ended_at.isoformat() if trial.ended_at else None,
        "duration_ms": row.duration_ms,
        "response_p50_ms": row.response_p50_ms,
        "prompt_tokens": row.prompt_tokens,
        "completion_tokens": row.completion_tokens,
        "cost_usd": row.cost,
    }


def verdict_rows(run: RunExport, trial: TrialExport) -> Iterator[Row]:
    """Yield a row for each ruling of the last scoring; ``counts`` False: the judge gave none, so it is in no rate."""
    for verdict in trial.verdicts:
        yield {
            "verdict_id": verdict_id(run, trial, verdict),
            "claim_id": claim_id(trial.scenario, verdict),
            "trial_id": trial_id(run, trial),
            **_run_columns(run),
            "scenario": trial.scenario,
            "trial": trial.number,
            "outcome": trial.outcome,
            "signal": verdict.signal,
            "index": verdict.index,
            "claim": verdict.claim,
            "passed": verdict.passed,
            "counts": not verdict.error,
            "error": verdict.error,
            "reason": verdict.reason,
            "evidence": list(verdict.evidence),
            "effective_passed": _effective(verdict),
            "ruled_by": ruled_by(verdict),
            "judge": verdict.judge,
            "scoring": verdict.scoring,
            "fingerprint": verdict.fingerprint,
        }


def _effective(verdict: VerdictRecord) -> bool | None:
    """Return the ruling that counts; None: nobody gave one."""
    if verdict.effective is not None:
        return verdict.effective
    return None if verdict.error else verdict.passed


def _run_columns(run: RunExport) -> Row:
    return {
        "run": run.run_id,
        "run_title": run.title,
        "is_rehearsal": run.is_rehearsal,
        "strictness": run.strictness,
        "domain": run.domain,
        "channel": run.channel,
        **{role: run.party(role).get("slug", "") for role in ("agent", "caller")},
    }


def _csv(rows: Rows, columns: tuple[str, ...]) -> Callable[[Export, IO[bytes]], None]:
    def write(export: Export, file: IO[bytes]) -> None:
        """Write a head and a line a row; UTF-8 without a mark, which programs would read as part of the first name."""
        clean = Cleaner.of(export.run)
        file.write(csv_cells.row(columns).encode())
        for trial in export.trials():
            for row in rows(export.run, trial):
                file.write(csv_cells.row(_cell(row[name], clean) for name in columns).encode())

    return write


def _cell(value: Any, clean: Cleaner) -> Any:
    """Return a cell: booleans as words, lists as JSON, and no text longer than a spreadsheet's cell."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | Mapping):
        value = json.dumps(clean.value(value), ensure_ascii=False) if value else ""
    if not isinstance(value, str):
        return clean.value(value)
    text = clean.text(value)
    return text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}\u2026"


def _jsonl(rows: Rows) -> Callable[[Export, IO[bytes]], None]:
    def write(export: Export, file: IO[bytes]) -> None:
        """Write a JSON object a line, every text whole and as it is."""
        clean = Cleaner.of(export.run)
        for trial in export.trials():
            for row in rows(export.run, trial):
                file.write(clean.json(row) + b"\n")

    return write


_RUN = ("run", "run_title", "is_rehearsal", "strictness", "domain", "channel", "agent", "caller")
TRIAL_COLUMNS = (
    *("trial_id", *_RUN, "scenario", "trial", "tags", "scenario_fingerprint", "status", "outcome", "in_rate"),
    *("outcome_reason", "other_outcome", "by_inaction", "judged_outcome", "verdicts_overruled", "fault", *SIGNALS),
    *("end_reason", "error_kind", "attempts", "turns", "started_at", "ended_at", "duration_ms", "response_p50_ms"),
    *("prompt_tokens", "completion_tokens", "cost_usd"),
)
VERDICT_COLUMNS = (
    *("verdict_id", "claim_id", "trial_id", *_RUN, "scenario", "trial", "outcome", "signal", "index", "claim"),
    *("passed", "counts", "error", "reason", "evidence", "effective_passed", "ruled_by", "judge", "scoring"),
    "fingerprint",
)
_CSV, _JSONL = "text/csv; charset=utf-8", "application/jsonl"
_CUT = "no conversation; a cell that begins like a formula gets an apostrophe, one over 32,000 characters is cut"
TRIALS_CSV = Format(
    name="trials-csv",
    title="Trials, CSV",
    suffix=".trials.csv",
    media_type=_CSV,
    lacks=f"a row a trial, no single claims, {_CUT}",
    write=_csv(trial_rows, TRIAL_COLUMNS),
    reads_calls=False,
)
TRIALS_JSONL = Format(
    name="trials-jsonl",
    title="Trials, JSON lines",
    suffix=".trials.jsonl",
    media_type=_JSONL,
    lacks="a line a trial: no single claims, no conversation",
    write=_jsonl(trial_rows),
    reads_calls=False,
)
VERDICTS_CSV = Format(
    name="verdicts-csv",
    title="Verdicts on claims, CSV",
    suffix=".verdicts.csv",
    media_type=_CSV,
    lacks=f"a row a ruling, so nothing of calls without one; {_CUT}",
    write=_csv(verdict_rows, VERDICT_COLUMNS),
    reads_calls=False,
)
VERDICTS_JSONL = Format(
    name="verdicts-jsonl",
    title="Verdicts on claims, JSON lines",
    suffix=".verdicts.jsonl",
    media_type=_JSONL,
    lacks="a line a ruling, so nothing of calls without one; no conversation",
    write=_jsonl(verdict_rows),
    reads_calls=False,
)
