"""A comparison for a terminal, for machines and for CI: the failure sets first, the topline second."""

from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from evalsite.comparison_rows import SETS
from evalsite.templatetags.comparisons import SET_WORDS
from scenarios.analysis.comparison import Change, Comparison
from scenarios.analysis.intervals import Interval
from scenarios.analysis.paired import Difference, PairedRate
from scenarios.comparing import Compared
from scenarios.formats.exports.text import xml_text

# Scenarios of a set that text lists; JSON and JUnit have all.
LISTED = 30


def incomplete(compared: Compared, comparison: Comparison) -> str:
    """Return why the comparison rests on less than both runs were to give; "" when it does not."""
    candidate = compared.side(comparison)
    parts = [f"{side.open} calls of run {side.name} have not ended" for side in compared.sides if side.open]
    held = compared.baseline.calls.keys() & candidate.calls.keys()
    if blank := sum(one.scenario in held for one in comparison.unpaired):
        parts.append(f"{blank} scenarios of both runs have no rated call in one of them")
    return "; ".join(parts)


def as_text(compared: Compared, comparison: Comparison) -> str:
    """Return the comparison as lines of text."""
    before, after = compared.baseline, compared.side(comparison)
    lines = [f"{after.run.domain}: run {after.name} against run {before.name}, {compared.strictness} strictness"]
    lines += [f"  {note.severity}: {note.text}" for note in compared.notes]
    lines += [f"  changed {one.field}: {one.before} -> {one.after}" for one in compared.changed(after)]
    for kind in SETS:
        changes = sorted(comparison.of_kind(kind), key=lambda change: (not change.outside, change.chance))
        outside = sum(change.outside for change in changes)
        lines.append(f"{SET_WORDS[kind]}: {len(changes)}" + (f", {outside} beyond flakiness" if outside else ""))
        lines += [f"  {_change(change)}" for change in changes[:LISTED]]
        lines += [f"  and {len(changes) - LISTED} more"] if len(changes) > LISTED else []
    lines += ["Topline: " + _difference(comparison.topline)]
    lines += [
        f"  {name}: {_difference(line)}" for name, line in comparison.domains.items() if len(comparison.domains) > 1
    ]
    if (same := comparison.topline.equivalence) is not None:
        words = "equivalent" if same.equivalent else "no worse" if same.no_worse else "not shown to be equivalent"
        lines.append(f"  within {100 * same.margin:.1f} points: {words} (p {_p(same.p)})")
    if why := incomplete(compared, comparison):
        lines.append(f"Incomplete: {why}")
    return "\n".join(lines)


def as_json(compared: Compared, comparison: Comparison) -> dict[str, Any]:
    """Return the comparison as JSON-ready data. Rates and differences are shares, 0 to 1."""
    after = compared.side(comparison)
    return {
        "baseline": compared.baseline.run.pk,
        "candidate": after.run.pk,
        "domain": after.run.domain,
        "strictness": compared.strictness,
        "regressed": comparison.regressed,
        "regressions": [change.scenario for change in comparison.regressions],
        "improvements": [change.scenario for change in comparison.improvements],
        "sets": {kind: [_change_data(change) for change in comparison.of_kind(kind)] for kind in SETS},
        "passing_in_both": len(comparison.of_kind("passing_in_both")),
        "topline": _difference_data(comparison.topline),
        "prefixes": {name: _difference_data(line) for name, line in comparison.domains.items()},
        "changed": [one._asdict() for one in compared.changed(after)],
        "notes": [note._asdict() for note in compared.notes],
        "unpaired": [vars(one) for one in comparison.unpaired],
        "left_out": {name: [str(trial) for trial in trials] for name, trials in comparison.left_out.items()},
        "history": {side.name: {"runs": side.history_runs, "calls": side.history_calls} for side in compared.sides},
        "false_alarms": comparison.false_alarms,
        "incomplete": incomplete(compared, comparison),
    }


def as_junit(compared: Compared, comparison: Comparison) -> bytes:
    """Return the comparison as JUnit XML: a scenario a case, a regression a failure, the unpaired skipped."""
    after = compared.side(comparison)
    name = f"run {after.name} against run {compared.baseline.name}"
    fell = comparison.regressed and not comparison.regressions
    counts = {
        "tests": len(comparison.changes) + len(comparison.unpaired) + 1,
        "failures": len(comparison.regressions) + fell,
        "errors": 0,
        "skipped": len(comparison.unpaired),
    }
    suites = Element("testsuites", _text({"name": "Callboard", **counts}))
    suite = SubElement(suites, "testsuite", _text({"name": name, **counts}))
    regressed = {change.scenario for change in comparison.regressions}
    for change in comparison.changes:
        case = SubElement(suite, "testcase", _text({"classname": after.run.domain, "name": change.scenario}))
        if change.scenario in regressed:
            SubElement(case, "failure", _text({"message": _change(change), "type": "regression"}))
    for one in comparison.unpaired:
        case = SubElement(suite, "testcase", _text({"classname": after.run.domain, "name": one.scenario}))
        SubElement(case, "skipped", _text({"message": f"run {one.run}: {one.reason}"}))
    case = SubElement(suite, "testcase", _text({"classname": after.run.domain, "name": "topline"}))
    if fell:
        SubElement(case, "failure", _text({"message": _difference(comparison.topline), "type": "regression"}))
    written: bytes = tostring(suites, encoding="utf-8")
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + written + b"\n"


def _text(attributes: Mapping[str, object]) -> dict[str, str]:
    return {name: xml_text(str(value)) for name, value in attributes.items()}


def _change(change: Change) -> str:
    counts = change.counts
    return (
        f"{change.scenario}  {counts.passes}/{counts.rated} -> {counts.later_passes}/{counts.later_rated}"
        + (f"  by chance {_p(change.chance)}" if change.chance < 1 else "")
        + ("  beyond flakiness" if change.outside else "")
    )


def _change_data(change: Change) -> dict[str, Any]:
    return {**change._asdict(), "counts": change.counts._asdict()}


def _difference(line: Difference) -> str:
    if line.value is None or line.interval is None or line.adjusted_p is None:
        return "nothing to compare"
    seen = "none" if line.detectable is None else f"{100 * line.detectable:.1f} points"
    return (
        f"{line.verdict}, {_rate(line.baseline)} -> {_rate(line.candidate)}, {100 * line.value:+.1f} points "
        f"[{100 * line.interval.low:+.1f} to {100 * line.interval.high:+.1f}], p {_p(line.adjusted_p)} "
        f"by {line.method} over {line.scenarios} scenarios; smallest difference it could see: {seen}"
    )


def _rate(rate: PairedRate) -> str:
    return "-" if rate.value is None else f"{100 * rate.value:.1f} % ({rate.passes} of {rate.rated})"


def _p(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def _difference_data(line: Difference) -> dict[str, Any]:
    same = line.equivalence
    return {
        "verdict": line.verdict,
        "scenarios": line.scenarios,
        "baseline": _rate_data(line.baseline),
        "candidate": _rate_data(line.candidate),
        "difference": line.value,
        "interval": _interval(line.interval),
        "p": line.p,
        "adjusted_p": line.adjusted_p,
        "method": line.method,
        "detectable": line.detectable,
        "equivalence": same
        and {"margin": same.margin, "p": same.p, "equivalent": same.equivalent, "no_worse": same.no_worse},
    }


def _rate_data(rate: PairedRate) -> dict[str, Any]:
    return {"passes": rate.passes, "rated": rate.rated, "value": rate.value, "interval": _interval(rate.interval)}


def _interval(interval: Interval | None) -> list[float] | None:
    return [interval.low, interval.high] if interval else None
