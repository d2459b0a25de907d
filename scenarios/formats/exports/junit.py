"""JUnit XML, as CI systems read it: a run is a suite, a trial a case.

Fail and stalled are failures; a broken harness or judge is an error; what nobody could score is skipped, so that no
system counts it as passed (``spec/peers.md`` 5).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import IO, Literal
from xml.sax.saxutils import escape, quoteattr

from scenarios.formats.exports.form import Export, Format, pour, spool
from scenarios.formats.exports.results import Rate, is_rated, trial_id
from scenarios.formats.exports.text import Cleaner, shortened, xml_text
from scenarios.formats.reference_records import TrialExport, VerdictRecord

State = Literal["failure", "error", "skipped"]
# What is no pass: the element that says so.
STATES: dict[str, State] = {
    "fail": "failure",
    "stalled": "failure",
    "judge_error": "error",
    "infra_error": "error",
    "unscored": "skipped",
    "tainted": "skipped",
    "cancelled": "skipped",
    "over_budget": "skipped",
}
# CI systems show a case on one page and refuse huge files.
_MOST, _MOST_OF_A_LINE = 20_000, 300


def write(export: Export, file: IO[bytes]) -> None:
    """Write the suite; counted case by case, so that head and cases cannot disagree."""
    clean = Cleaner.of(export.run)
    rate, states = Rate(), Counter[str]()
    seconds = 0.0
    with spool() as cases:
        for trial in export.trials():
            rate.add(trial)
            states[_state(trial) or "passed"] += 1
            seconds += _seconds(trial)
            cases.write("".join(_case(export, trial, clean)).encode())
        counts = {
            "tests": rate.total,
            "failures": states["failure"],
            "errors": states["error"],
            "skipped": states["skipped"],
            "time": f"{seconds:.3f}",
        }
        suite = {
            "name": export.title,
            **counts,
            "timestamp": f"{export.run.started_at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}",
        }
        file.write(b'<?xml version="1.0" encoding="UTF-8"?>\n')
        file.write(f"<testsuites{_attributes({'name': 'Callboard', **counts}, clean)}>\n".encode())
        file.write(f"<testsuite{_attributes(suite, clean)}>\n".encode())
        file.write("".join(_properties(_facts(export, rate), clean)).encode())
        pour(cases, file)
        file.write(b"</testsuite>\n</testsuites>\n")


def _state(trial: TrialExport) -> State | None:
    """Return the element of an outcome; one that is unknown or missing is skipped, never passed."""
    return None if trial.outcome == "pass" else STATES.get(trial.outcome, "skipped")


def _seconds(trial: TrialExport) -> float:
    return (trial.row.duration_ms or 0) / 1000


def _facts(export: Export, rate: Rate) -> dict[str, object]:
    run, facts = export.run, rate.facts()
    left_out = ", ".join(f"{outcome} {count}" for outcome, count in rate.left_out.items()) or "none"
    return {
        "callboard.run": run.run_id,
        "callboard.fingerprint": run.fingerprint,
        "callboard.rehearsal": "true" if run.is_rehearsal else "false",
        "callboard.strictness": run.strictness or "unknown",
        "callboard.channel": run.channel,
        "callboard.agent": run.party("agent").get("slug", ""),
        "callboard.caller": run.party("caller").get("slug", ""),
        "callboard.judge": run.party("judge").get("slug", "") or "none",
        "callboard.chosen": export.chosen or "all ended trials",
        "callboard.pass_rate": "-" if rate.value is None else f"{rate.value:.4f} ({rate.passed}/{rate.rated})",
        "callboard.left_out": left_out,
        "callboard.passed_by_inaction": facts["passed_by_inaction"],
        "callboard.not_ended": run.not_ended,
    }


def _case(export: Export, trial: TrialExport, clean: Cleaner) -> Iterator[str]:
    prefix = trial.scenario.partition("__")[0]
    named = {"classname": prefix, "name": f"{trial.scenario}[t{trial.number}]", "time": f"{_seconds(trial):.3f}"}
    yield f"<testcase{_attributes(named, clean)}>\n"
    facts = {
        "callboard.id": trial_id(export.run, trial),
        "callboard.outcome": trial.outcome or "none",
        "callboard.in_rate": "true" if is_rated(trial.outcome) else "false",
        "callboard.scenario_fingerprint": trial.fingerprint,
        "callboard.attempts": trial.row.attempts,
        **({"callboard.by_inaction": "true"} if trial.by_inaction else {}),
        **({"callboard.other_outcome": trial.other_outcome} if trial.other_outcome not in ("", trial.outcome) else {}),
        **({"callboard.overruled_by_people": trial.row.overruled} if trial.row.overruled else {}),
    }
    yield from _properties(facts, clean)
    state = _state(trial)
    if state is not None:
        message = trial.outcome_reason or trial.outcome or "no outcome"
        why = {"message": _line(message), "type": trial.row.error_kind or trial.outcome or "none"}
        body = escape(xml_text(clean.text(shortened(_body(trial), _MOST))))
        yield f"<{state}{_attributes(why, clean)}>{body}</{state}>\n"
    yield "</testcase>\n"


def _body(trial: TrialExport) -> str:
    """Return the reason, the signals that decided and each ruling that went against the agent or was not given."""
    lines = [f"{trial.outcome or 'no outcome'}: {trial.outcome_reason or 'no reason is recorded'}"]
    lines += [f"{signal.signal}: {signal.state}" for signal in trial.signals if signal.state in ("failed", "undecided")]
    lines += [_ruling(verdict) for verdict in trial.verdicts if verdict.error or not verdict.passed]
    return "\n".join(lines)


def _ruling(verdict: VerdictRecord) -> str:
    ruled = f"no ruling ({verdict.error})" if verdict.error else "does not hold"
    if verdict.effective is not None and verdict.effective != verdict.passed:
        ruled += f", overruled by {verdict.ruled_by}"
    return f"{verdict.signal} {verdict.index} {ruled}: {_line(verdict.claim)}\n  {_line(verdict.reason)}"


def _line(text: str) -> str:
    return shortened(" ".join(text.split()), _MOST_OF_A_LINE)


def _attributes(values: Mapping[str, object], clean: Cleaner) -> str:
    return "".join(f" {name}={quoteattr(xml_text(clean.text(str(value))))}" for name, value in values.items())


def _properties(values: Mapping[str, object], clean: Cleaner) -> Iterator[str]:
    yield "<properties>\n"
    for name, value in values.items():
        yield f"<property{_attributes({'name': name, 'value': str(value)}, clean)}/>\n"
    yield "</properties>\n"


FORMAT = Format(
    name="junit",
    title="JUnit XML",
    suffix=".junit.xml",
    media_type="application/xml",
    lacks="no conversation: outcomes, reasons and failed claims only; long texts are cut",
    write=write,
    reads_calls=False,
)
