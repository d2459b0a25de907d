"""How figures of agreement are written: a share like a rate, a coefficient with its sign, "not defined" with why."""

from typing import Any

from django import template

from scenarios.analysis.reliability import Figure

register = template.Library()


@register.filter
def coefficient(value: float | None) -> str:
    """Write a coefficient of agreement as ``0.72``; a minus does not break from its number."""
    if value is None:
        return "-"
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "\u2212")


@register.inclusion_tag("judges/agreement_share.html")
def share(figure: Figure, size: str = "") -> dict[str, Any]:
    """Show a share with numerator, denominator and interval; ``size`` is "" or "large"."""
    return {"figure": figure, "size": size}


@register.inclusion_tag("judges/agreement_coefficient.html")
def agreed(figure: Figure) -> dict[str, Any]:
    """Show kappa or alpha with its interval and over how many items it is."""
    return {"figure": figure}
