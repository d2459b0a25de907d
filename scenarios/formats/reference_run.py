"""Writing the run folder of the reference system (``spec/reference-system.md`` 7), as a folder or a zip.

Nothing is ever half-written: a folder appears under its name when it is complete, a stream gets a whole zip. A call
that was recorded has its ``conversation_log.wav``: 16-bit stereo at 16 kHz, left user to agent, as the bridge wrote it.
What was recorded of an earlier attempt, whose bot died, is ``conversation_log.attempt<n>.wav``: no transcript of the
folder belongs to it, only the lines of that attempt in ``bridge_log.txt``.
"""

import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Protocol

from scenarios.formats import csv_cells
from scenarios.formats.reference_logs import bridge_log, evaluation_line
from scenarios.formats.reference_metrics import judge_file, latencies, metrics, stop_reason
from scenarios.formats.reference_records import REDACTED, RunExport, TrialExport, redacted
from scenarios.formats.reference_summary import Summary
from scenarios.formats.transcripts import text_of
from scenarios.sides import SIDES


class _Sink(Protocol):
    def write(self, name: str, text: str) -> None:
        """Store one file under its path inside the run folder."""

    def pour(self, name: str, parts: Iterable[str | IO[str]]) -> None:
        """Store one file from texts and files, which need not fit in memory."""

    def copy(self, name: str, file: IO[bytes]) -> None:
        """Store one file byte for byte."""


class FolderExists(Exception):
    """The run has been exported to this place before; the text names the folder and what to do."""


def export_folder(run: RunExport, trials: Iterable[TrialExport], destination: Path) -> Path:
    """Write the run folder into ``destination`` and return its path; on any error nothing is left there."""
    destination.mkdir(parents=True, exist_ok=True)
    final = destination / run.folder
    if final.exists():
        raise FolderExists(f"{final} exists already: remove it or choose another folder")
    partial = Path(tempfile.mkdtemp(prefix=".callboard-export-", dir=destination))
    try:
        _write_run(run, trials, _Guarded(_Folder(partial), run.secrets))
        partial.chmod(0o755)
        os.replace(partial, final)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return final


def export_zip(run: RunExport, trials: Iterable[TrialExport], stream: IO[bytes]) -> None:
    """Write the run folder as a zip; the stream gets nothing before the whole zip is made."""
    with tempfile.TemporaryFile() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            _write_run(run, trials, _Guarded(_Zip(archive, run.folder), run.secrets))
        file.seek(0)
        shutil.copyfileobj(file, stream)


class _Folder:
    def __init__(self, root: Path) -> None:
        self._root = root

    def write(self, name: str, text: str) -> None:
        self.pour(name, [text])

    def pour(self, name: str, parts: Iterable[str | IO[str]]) -> None:
        path = self._root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            for text in _chunks(parts):
                file.write(text)

    def copy(self, name: str, file: IO[bytes]) -> None:
        path = self._root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as target:
            shutil.copyfileobj(file, target)


class _Zip:
    def __init__(self, archive: zipfile.ZipFile, folder: str) -> None:
        self._archive, self._folder = archive, folder

    def write(self, name: str, text: str) -> None:
        self._archive.writestr(f"{self._folder}/{name}", text)

    def pour(self, name: str, parts: Iterable[str | IO[str]]) -> None:
        with self._archive.open(f"{self._folder}/{name}", "w") as entry:
            for text in _chunks(parts):
                entry.write(text.encode())

    def copy(self, name: str, file: IO[bytes]) -> None:
        with self._archive.open(f"{self._folder}/{name}", "w") as entry:
            shutil.copyfileobj(file, entry)


class _Guarded:
    """Takes known secrets out of everything that is written."""

    def __init__(self, sink: _Sink, secrets: Iterable[str]) -> None:
        self._sink = sink
        self._secrets = [form for secret in secrets if secret for form in {secret, json.dumps(secret)[1:-1]}]

    def clean(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        # A lone surrogate, which JSON text may carry, cannot be written as UTF-8.
        return text.encode("utf-8", "replace").decode("utf-8")

    def write(self, name: str, text: str) -> None:
        self._sink.write(name, self.clean(text))

    def pour(self, name: str, *parts: str | IO[str]) -> None:
        """Store what is clean already."""
        self._sink.pour(name, parts)

    def copy(self, name: str, file: IO[bytes]) -> None:
        """Store what is no text."""
        self._sink.copy(name, file)


def _write_run(run: RunExport, trials: Iterable[TrialExport], sink: _Guarded) -> None:
    summary = Summary()
    with _spool() as all_metrics, _spool() as all_latencies, _spool() as log:
        all_latencies.write(csv_cells.row(["Scenario", "User_Transcript", "Agent_Transcript", "Latency_ms"]))
        for trial in trials:
            found = metrics(trial)
            all_metrics.write(",\n" if summary.trials else "")
            summary.add(found, judge_file(trial))
            all_metrics.write(sink.clean(_json(found)))
            log.write(sink.clean(evaluation_line(trial)))
            for line in _latency_lines(trial):
                all_latencies.write(sink.clean(line))
            for name, text in _trial_files(trial, found):
                sink.write(f"{trial.folder}/{name}", text)
            _write_recording(trial, sink)
        sink.pour("all_metrics.json", "[\n", all_metrics, "\n]\n")
        sink.pour("all_latencies.csv", all_latencies)
        sink.pour("evaluation_log.txt", log)
    sink.write("all_summary.txt", summary.text(f"Run {run.run_id} {run.title}".rstrip()))
    sink.write("run_args.json", _json(_run_args(run)))


def _write_recording(trial: TrialExport, sink: _Guarded) -> None:
    if trial.open_recording is None:
        return
    names = {number: f"conversation_log.attempt{number}.wav" for number in range(1, trial.row.attempts)}
    for attempt, name in ({None: "conversation_log.wav"} | names).items():
        file = trial.open_recording(attempt)
        if file is not None:
            with file:
                sink.copy(f"{trial.folder}/{name}", file)


def _trial_files(trial: TrialExport, found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "metrics.json", _json(found)
    judged = judge_file(trial)
    if judged is not None:
        yield "judge_result.json", _json(judged)
    yield "final_agent_response.json", _json([{"actions": trial.actions()}])
    yield "final_scenario_db_hash.txt", _hashes(trial)
    yield "conversation_log.txt", _conversation(trial)
    yield "conversation_log.seglst.json", _json(_segments(trial))
    yield "bridge_log.txt", "".join(bridge_log(trial.events))
    for side in SIDES:
        if side in trial.call.contexts:
            yield f"bot_logs_{side}/llm_context.json", _json(trial.call.contexts[side])
    yield from _config_files(trial)


def _config_files(trial: TrialExport) -> Iterator[tuple[str, str]]:
    for side, prepared in trial.call.prepared.items():
        yield f"scenario_config/{side}_prompt.txt", str(prepared["prompt"])
        # The reference encodes this twice: a JSON text inside a JSON string.
        yield f"scenario_config/{side}_tools.json", _json(json.dumps(prepared["tools"], default=str))
    if trial.spec is not None:
        yield "scenario_config/metadata.json", _json(_metadata(trial))
    if trial.reference_actions is not None:
        yield "scenario_config/reference_answer.json", _json({"actions": list(trial.reference_actions)})


def _metadata(trial: TrialExport) -> dict[str, Any]:
    spec = trial.spec
    assert spec is not None
    database = trial.signal("db_state_match")
    detail = database.detail if database else {}
    return {
        "name": spec.name,
        "domain": spec.domain,
        "description": spec.title,
        "max_duration": spec.max_duration_s,
        "success_signals": list(trial.success_signals),
        "nl_assertions": list(spec.nl_assertions) or None,
        "db_state_assertions": [asdict(assertion) for assertion in spec.db_assertions] or None,
        "initialization_actions": [asdict(action) for action in spec.init_actions] or None,
        **asdict(spec.match),
        "expected_scenario_db_hash": detail.get("expected_hash"),
        "expected_user_db_hash": detail.get("user_expected_hash"),
    }


def _run_args(run: RunExport) -> dict[str, Any]:
    config = redacted(run.config)
    names = [scenario["name"] for scenario in config["scenarios"]]
    judge = config.get("judge") or {}
    limits = config.get("limits") or {}
    parsed = {
        "user_url": config["caller"].get("address", ""),
        "agent_url": config["agent"].get("address", ""),
        "domain": config["domain"],
        "scenarios": names,
        "duration": limits.get("max_duration_s"),
        "strict_match": config["strict_match"],
        "min_agent_turns": config["min_agent_turns"],
        "judge_url": judge.get("base_url", ""),
        "judge_model": judge.get("model", ""),
        "judge_api_key": REDACTED if judge.get("key_env") else None,
        "callboard": config,
    }
    invocation = {
        "started_at": run.started_at.isoformat(),
        "argv": [],  # launched in the browser or through the queue: there was no command line
        "parsed_args": parsed,
        "resolved_scenario_count": len(names),
        "resolved_scenario_names": names,
    }
    return {"invocations": [invocation]}


def _hashes(trial: TrialExport) -> str:
    record = trial.signal("db_state_match")
    detail = record.detail if record else {}
    lines = {"db_hash": detail.get("actual_hash"), "user_db_hash": detail.get("user_actual_hash")}
    return "".join(f"{name}: {value}\n" for name, value in lines.items() if value or name == "db_hash")


def _conversation(trial: TrialExport) -> str:
    waits = {row.turn: row.response_ms for row in trial.call.latencies if row.side == "agent"}
    lines = [f"Scenario: {trial.scenario}", f"Trial: {trial.number}", ""]
    asked_ms: int | None = None
    for turn in trial.call.turns.values():
        start, end = turn.started_ms / 1000, turn.ended_ms / 1000
        lines.append(f"[{start:.2f}s - {end:.2f}s] ({end - start:.2f}s) {turn.side.upper()}: {text_of(turn)}")
        if turn.side == "user":
            asked_ms = turn.ended_ms
        elif asked_ms is not None and (turn.turn in waits or turn.started_ms < asked_ms):
            # Of an agent that cut in nothing is measured: here its time is negative.
            lines.append(f"    Latency: {waits.get(turn.turn, float(turn.started_ms - asked_ms)):.1f} ms")
    lines += ["", f"End time: {(trial.duration_ms or 0) / 1000:.2f}s", f"Stop reason: {stop_reason(trial)}", ""]
    return "\n".join(lines)


def _segments(trial: TrialExport) -> list[dict[str, Any]]:
    return [
        {
            "session_id": trial.folder,
            "words": text_of(turn),
            "speaker": turn.side,
            "start_time": turn.started_ms / 1000,
            "end_time": turn.ended_ms / 1000,
        }
        for turn in trial.call.turns.values()
    ]


def _latency_lines(trial: TrialExport) -> Iterator[str]:
    for row in latencies(trial):
        yield csv_cells.row(
            [trial.scenario, row["user_transcript"], row["agent_transcript"], f"{row['latency_ms']:.1f}"]
        )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


@contextmanager
def _spool() -> Iterator[IO[str]]:
    with tempfile.SpooledTemporaryFile(
        max_size=16_000_000, mode="w+", encoding="utf-8", errors="replace", newline=""
    ) as file:
        yield file


def _chunks(parts: Iterable[str | IO[str]]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
            continue
        part.seek(0)
        while text := part.read(1_000_000):
            yield text
