"""The result of a batch for a terminal and for machines: flips with both reasons, rates, agreement, cost."""

import json
from collections.abc import Mapping
from typing import Any

from scenarios.analysis.reliability import Figure
from scenarios.judging.results import BatchResult, Changed, Progress
from scenarios.models import JudgeBatch

MAX_REASON = 160


def as_text(batch: JudgeBatch, so_far: Progress, found: BatchResult) -> str:
    """Return the result as text."""
    is_self = batch.kind == JudgeBatch.Kind.SELF
    what = "were ruled differently" if is_self else "flip" if batch.saved_at else "would flip"
    lines = [
        f"batch {batch.pk}: {batch}, {batch.get_state_display()}{', saved' if batch.saved_at else ''}",
        f"{'asked twice, alike' if is_self else 'as before':<22}{_figure(found.agreement)} of the claims",
        f"{'claims passed':<22}{_figure(found.claims_before)} -> {_figure(found.claims_after)}",
        f"{'calls passed':<22}{_figure(found.calls_before)} -> {_figure(found.calls_after)}",
        *([] if is_self else [f"{'canaries':<22}{batch.get_canaries_display()}: {batch.canary_reason}"]),
        f"{'requests':<22}{so_far.asked} of {so_far.total}, {so_far.errors} without a ruling",
        f"{'cost':<22}{'unknown' if so_far.cost is None else f'${so_far.cost:.2f}'}",
        f"{len(found.changed)} claims {what}",
    ]
    return "\n".join([*lines, *(line for row in found.changed for line in _flip(row))])


def as_json(batch: JudgeBatch, so_far: Progress, found: BatchResult) -> str:
    """Return the result as one JSON object."""
    report = {
        "batch": batch.pk,
        "kind": batch.kind,
        "run": batch.run_id,
        "judge": batch.config["slug"],
        "judge_fingerprint": batch.judge.fingerprint if batch.judge else "",
        "state": batch.state,
        "is_saved": batch.saved_at is not None,
        "canaries": batch.canaries,
        "canary_reason": batch.canary_reason,
        "requests": {"total": so_far.total, "done": so_far.done, "errors": so_far.errors},
        "cost": so_far.cost,
        "agreement": _as_dict(found.agreement),
        "claims": {"before": _as_dict(found.claims_before), "after": _as_dict(found.claims_after)},
        "calls": {"before": _as_dict(found.calls_before), "after": _as_dict(found.calls_after)},
        "outcomes": [{"before": one, "after": two, "calls": count} for one, two, count in found.outcomes],
        "flips": [
            {
                "scenario": row.trial.scenario.name,
                "trial": row.trial.number,
                "index": row.number,
                "claim": row.claim,
                "was": row.was,
                "passed": row.passed,
                "was_reason": row.was_reason,
                "reason": row.reason,
            }
            for row in found.changed
        ],
    }
    return json.dumps(report, indent=2)


def _flip(row: Changed) -> list[str]:
    return [
        f"  {row.trial.scenario.name} #{row.trial.number} claim {row.number}: {_word(row.was)} -> {_word(row.passed)}",
        f"    {row.claim}",
        f"    was: {_short(row.was_reason)}",
        f"    now: {_short(row.reason)}",
    ]


def _figure(figure: Figure) -> str:
    if figure.value is None or figure.interval is None:
        return f"- ({figure.reason})" if figure.reason else "-"
    low, high = 100 * figure.interval.low, 100 * figure.interval.high
    return f"{100 * figure.value:.1f} % [{low:.1f}-{high:.1f}] ({figure.count} of {figure.of})"


def _as_dict(figure: Figure) -> Mapping[str, Any]:
    interval = [figure.interval.low, figure.interval.high] if figure.interval else None
    return {"value": figure.value, "count": figure.count, "of": figure.of, "interval": interval}


def _word(passed: bool | None) -> str:
    return "no ruling" if passed is None else "passed" if passed else "failed"


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= MAX_REASON else f"{one_line[:MAX_REASON]}..."
