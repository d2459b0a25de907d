"""An eva run folder: ``config.json``, ``results.csv`` and a folder for each record (``spec/trajectories.md`` 4).

A record may also have a folder for each of its trials, or stand alone without its run.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scenarios.formats.imports.eva_conversation import read_conversation
from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.folder import Folder
from scenarios.formats.imports.records import (
    ForeignVerdict,
    ImportedParty,
    ImportedRun,
    ImportedTask,
    ImportedTrial,
    MappedVerdict,
    Remark,
)
from scenarios.formats.imports.redaction import redact, scrubbed
from scenarios.formats.imports.source import DamagedFile, fingerprint_of_all
from scenarios.sides import Side
from scenarios.state.canonical import canonical_hash

DOMAIN = "eva_airline"
RECORDS = "records"
_OF_RECORD = ("result.json", "audit_log.json")
_READ = (
    *("result.json", "audit_log.json", "transcript.jsonl", "metrics.json", "initial_scenario_db.json"),
    *("final_scenario_db.json", "response_latencies.json", "elevenlabs_events.jsonl", "user_simulator_events.jsonl"),
)
_AUDIO: Mapping[str, tuple[Side, ...]] = {
    "audio_assistant.wav": ("agent",),
    "audio_user.wav": ("user",),
    "audio_mixed.wav": (),
}
_TRIAL = re.compile(r"(?:trial|attempt)_(\d{1,6})\Z")
# The deterministic metric of eva: the databases compared.
_TASK_METRIC = "task_completion"
_READ_OF_RESULT = frozenset({"record_id", "started_at", "ended_at", "duration_seconds", "conversation_ended_reason"})


def is_run(folder: Path) -> bool:
    """Return whether a folder is an eva run."""
    return any(is_record(one.root) or any(is_record(two.root) for two in one.folders()) for one in _records(folder))


def is_record(folder: Path) -> bool:
    """Return whether a folder is that of one eva record."""
    return all(Folder(folder).find(name) for name in _OF_RECORD)


def read_run(root: Path) -> ImportedRun:
    """Return the run of a folder; its records are read as they are asked for. DamagedFile: a file cannot be opened."""
    remarks: list[Remark] = []
    config = Fields(Folder(root).object("config.json", remarks), "config.json", remarks)
    pipeline = config.under("pipeline")
    if not config.data:
        remarks.append(Remark("warning", "config.json", "none that can be read: models and settings are unknown"))
    trials = list(_trial_folders(root))
    run = ImportedRun(
        source=fingerprint_of_all(root, _files(root, trials)),
        format="eva",
        version=None,
        domain_name=DOMAIN,
        agent=ImportedParty(None, _model(pipeline), redact(pipeline.data)),
        user=ImportedParty(),
        tasks={},
        read_trials=lambda run: _read_trials(run, root),
        timestamp=None,
        facts=redact({"config": {name: value for name, value in config.data.items() if name != "pipeline"}}),
        remarks=remarks,
    )
    _check_results(run, root, trials)
    return run


def _records(root: Path) -> list[Folder]:
    return Folder(root).under(RECORDS).folders()


def _trial_folders(root: Path) -> Iterator[tuple[Folder, str, int | None]]:
    """Yield each call's folder with the record's id and the trial's number where there are several."""
    if is_record(root):
        yield Folder(root), "", None
        return
    for record in _records(root):
        numbered = [(one, _TRIAL.match(one.root.name)) for one in record.folders()]
        trials = [(one, int(match[1])) for one, match in numbered if match]
        for one, number in sorted(trials, key=lambda trial: trial[1]):
            yield one, record.root.name, number
        if not trials or any(record.find(name) for name in _OF_RECORD):
            yield record, record.root.name, None


def _files(root: Path, trials: list[tuple[Folder, str, int | None]]) -> list[Path]:
    found = [Folder(root).find(name) for name in ("config.json", "results.csv")]
    found += [folder.find(name) for folder, _, _ in trials for name in (*_READ, *_AUDIO)]
    return [path for path in found if path is not None]


def _model(pipeline: Fields) -> str | None:
    for name in ("llm_model", "s2s_model", "audio_llm_model", "llm"):
        value = pipeline.data.get(name)
        if isinstance(value, str) and value:
            return value
    return None


def _check_results(run: ImportedRun, root: Path, trials: list[tuple[Folder, str, int | None]]) -> None:
    """Compare the ids that ``results.csv`` lists with the records that there are."""
    text = Folder(root).text("results.csv", run.remarks)
    if text is None:
        return
    listed = {line.split(",", 1)[0].strip().strip('"') for line in text.splitlines()[1:] if line.strip()}
    there = {record for _, record, _ in trials if record}
    for name in sorted(listed - there):
        run.remarks.append(Remark("warning", "results.csv", f"record {name[:80]} is listed and has no folder"))
    for name in sorted(there - listed):
        run.remarks.append(Remark("warning", "results.csv", f"record {name[:80]} has a folder and is not listed"))


def _read_trials(run: ImportedRun, root: Path) -> Iterator[ImportedTrial]:
    for folder, record, number in _trial_folders(root):
        place = folder.place or "record"
        if not any(folder.find(name) for name in _OF_RECORD):
            text = "neither result.json nor audit_log.json: the call was not held or not finished"
            run.refused.append(Remark("error", place, text))
            continue
        try:
            yield _trial(folder, place, record, number)
        except DamagedFile as damage:
            run.refused.append(Remark("error", place, f"{damage.place}: {damage.problem}. {damage.remedy}"))


def _trial(folder: Folder, place: str, record: str, number: int | None) -> ImportedTrial:
    remarks: list[Remark] = []
    result = Fields(folder.object("result.json", remarks), folder.placed("result.json"), remarks)
    record_id = result.label("record_id") or record or None
    if record and result.label("record_id") not in (None, record):
        result.remark(f"the folder is called {record[:80]!r}", "record_id")
    talk = read_conversation(folder, remarks)
    seeds = folder.object("initial_scenario_db.json", remarks)
    ended = folder.object("final_scenario_db.json", remarks)
    _check_hash(result, "initial_scenario_db_hash", seeds)
    _check_hash(result, "final_scenario_db_hash", ended)
    _check_counts(result, talk.tools)
    return ImportedTrial(
        place=place,
        id=None,
        task_id=record_id,
        task=ImportedTask(record_id or "", {"initial_scenario_db": seeds}) if seeds else None,
        trial=number,
        seed=None,
        termination_reason=result.text("conversation_ended_reason"),
        verdict=_verdict(folder, result, remarks),
        messages=talk.messages,
        turns=talk.turns,
        tool_calls=talk.tools,
        started_at=result.text("started_at"),
        ended_at=result.text("ended_at"),
        duration_s=result.number("duration_seconds"),
        mode="full_duplex",
        policy=talk.policy,
        domain_name=DOMAIN,
        audio=tuple(one for name, sides in _AUDIO.items() for one in folder.audio(name, sides, remarks)),
        end_hashes={"agent": canonical_hash(ended)} if ended else {},
        facts=_facts(folder, result, ended, remarks),
        remarks=tuple(remarks),
    )


def _check_hash(result: Fields, name: str, database: Mapping[str, Any]) -> None:
    """Remark when a database is not the one whose hash eva wrote down: SHA-256 of compact, key-sorted JSON."""
    stored = result.text(name)
    if not stored or not database:
        return
    text = json.dumps(database, sort_keys=True, separators=(",", ":"))
    if hashlib.sha256(text.encode()).hexdigest() != stored:
        result.remark("is not the plain hash of the database beside it: written by another version, or changed", name)


def _check_counts(result: Fields, tools: tuple[Any, ...]) -> None:
    count = result.integer("num_tool_calls")
    if count is not None and count != len(tools):
        result.remark(f"says {count} tool calls; the audit log has {len(tools)}", "num_tool_calls")


def _facts(folder: Folder, result: Fields, ended: Mapping[str, Any], remarks: list[Remark]) -> Mapping[str, Any]:
    # Where files lay on somebody's machine is nobody's business.
    others = {name: value for name, value in result.data.items() if not name.endswith(("_path", "_dir"))}
    facts: dict[str, Any] = redact({name: value for name, value in others.items() if name not in _READ_OF_RESULT})
    if latencies := folder.object("response_latencies.json", remarks):
        facts["response_latencies"] = redact(latencies)
    if ended:
        facts["final_scenario_db"] = scrubbed(ended)
    return facts


def _verdict(folder: Folder, result: Fields, remarks: list[Remark]) -> ForeignVerdict:
    """Return the verdict by the metric that compares the databases; eva's judged metrics are kept as written."""
    written = folder.object("metrics.json", remarks)
    fields = Fields(written, folder.placed("metrics.json"), remarks)
    metrics = fields.under("metrics") if isinstance(written.get("metrics"), Mapping) else fields
    metric = metrics.under(_TASK_METRIC)
    score = metric.number("score")
    mapped, why = _mapping(result, metric, score, has_file=bool(written))
    is_decided = mapped in ("pass", "fail")
    return ForeignVerdict(
        mapped=mapped,
        why=why,
        reward=score,
        written=scrubbed(written) if written else None,
        db_match=mapped == "pass" if is_decided else None,
        db_sides=("agent",),
    )


def _mapping(result: Fields, metric: Fields, score: float | None, *, has_file: bool) -> tuple[MappedVerdict, str]:
    if result.boolean("completed") is False or result.data.get("error"):
        error = redact(str(result.data.get("error") or "no reason given"))[:200]
        return "excluded", f"the call was not completed ({error}): eva runs it again and does not score it"
    if metric.data.get("error"):
        return "judge_error", f"{_TASK_METRIC} failed: {redact(str(metric.data['error']))[:200]}"
    if metric.boolean("skipped"):
        return "not_scored", f"{_TASK_METRIC} was skipped"
    if score is None:
        return "not_scored", f"no {_TASK_METRIC} in metrics.json" if has_file else "the folder has no metrics.json"
    if score in (0.0, 1.0):
        return ("pass" if score else "fail"), f"{_TASK_METRIC} counts"
    return "not_scored", f"{_TASK_METRIC} {score:g} is neither 0 nor 1"
