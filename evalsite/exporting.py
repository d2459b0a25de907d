"""Which trials of a run are exported: those that the filters of the run page choose, and how that is said."""

from collections.abc import Sequence

from django.db.models import QuerySet

from evalsite.filters import TrialFilter
from scenarios.models import Run, Trial


def chosen_trials(run: Run, chosen: TrialFilter, outcomes: Sequence[str] = ()) -> QuerySet[Trial]:
    """Return the run's trials that match: by outcome and signal each trial, by tag and words its scenario.

    ``outcomes`` are alternatives beside the filter's own one.
    """
    trials = run.trials.all()
    if chosen.tag or chosen.q:
        # Not by the filter's outcome: a scenario of which one trial matches would bring in the others.
        of_scenarios = TrialFilter(tag=chosen.tag, q=chosen.q).scenarios(run)
        trials = trials.filter(scenario__in=[row[0] for row in of_scenarios])
    if chosen.signal or chosen.fault or chosen.people:
        trials = TrialFilter(signal=chosen.signal, fault=chosen.fault, people=chosen.people).trials(trials)
    wanted = [*outcomes, *([chosen.outcome] if chosen.outcome else [])]
    return trials.filter(outcome__in=wanted) if wanted else trials


def in_words(chosen: TrialFilter, outcomes: Sequence[str] = ()) -> str:
    """Return which trials those are, '' for all."""
    wanted = [*outcomes, *([chosen.outcome] if chosen.outcome else [])]
    parts = [
        f"outcome {' or '.join(wanted)}" if wanted else "",
        f"failed signal {chosen.signal}" if chosen.signal else "",
        f"fault {chosen.fault}" if chosen.fault else "",
        "changed by people" if chosen.people else "",
        f"tag {chosen.tag}" if chosen.tag else "",
        f"scenarios with {chosen.q!r}" if chosen.q else "",
    ]
    return ", ".join(filter(None, parts))
