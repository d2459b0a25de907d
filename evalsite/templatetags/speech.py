"""How a voice run sounds in words, and figures of speech that come with an imported call."""

from collections.abc import Mapping
from typing import Any

from django import template

from scenarios.voice_conditions import Conditions

register = template.Library()

# Upstream's name, the count that it is over, and what is counted: one, several.
_ROWS = (
    ("response_latency_mean", "response_total", "turn that expected an answer", "turns that expected an answer"),
    ("response_rate", "response_total", "turn that expected an answer", "turns that expected an answer"),
    ("agent_interruption_rate", "response_total", "turn that expected an answer", "turns that expected an answer"),
    ("yield_latency_mean", "yield_total", "time that the user cut in", "times that the user cut in"),
    ("yield_rate", "yield_total", "time that the user cut in", "times that the user cut in"),
    ("selectivity_backchannel", "backchannel_total", "backchannel", "backchannels"),
    ("selectivity_vocal_tic", "vocal_tic_total", "vocal tic", "vocal tics"),
    ("selectivity_non_directed", "non_directed_total", "phrase not meant for the agent", "phrases not meant for it"),
)


@register.filter
def interaction_rows(foreign: Any) -> list[dict[str, Any]]:
    """Return upstream's interaction metrics of an imported call, each with what it is over; none without ticks."""
    figures = (foreign.facts or {}).get("interaction") if foreign else None
    if not isinstance(figures, dict):
        return []
    rows = []
    for name, total, what, many in _ROWS:
        count = figures["counts"][total]
        over = f"of {count} {what if count == 1 else many}"
        rows.append({"name": name, "value": figures[name], "of": over, "is_time": name.endswith("_mean")})
    return rows


@register.filter
def conditions(stored: Mapping[str, Any] | None) -> str:
    """Return in words what the agent hears the caller over and how that behaves."""
    if not stored:
        return "a clean line; the caller waits"
    kept = Conditions.model_validate(stored)
    if kept.persona:
        return f"as the persona's own setting {kept.persona!r} in tasks_voice.json says; seed {kept.seed}"
    return f"a line that is: {kept.line}; the caller: {kept.behaviour}; seed {kept.seed}"
