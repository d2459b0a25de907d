"""Records of a run to export: one scored trial of the toy scenario, to be varied."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from scenarios import events
from scenarios.formats.reference_records import JudgingRecord, RunExport, SignalRecord, TrialExport, VerdictRecord
from scenarios.scoring.evidence import read_events
from tests.scenarios.scoring.cases import CANCEL, CHANGE, rows, said, spec

HAPPENED: tuple[events.Event, ...] = (
    events.AttemptStarted(1, "l"),
    events.PartyPrepared("agent", "careful", "m", "Be kind.", [{"name": "cancel"}], False),
    said("user", 1, "Cancel W1.", started_ms=100),
    events.ToolCalled("agent", 1, "cancel", {"order_id": "W1"}, "id"),
    events.ToolReturned("agent", 1, "cancel", True, {}, 1.0, changes=[CHANGE], action=CANCEL),
    said("agent", 2, "=Done.", started_ms=2000),
    events.LatencyMeasured("agent", 2, 410.04),
    said("user", 3, " ", started_ms=4000),
    said("agent", 4, "Goodbye.", started_ms=6000),
    events.LatencyMeasured("agent", 4, 290.0),
    events.LatencyMeasured("user", 3, 9999.0),
    events.UsageReported("agent", 100, 7),
    events.ContextPulled("agent", [{"role": "system", "content": "Be kind."}]),
    events.CallEnded("end_tool", "agent", 9500),
)
SIGNALS = (
    SignalRecord("is_action_match", "excluded", True, {"reference_match": True}),
    SignalRecord("db_state_match", "passed", True, {"expected_hash": "aa", "actual_hash": "aa"}),
    SignalRecord("db_state_assertion", "not_applicable", None),
    SignalRecord("clean_exit", "passed", True, {"end_reason": "end_tool"}),
    SignalRecord("nl_assertion", "not_applicable", None),
    SignalRecord("judge_passed", "not_applicable", None),
)
RUN = RunExport(
    run_id=7,
    title="Nightly",
    started_at=datetime(2026, 11, 30, 8, 27, 5, tzinfo=UTC),
    config={
        "domain": "toy",
        "scenarios": [{"name": "toy__1", "fingerprint": "f"}],
        "trials": 1,
        "agent": {"slug": "careful", "address": "ws://user:hunter22@10.0.0.1/", "key_env": "AGENT_KEY"},
        "caller": {"slug": "patient", "parameters": {"max_tokens": 100, "api_key": "plain-secret"}},
        "judge": {"slug": "strict", "model": "j", "base_url": "http://j/v1", "key_env": "JUDGE_KEY"},
        "strict_match": False,
        "min_agent_turns": 3,
        "limits": {"max_duration_s": None},
    },
    secrets=("top-secret-value",),
)


def trial(*, happened: tuple[events.Event, ...] = HAPPENED, **fields: Any) -> TrialExport:
    """Return a trial that passed."""
    base = TrialExport(
        scenario="toy__1",
        number=1,
        outcome="pass",
        outcome_reason="every gating signal passed",
        by_inaction=False,
        call=read_events(rows(*happened)),
        events=rows(*happened),
        success_signals=("db_state_match", "clean_exit"),
        signals=SIGNALS,
        spec=spec(),
        reference_actions=(CANCEL,),
    )
    return replace(base, **fields)


def ended(reason: events.EndReason) -> tuple[events.Event, ...]:
    """Return the call's events with another end."""
    return (*HAPPENED[:-1], events.CallEnded(reason, None, 9500))


def claim(index: int, passed: bool, error: str = "", reason: str = "because") -> VerdictRecord:
    """Return the stored ruling on a claim."""
    return VerdictRecord("nl_assertion", index, f"claim {index}", passed, reason, error)


def judging(**fields: Any) -> JudgingRecord:
    """Return a stored judging with a good reply."""
    return replace(JudgingRecord("system", "content", "{}", 0.95, "well done", ""), **fields)


def judged(*verdicts: VerdictRecord, **fields: Any) -> TrialExport:
    """Return a trial that is gated by its claims."""
    record = fields.pop("judging", judging())
    return trial(
        success_signals=("db_state_match", "nl_assertion", "clean_exit"), verdicts=verdicts, judging=record, **fields
    )
