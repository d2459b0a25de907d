"""How numbers, durations, times and outcomes are written, once for every page.

"-" stands for what does not exist; a page says "not measured" where a measurement is missing.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from scenarios.scoring.rollup import Rate

register = template.Library()

NOTHING = "-"
COMPACT_LENGTH = 160
WORDS = {
    "pass": "Pass",
    "fail": "Fail",
    "stalled": "Stalled",
    "judge_error": "Judge error",
    "infra_error": "Infra error",
    "unscored": "Unscored",
    "tainted": "Tainted",
    "cancelled": "Cancelled",
    "over_budget": "Over budget",
    "not_applicable": "Not applicable",
}


@register.filter
def number(value: float | None) -> str:
    """Write a count with its thousands apart: ``10,000``."""
    return NOTHING if value is None else f"{value:,}"


@register.filter
def percent(share: float | None) -> str:
    """Write a share between 0 and 1 as ``83.3 %``."""
    return NOTHING if share is None else f"{share * 100:.1f}\u00a0%"


@register.filter
def percent_bare(share: float | None) -> str:
    """Write a share between 0 and 1 as ``83.3``, for intervals."""
    return NOTHING if share is None else f"{share * 100:.1f}"


@register.filter
def duration(ms: float | None) -> str:
    """Write milliseconds as ``840 ms``, ``12.3 s``, ``1m42s`` or ``2h05m``."""
    if ms is None:
        return NOTHING
    if ms < 1000:
        return f"{ms:.0f}\u00a0ms"
    if ms < 59_950:
        return f"{ms / 1000:.1f}\u00a0s"
    seconds = round(ms / 1000)
    if seconds < 3600:
        return f"{seconds // 60}m{seconds % 60:02d}s"
    minutes = round(seconds / 60)
    return f"{minutes // 60}h{minutes % 60:02d}m"


@register.filter
def seconds(value: float | None) -> str:
    """Write seconds as ``duration`` writes milliseconds."""
    return NOTHING if value is None else duration(value * 1000)


@register.filter
def clock(ms: float | None) -> str:
    """Write milliseconds from the start of a call as ``0:31``."""
    return NOTHING if ms is None else f"{int(ms) // 60_000}:{int(ms) // 1000 % 60:02d}"


@register.filter
def money(dollars: float | None) -> str:
    """Write US dollars; unknown is "-", never 0."""
    if dollars is None:
        return NOTHING
    return "<$0.01" if 0 < dollars < 0.01 else f"${dollars:,.2f}"


@register.filter
def size(text: str) -> str:
    """Write how long a text is: ``312 characters`` or ``200 kB``."""
    count = len(text)
    return f"{count} characters" if count < 10_000 else f"{count / 1000:.0f} kB"


@register.filter
def percent_of(part: float, whole: float) -> str:
    """Write ``part`` of ``whole`` as a length for an SVG attribute: ``12.50%``."""
    return f"{100 * part / whole:.2f}%" if whole else "0%"


@register.simple_tag
def when(moment: datetime | None) -> str | SafeString:
    """Write a moment in the reader's zone, with the zone on hover and UTC for machines."""
    if moment is None:
        return NOTHING
    local = timezone.localtime(moment)
    now = timezone.localtime()
    if local.date() == now.date():
        short = f"{local:%H:%M}"
    else:
        short = f"{local.day} {local:%b %H:%M}" if local.year == now.year else f"{local.day} {local:%b %Y %H:%M}"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.astimezone(UTC).isoformat(timespec="seconds"),
        f"{local:%Y-%m-%d %H:%M:%S} {local.tzname()}",
        short,
    )


@register.filter
def in_words(key: str) -> str:
    """Write an outcome within a sentence: ``judge error``."""
    return WORDS.get(key, key.replace("_", " ")).lower()


@register.inclusion_tag("shared/_outcome.html")
def outcome(key: str, size: str = "") -> dict[str, str]:
    """Show an outcome, status or signal state as word, shape and colour; ``size`` is "", "large" or "plain"."""
    return {"key": key, "word": WORDS.get(key, key.replace("_", " ").capitalize()), "size": size}


@register.inclusion_tag("shared/_rate.html")
def rate(value: Any, size: str = "") -> dict[str, Any]:
    """Show a rate with numerator, denominator and 95 % interval; ``size`` is "" or "large"."""
    return {"rate": value, "size": size}


@register.inclusion_tag("shared/_stacked.html")
def stacked(parts: Sequence[tuple[str, int]], total: int) -> dict[str, Any]:
    """Draw counts as one bar of stacked parts; words and numbers stand beside it."""
    at, drawn = 0, []
    for key, count in parts:
        drawn.append((key, percent_of(at, total), percent_of(count, total)))
        at += count
    return {"parts": drawn}


@register.inclusion_tag("shared/_band.html")
def band(value: Rate, nothing: Rate | None = None) -> dict[str, Any]:
    """Draw a rate and its interval on a line from 0 to 100 %, with the do-nothing agent's rate as a tick."""
    return {"value": value, "nothing": nothing}


@register.filter
def item(values: Mapping[Any, Any], key: Any) -> Any:
    """Return the value under a key, None without it."""
    return values.get(key)


@register.filter
def breakable(name: str) -> SafeString:
    """Let the name of a scenario wrap between its parts."""
    *parts, last = name.split("__")
    return format_html("{}{}", format_html_join("", "{}__<wbr>", ((part,) for part in parts)), last)


@register.filter
def compact(value: Any) -> str:
    """Write a JSON value on one line, cut with its size when long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= COMPACT_LENGTH else f"{text[:COMPACT_LENGTH]}… ({size(text)})"
