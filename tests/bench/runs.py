"""Launching runs from a benchmark and waiting for their end."""

import time
from typing import Any

from bots.wake import wake_lanes
from evalsite.rehearsals import rehearsal
from scenarios.launch import launch
from scenarios.models import Run, Trial, TrialEvent


def start(domain: str, agent: str, model: str = "", **fields: Any) -> Run:
    """Launch a rehearsal, with another model name for the agent when ``model`` is given, and wake the lanes."""
    config = rehearsal(domain, agent, **fields)
    if model:
        config = config.model_copy(update={"agent": config.agent.model_copy(update={"model": model})})
    run = launch(config, person=None, title=f"bench {agent}")
    wake_lanes()
    return run


def wait(run: Run, limit_s: float = 600) -> None:
    """Wait until every trial has ended."""
    deadline = time.monotonic() + limit_s
    while (still := open_trials(run)) and time.monotonic() < deadline:
        time.sleep(0.1)
    if still:
        raise RuntimeError(f"{still} of {run.trial_count} calls of run {run.pk} had not ended after {limit_s:.0f} s")


def open_trials(run: Run) -> int:
    """Return how many trials have not ended."""
    return run.trials.exclude(status__in=Trial.ENDED).count()


def outcomes(run: Run) -> str:
    """Return the outcomes with their counts, for the conditions of a figure."""
    counts: dict[str, int] = {}
    for outcome in run.trials.values_list("outcome", flat=True):
        counts[outcome] = counts.get(outcome, 0) + 1
    return ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))


def turns(run: Run) -> int:
    """Return the turns of both sides."""
    return TrialEvent.objects.filter(trial__run=run, kind="turn.ended").count()
