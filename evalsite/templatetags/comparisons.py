"""How differences and their tests are written."""

from typing import Any

from django import template

from evalsite.templatetags.figures import NOTHING, compact
from scenarios.analysis.comparison import Change

register = template.Library()

SET_WORDS = {
    "newly_failing": "Newly failing",
    "newly_passing": "Newly passing",
    "failing_in_both": "Failing in both",
    "flaky": "Flaky",
    "passing_in_both": "Passing in both",
}


@register.filter
def p_value(value: float | None) -> str:
    """Write a p-value as ``0.031``, tiny ones as ``< 0.0001``."""
    if value is None:
        return NOTHING
    return "<\u00a00.0001" if value < 0.0001 else f"{value:.4f}" if value < 0.01 else f"{value:.3f}"


@register.filter
def points(share: float | None) -> str:
    """Write a difference of rates in points with its sign: ``+3.2``; a minus that does not break from its number."""
    if share is None:
        return NOTHING
    text = f"{100 * share:+.1f}".replace("-", "\u2212")
    return "0.0" if text[1:] == "0.0" else text


@register.filter
def points_bare(share: float | None) -> str:
    """Write the size of a difference in points without a sign: ``3.2``."""
    return NOTHING if share is None else f"{100 * share:.1f}"


@register.filter
def set_word(kind: str) -> str:
    """Write the name of a set of scenarios."""
    return SET_WORDS[kind]


@register.filter
def setting(value: Any) -> str:
    """Write a value of a configuration on one line, cut when long; what a side does not have is ``-``."""
    if value is None:
        return NOTHING
    return '""' if value == "" else compact(value)


@register.inclusion_tag("compare/_counted.html")
def counted(change: Change, side: str) -> dict[str, Any]:
    """Show passes of rated trials of a change, history included; ``side`` is "before" or "after"."""
    counts = change.counts
    passes, rated = counts[:2] if side == "before" else counts[2:]
    return {"passes": passes, "rated": rated}
