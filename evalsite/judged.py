"""How far a run's or a call's rulings may be trusted: canaries of the batch, stale verdicts, other judges' rulings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from scenarios.judging.results import canary_rulings
from scenarios.judging.staleness import StaleShare, stale_share, why_stale
from scenarios.models import JudgeBatch, Judging, Run, Trial, Verdict
from scenarios.standing import Standing


@dataclass(frozen=True)
class RunJudging:
    """What a run's page says of its judging. ``failed``: the known claims that a quarantined judge got wrong."""

    batch: JudgeBatch | None
    failed: Sequence[Any]
    is_undecided: bool
    stale: StaleShare
    # Batches whose rulings were saved over those of the run: newest first.
    saved: Sequence[JudgeBatch]

    @property
    def is_quarantined(self) -> bool:
        """Return whether no ruling of the run's judge counts."""
        return self.batch is not None and self.batch.canaries == JudgeBatch.Canaries.QUARANTINED


def run_judging(run: Run, standing: Standing) -> RunJudging:
    """Return what a run's page says of its judging, in a handful of queries."""
    shown = Q(kind=JudgeBatch.Kind.RUN) | Q(kind=JudgeBatch.Kind.REJUDGE, saved_at__isnull=False)
    batches = list(run.judge_batches.filter(shown).select_related("released_by"))
    batch = next((batch for batch in batches if batch.kind == JudgeBatch.Kind.RUN), None)
    failed: Sequence[Any] = ()
    if batch is not None and batch.canaries in (JudgeBatch.Canaries.QUARANTINED, JudgeBatch.Canaries.RELEASED):
        failed = [ruling for ruling in canary_rulings(batch)[1] if ruling["is_wrong"]]
    return RunJudging(
        batch=batch,
        failed=failed,
        is_undecided=batch is not None and batch.canaries == JudgeBatch.Canaries.OPEN and not standing.open,
        stale=stale_share(run),
        saved=[batch for batch in batches if batch.kind == JudgeBatch.Kind.REJUDGE],
    )


def call_judging(trial: Trial, verdicts: Sequence[Verdict], judging: Judging | None) -> dict[str, Any]:
    """Return what a call's page says of its rulings: which are stale and why, and whether their batch failed."""
    stale = why_stale(trial, verdicts, judging)
    return {
        "stale": stale,
        "stale_words": sorted({word for words in stale.values() for word in words}),
        "batch": judging.batch if judging is not None else None,
        "can_judge": trial.status == Trial.Status.DONE and trial.run.imported_from_id is None and bool(verdicts),
    }
