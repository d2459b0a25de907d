"""The panel of the call page that says whose fault a failed call is."""

from typing import Any

from django import template

from scenarios import faults
from scenarios.analysis.fault import SIDE_WORDS
from scenarios.models import Trial
from scenarios.scoring.results import RATED

register = template.Library()


@register.inclusion_tag("trials/_fault_panel.html", takes_context=True)
def fault_panel(context: Any, trial: Trial) -> dict[str, Any]:
    """Show the side that counts; clues, form and history are loaded when the panel is opened."""
    counting = faults.counting(trial)
    is_pass = trial.outcome == "pass"
    side = counting.side if counting else ""
    word = SIDE_WORDS[side] if side else "agent" if is_pass else "undecided"  # type: ignore[index]
    return {
        "counting": counting,
        "word": word,
        "is_pass": is_pass,
        "tab": context.get("tab", ""),
        "may": context.get("may", {}),
    }


@register.filter
def is_rated(trial: Trial) -> bool:
    """Return whether a call has a side at all."""
    return trial.outcome in RATED
