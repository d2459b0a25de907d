"""A run's result for a terminal and for machines: each rate with interval, denominator and what is left out."""

import json
from typing import Any

from rich.console import Console
from rich.table import Table

from scenarios.scoring.rollup import Rate
from scenarios.standing import Findings, Standing, findings

WIDTH = 110


def as_table(standing: Standing) -> str:
    """Return the result as text."""
    found = findings(standing.run)
    console = Console(width=WIDTH, force_terminal=False)
    table = Table(title=_title(standing), title_justify="left", box=None, show_header=False, pad_edge=False)
    for name, value in _rows(standing, found):
        table.add_row(name, value)
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def as_json(standing: Standing) -> str:
    """Return the result as one JSON object."""
    found = findings(standing.run)
    run = standing.run
    result: dict[str, Any] = {
        "run": run.pk,
        "title": run.title,
        "domain": run.domain,
        "state": standing.state,
        "is_rehearsal": run.is_rehearsal,
        "fingerprint": run.fingerprint,
        "trials": standing.total,
        "ended": standing.ended,
        "outcomes": dict(standing.outcomes),
        "strictness": standing.strictness,
        "rate": _rate(standing.rate),
        "claims_overruled": standing.overruled,
        "changed_by_people": dict(standing.changed),
        "rate_as_judged": _rate(standing.judged_rate),
        f"rate_{standing.other_strictness}": _rate(standing.other_rate),
        "prefixes": {name: _rate(rate) for name, rate in found.prefixes.items()},
        "by_inaction": standing.by_inaction,
        "without_inaction": _rate(found.without_inaction),
        "do_nothing": _rate(found.do_nothing),
        "signals": {name: _rate(rate) for name, rate in found.signals.items()},
        "items": {name: _rate(rate) for name, rate in found.items.items()},
        "error_kinds": dict(found.error_kinds),
        "retried": found.retried,
        "cost": run.cost,
        "duration_s": _duration_s(found),
    }
    return json.dumps(result, indent=2)


def _title(standing: Standing) -> str:
    kind = "rehearsal with stand-ins" if standing.run.is_rehearsal else "run"
    return (
        f"{standing.run.domain}, {kind} {standing.run.pk}: {standing.state}, {standing.ended} of {standing.total} ended"
    )


def _rows(standing: Standing, found: Findings) -> list[tuple[str, str]]:
    rows = [
        (f"success, {standing.strictness} strictness", str(standing.rate)),
        (f"  by {standing.other_strictness} strictness", str(standing.other_rate)),
    ]
    if standing.overruled or standing.changed:
        changed = ", ".join(f"{count} to {outcome}" for outcome, count in standing.changed.items())
        rows.append(("  as judged, before people ruled", str(standing.judged_rate)))
        rows.append(("  claims overruled", f"{standing.overruled}; calls changed: {changed or 'none'}"))
    rows += [(f"  {name}", str(rate)) for name, rate in found.prefixes.items()]
    if standing.by_inaction:
        rows.append(("  without passes by inaction", str(found.without_inaction)))
    rows.append(("  a do-nothing agent", str(found.do_nothing)))
    rows += [(name, str(rate)) for name, rate in found.signals.items()]
    rows += [(f"{name}, each", str(rate)) for name, rate in found.items.items()]
    rows += [(f"error {kind}", str(count)) for kind, count in found.error_kinds]
    if found.retried:
        rows.append(("tried more than once", str(found.retried)))
    if standing.run.cost:
        rows.append(("cost", f"${standing.run.cost:.2f}"))
    duration = _duration_s(found)
    return [*rows, ("duration", "-" if duration is None else f"{duration:.1f} s")]


def _rate(rate: Rate) -> dict[str, Any]:
    return {
        "value": rate.value,
        "passes": rate.passes,
        "total": rate.total,
        "interval": [rate.interval.low, rate.interval.high] if rate.interval else None,
        "left_out": dict(rate.left_out),
    }


def _duration_s(found: Findings) -> float | None:
    if found.started_at is None or found.ended_at is None:
        return None
    return float((found.ended_at - found.started_at).total_seconds())
