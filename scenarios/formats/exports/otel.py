"""OpenTelemetry events ``gen_ai.evaluation.result``, in the JSON lines of the OTLP file exporter: a line a trial.

Attributes as in the GenAI conventions of semantic conventions 1.41.0, the last release that holds them; their own
repository has the event unchanged in v0.1.0. The event's status there is "development": names may still change.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import IO, Any

from scenarios.formats.exports.form import Export, Format
from scenarios.formats.exports.results import claim_id, is_rated, ruled_by, trial_id, verdict_id
from scenarios.formats.exports.text import Cleaner
from scenarios.formats.reference_records import RunExport, TrialExport

EVENT = "gen_ai.evaluation.result"
SCHEMA = "https://opentelemetry.io/schemas/1.41.0"
_INFO = 9
# Outcomes that say that the evaluation itself broke; the conventions keep that in ``error.type``.
_BROKEN = frozenset({"judge_error", "infra_error"})
_LABELS = {True: "pass", False: "fail", None: None}


def write(export: Export, file: IO[bytes]) -> None:
    """Write the outcome, each signal and each ruling of each trial as one event."""
    clean = Cleaner.of(export.run)
    for trial in export.trials():
        logs = {
            "resourceLogs": [
                {
                    "resource": {"attributes": _attributes(_resource(export.run))},
                    "scopeLogs": [
                        {
                            "scope": {"name": "callboard"},
                            "logRecords": list(_records(export.run, trial)),
                            "schemaUrl": SCHEMA,
                        }
                    ],
                    "schemaUrl": SCHEMA,
                }
            ]
        }
        file.write(clean.json(logs) + b"\n")


def _resource(run: RunExport) -> dict[str, Any]:
    return {
        "service.name": "callboard",
        "callboard.run": run.run_id,
        "callboard.run.title": run.title,
        "callboard.run.fingerprint": run.fingerprint,
        "callboard.rehearsal": run.is_rehearsal,
        "callboard.strictness": run.strictness,
        "callboard.domain": run.domain,
        "gen_ai.agent.name": run.party("agent").get("slug"),
        "gen_ai.request.model": run.party("agent").get("model") or None,
    }


def _records(run: RunExport, trial: TrialExport) -> Iterator[dict[str, Any]]:
    common = {
        "gen_ai.conversation.id": trial_id(run, trial),
        "callboard.scenario": trial.scenario,
        "callboard.trial": trial.number,
    }
    for facts in (_outcome(trial), *_signals(trial), *_rulings(run, trial)):
        yield {
            "timeUnixNano": _nanoseconds(trial.ended_at),
            "observedTimeUnixNano": _nanoseconds(trial.ended_at),
            "severityNumber": _INFO,
            "severityText": "INFO",
            "eventName": EVENT,
            "attributes": _attributes({**common, **facts}),
        }


def _outcome(trial: TrialExport) -> dict[str, Any]:
    rated = is_rated(trial.outcome)
    return {
        **_result("outcome", trial.outcome == "pass" if rated else None, trial.outcome_reason),
        "gen_ai.evaluation.score.label": trial.outcome or None,
        "error.type": trial.outcome if trial.outcome in _BROKEN else None,
        "callboard.in_rate": rated,
        "callboard.by_inaction": trial.by_inaction,
        "callboard.other_outcome": trial.other_outcome or None,
    }


def _signals(trial: TrialExport) -> Iterator[dict[str, Any]]:
    for signal in trial.signals:
        if signal.state == "not_applicable":
            continue
        passed = {"passed": True, "failed": False}.get(signal.state)
        if passed is None and isinstance(signal.value, bool):
            passed = signal.value
        yield {**_result(signal.signal, passed, ""), "callboard.signal.state": signal.state}


def _rulings(run: RunExport, trial: TrialExport) -> Iterator[dict[str, Any]]:
    for verdict in trial.verdicts:
        passed = verdict.effective if verdict.effective is not None else None if verdict.error else verdict.passed
        yield {
            **_result(f"{verdict.signal}.claim", passed, verdict.reason),
            "error.type": verdict.error or None,
            "callboard.verdict.id": verdict_id(run, trial, verdict),
            "callboard.claim.id": claim_id(trial.scenario, verdict),
            "callboard.claim": verdict.claim,
            "callboard.judge": verdict.judge or None,
            "callboard.ruled_by": ruled_by(verdict),
        }


def _result(name: str, passed: bool | None, explanation: str) -> dict[str, Any]:
    return {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.value": None if passed is None else float(passed),
        "gen_ai.evaluation.score.label": _LABELS[passed],
        "gen_ai.evaluation.explanation": explanation or None,
    }


def _attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return attributes in OTLP's JSON; what is None is left out, as the conventions want."""
    return [{"key": name, "value": _any(value)} for name, value in values.items() if value is not None]


def _any(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": str(value)}


def _nanoseconds(moment: datetime | None) -> str:
    return "0" if moment is None else str(int(moment.timestamp() * 1_000_000) * 1000)


FORMAT = Format(
    name="otel",
    title="OpenTelemetry evaluation events, JSON lines",
    suffix=".otel.jsonl",
    media_type="application/jsonl",
    lacks="outcome, signals and rulings as gen_ai.evaluation.result (semantic conventions 1.41.0): no conversation",
    write=write,
    reads_calls=False,
)
