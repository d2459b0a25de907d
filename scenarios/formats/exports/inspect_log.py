"""Logs of Inspect (``inspect_ai``), log version 2: ``.eval``, a zip with a file a sample, and ``.json``."""

import uuid
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Any

from scenarios.formats.exports.form import Export, Format, pour, spool
from scenarios.formats.exports.inspect_sample import OUTCOME, sample, summary
from scenarios.formats.exports.results import Rate
from scenarios.formats.exports.text import Cleaner
from scenarios.formats.reference_records import RunExport, TrialExport, redacted, redacted_text

VERSION = 2
_IDS = uuid.UUID("b8f6f6a0-1f0c-4c57-9c0e-5b1f4b7c1a11")


@dataclass
class _Totals:
    """What the head of a log says of its samples, counted as they are written."""

    rate: Rate = field(default_factory=Rate)
    ids: dict[str, None] = field(default_factory=dict)
    usage: dict[str, Counter[str]] = field(default_factory=dict)
    errors: int = 0
    last: datetime | None = None

    def add(self, trial: TrialExport, made: dict[str, Any]) -> None:
        self.rate.add(trial)
        self.ids[trial.scenario] = None
        self.errors += made["error"] is not None
        for model, counts in made["model_usage"].items():
            self.usage.setdefault(model, Counter()).update(counts)
        if trial.ended_at and (self.last is None or trial.ended_at > self.last):
            self.last = trial.ended_at


def write_eval(export: Export, file: IO[bytes]) -> None:
    """Write the zip: samples as they come, then what is known when all are written."""
    clean, totals = Cleaner.of(export.run), _Totals()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, spool() as summaries:
        for trial in export.trials():
            made = sample(export.run, trial)
            totals.add(trial, made)
            archive.writestr(f"samples/{made['id']}_epoch_{made['epoch']}.json", clean.json(made))
            summaries.write((b",\n" if summaries.tell() else b"[") + clean.json(summary(made)))
        spec = _spec(export, totals)
        archive.writestr("_journal/start.json", clean.json({"version": VERSION, "eval": spec, "plan": _PLAN}))
        with archive.open("summaries.json", "w") as entry:
            pour(summaries, entry)
            entry.write(b"]" if totals.ids else b"[]")
        archive.writestr("header.json", clean.json(_head(export, spec, totals)))


def write_json(export: Export, file: IO[bytes]) -> None:
    """Write the same as one JSON object."""
    clean, totals = Cleaner.of(export.run), _Totals()
    with spool() as samples:
        for trial in export.trials():
            made = sample(export.run, trial)
            totals.add(trial, made)
            samples.write((b",\n" if samples.tell() else b"") + clean.json(made))
        file.write(clean.json(_head(export, _spec(export, totals), totals))[:-1] + b',"samples":[\n')
        pour(samples, file)
        file.write(b"\n]}\n")


_PLAN: dict[str, Any] = {"name": "plan", "steps": [], "config": {}}


def _head(export: Export, spec: dict[str, Any], totals: _Totals) -> dict[str, Any]:
    started = export.run.started_at.isoformat()
    return {
        "version": VERSION,
        # "started" is Inspect's word for a log to which samples are still to come.
        "status": "started" if export.run.not_ended else "success",
        "eval": spec,
        "plan": _PLAN,
        "results": _results(totals),
        "stats": {
            "started_at": started,
            "completed_at": totals.last.isoformat() if totals.last else started,
            "model_usage": {model: dict(counts) for model, counts in totals.usage.items()},
        },
        "invalidated": bool(totals.rate.outcomes["tainted"]),
    }


def _results(totals: _Totals) -> dict[str, Any]:
    """Return the pass rate with its denominator; over nothing there is no figure."""
    rate = totals.rate
    metrics = {} if rate.value is None else {"accuracy": {"name": "accuracy", "value": rate.value, "params": {}}}
    score = {
        "name": OUTCOME,
        "scorer": OUTCOME,
        "scored_samples": rate.rated,
        "unscored_samples": rate.total - rate.rated,
        "params": {},
        "metrics": metrics,
        "metadata": rate.facts(),
    }
    return {"total_samples": rate.total, "completed_samples": rate.total - totals.errors, "scores": [score]}


def _spec(export: Export, totals: _Totals) -> dict[str, Any]:
    run = export.run
    agent, judge = run.party("agent"), run.party("judge")
    roles = {role: _role(run, role) for role in ("caller", "judge") if run.party(role).get("model")}
    return {
        "eval_id": _id(f"eval {run.run_id}"),
        "run_id": _id(f"run {run.run_id}"),
        "task_id": _id(f"task {run.domain}"),
        "created": run.started_at.isoformat(),
        "task": run.domain or "unknown",
        "task_version": 0,
        "task_display_name": export.title,
        "task_args": {},
        "tags": ["rehearsal"] if run.is_rehearsal else [],
        "dataset": {"name": run.domain, "samples": len(totals.ids), "sample_ids": list(totals.ids), "shuffled": False},
        "model": agent.get("model") or agent.get("slug") or "unknown",
        "model_base_url": redacted_text(agent.get("base_url") or agent.get("address") or "") or None,
        "model_args": redacted(agent.get("parameters") or {}),
        "model_roles": roles or None,
        "config": {"epochs": run.config.get("trials") or 1},
        "packages": {"callboard": (run.config.get("versions") or {}).get("callboard") or "unknown"},
        "metadata": {
            "callboard_run": run.run_id,
            "title": run.title,
            "fingerprint": run.fingerprint,
            "is_rehearsal": run.is_rehearsal,
            "strictness": run.strictness,
            "channel": run.channel,
            "agent": agent.get("slug"),
            "caller": run.party("caller").get("slug"),
            "judge": judge.get("slug"),
            "chosen": export.chosen,
            "not_ended": run.not_ended,
            "imported_from": run.imported_from,
        },
    }


def _role(run: RunExport, role: str) -> dict[str, Any]:
    party = run.party(role)
    return {"model": party["model"], "args": redacted(party.get("parameters") or {})}


def _id(name: str) -> str:
    """Return an id that is the same whenever the run is exported."""
    return uuid.uuid5(_IDS, name).hex[:22]


_LACKS = "tool calls of the caller and our outcomes are metadata only; what no rate counts has no score"
EVAL = Format(
    name="inspect",
    title="Inspect log, .eval",
    suffix=".eval",
    media_type="application/zip",
    lacks=_LACKS,
    write=write_eval,
)
JSON = Format(
    name="inspect-json",
    title="Inspect log, .json",
    suffix=".inspect.json",
    media_type="application/json",
    lacks=_LACKS,
    write=write_json,
)
