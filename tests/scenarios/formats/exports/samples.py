"""Exports to be written: a call of each outcome, and texts that try to break out of a form."""

import io
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from scenarios import events
from scenarios.formats.exports.form import Export, Format
from scenarios.formats.reference_records import TrialExport, TrialRow, VerdictRecord
from scenarios.scoring.results import OUTCOMES
from tests.scenarios.formats.records import HAPPENED, RUN, claim, ended, judged, judging, trial

ENDED = datetime(2026, 11, 30, 8, 40, 0, 250_000, tzinfo=UTC)
STARTED = datetime(2026, 11, 30, 8, 39, 50, tzinfo=UTC)
ROW = TrialRow(status="done", end_reason="end_tool", turns=4, duration_ms=9500, cost=0.25, prompt_tokens=100)
# Markup, formulas, ends of cues, cells and comments, control characters, lone surrogates, another script.
NASTY = (
    "<script>alert(1)</script> & ]]> --> \x00\x0b\ud800 \u202e 00:00:01.000 --> 00:00:02.000\n\nWEBVTT\r\n\r\n"
    "\"quoted\", 'single'; =1+1 é 日本 😀"
)
_HOW_IT_ENDED: dict[str, events.EndReason] = {
    "tainted": "hang_up",
    "cancelled": "cancelled",
    "infra_error": "party_failed",
}


def held(**fields: Any) -> TrialExport:
    """Return a trial with times and figures."""
    return trial(**{"row": ROW, "started_at": STARTED, "ended_at": ENDED, "fingerprint": "f" * 64, **fields})


def of_outcome(outcome: str, number: int = 1) -> TrialExport:
    """Return a trial that ended so."""
    reason = "every gating signal passed" if outcome == "pass" else f"it is {outcome}"
    facts: dict[str, Any] = {"outcome": outcome, "other_outcome": outcome, "outcome_reason": reason, "number": number}
    if outcome in _HOW_IT_ENDED:
        facts["happened"] = ended(_HOW_IT_ENDED[outcome])
    return held(**facts)


def every_outcome() -> list[TrialExport]:
    """Return nine trials of one scenario, one of each outcome."""
    return [of_outcome(outcome, number) for number, outcome in enumerate(OUTCOMES, 1)]


def nasty() -> TrialExport:
    """Return a trial whose every text is hostile."""
    said = events.TurnEnded("user", 1, NASTY, NASTY, 100)
    called = events.ToolCalled("agent", 1, "cancel", {"order_id": NASTY}, "id")
    answered = events.ToolReturned("agent", 1, "cancel", False, NASTY, 1.0, error="refused")
    happened = (HAPPENED[0], said, called, answered, events.CallEnded("end_tool", "agent", 9500))
    verdict = VerdictRecord("nl_assertion", 1, NASTY, False, NASTY, "", evidence=({"text": NASTY, "turn": 1},))
    return held(happened=happened, outcome="fail", outcome_reason=NASTY, verdicts=(verdict,))


def ruled() -> TrialExport:
    """Return a trial with a claim that holds, one that does not, one that people overruled and one without a ruling."""
    overruled = replace(claim(3, False), effective=True, ruled_by="reviewer", judge="strict j 0123", scoring=2)
    broken = claim(4, False, error="unparseable", reason="no JSON")
    made = judged(claim(1, True), claim(2, False), overruled, broken, judging=judging())
    return replace(made, outcome="fail", outcome_reason="2 of 4 claims failed", row=ROW, ended_at=ENDED)


def export(trials: Iterable[TrialExport], *, chosen: str = "", **facts: Any) -> Export:
    """Return an export of these trials; ``facts`` change the run."""
    kept = list(trials)
    run = replace(RUN, **{"domain": "toy", "trial_count": len(kept), "fingerprint": "a" * 64, **facts})
    return Export(run, lambda: iter(kept), chosen)


def written(form: Format, what: Export) -> bytes:
    """Return the file that a form makes."""
    file = io.BytesIO()
    form.write(what, file)
    return file.getvalue()
