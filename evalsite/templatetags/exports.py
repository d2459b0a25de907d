"""The menus of what a run and a call can be taken away as."""

from typing import Any
from urllib.parse import urlencode

from django import template

from evalsite.exporting import in_words
from evalsite.filters import TrialFilter
from scenarios.formats.exports.registry import CALL_FORMATS, RUN_GROUPS
from scenarios.formats.transcripts import MESSAGE_TIMES
from scenarios.models import Run, Trial

register = template.Library()


@register.inclusion_tag("runs/_export.html")
def export_menu(run: Run, chosen: TrialFilter, ended: int) -> dict[str, Any]:
    """Show the forms of a run; with a filter on the page the files hold what it chooses."""
    values = {
        "outcome": chosen.outcome,
        "signal": chosen.signal,
        "fault": chosen.fault,
        "people": "1" if chosen.people else "",
        "tag": chosen.tag,
        "q": chosen.q,
    }
    query = urlencode({name: value for name, value in values.items() if value})
    return {"run": run, "groups": RUN_GROUPS, "query": query, "chosen": in_words(chosen), "ended": ended}


@register.inclusion_tag("trials/_export.html")
def transcript_menu(trial: Trial) -> dict[str, Any]:
    """Show the forms of a call's transcript."""
    times = MESSAGE_TIMES if trial.run.channel == "text" else ""
    return {"trial": trial, "run": trial.run, "forms": CALL_FORMATS.values(), "times": times}
