"""Runs as they go on: the cells of a page that changed, and how many trials stand where."""

import time
from collections import Counter
from collections.abc import Sequence

from django.template.loader import render_to_string

from evalsite.live.hub import Viewer, message
from scenarios.models import Trial

# A look at all trials of a run may take this share of the tailer's time: 10,000 trials are looked at less often.
SHARE = 0.05
MIN_PERIOD_S = 0.5


def cell_state(status: str, outcome: str, attempts: int, overruled: int) -> str:
    """Return ``data-state`` of a cell: what a page must know to tell whether it shows the trial as it is."""
    return f"{status}.{outcome}.{attempts}.{overruled}"


class RunFeed:
    """Compares all trials of each watched run with what its pages show; a cell is rendered once for all of them."""

    period_s = MIN_PERIOD_S

    def poll(self, viewers: Sequence[Viewer]) -> None:
        """Push to each viewer the cells that differ from its page, then the counts."""
        started = time.monotonic()
        for run in {viewer.subject for viewer in viewers}:
            _tell([viewer for viewer in viewers if viewer.subject == run], run)
        self.period_s = max(MIN_PERIOD_S, (time.monotonic() - started) / SHARE)


def _tell(viewers: Sequence[Viewer], run: int) -> None:
    rows = list(Trial.objects.filter(run_id=run).values_list("pk", "status", "outcome", "attempts", "overruled_count"))
    states = {pk: cell_state(status, outcome, tries, overruled) for pk, status, outcome, tries, overruled in rows}
    counts = Counter(outcome or status for _, status, outcome, *_ in rows)
    told = (counts, sum(overruled for *_, overruled in rows))
    stale = {key for v in viewers for key, shown in v.known.items() if states.get(key, shown) != shown}
    trials = Trial.objects.filter(pk__in=stale).select_related("scenario", "run")
    cells = {trial.pk: render_to_string("runs/_trial_cell.html", {"trial": trial}).strip() for trial in trials}
    for viewer in viewers:
        changed = [key for key in cells if key in viewer.known and viewer.known[key] != states[key]]
        if changed:
            viewer.push(message("patch", html="".join(cells[key] for key in changed)))
            viewer.known.update({key: states[key] for key in changed})
        if viewer.told != told:
            ended = sum(status in Trial.ENDED for _, status, *_ in rows)
            viewer.push(message("counts", counts=counts, ended=ended, total=len(rows)))
            viewer.told = told
