"""A run's rows as the plain records that exports are written from."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.utils import timezone

from scenarios import catalogue
from scenarios.domains.base import Fidelity, ScenarioSpec
from scenarios.formats.reference_records import JudgingRecord, RunExport, SignalRecord, TrialExport, VerdictRecord
from scenarios.models import Judging, Run, SignalResult, Trial, TrialEvent, Verdict
from scenarios.replay import gold_replay
from scenarios.scoring.evidence import read_events

# Trials read at once: one query a table for so many.
BATCH = 50
# Shorter values are too common to be taken out of texts.
_SHORTEST_SECRET = 8


def run_export(run: Run) -> RunExport:
    """Return the record of a run, with the values of its keys (as far as they are set here) to be kept out."""
    parties = [run.config.get(role) or {} for role in ("agent", "caller", "judge")]
    keys = {os.environ.get(party.get("key_env") or "", "") for party in parties}
    return RunExport(
        run_id=run.pk,
        title=run.title,
        started_at=timezone.localtime(run.launched_at),
        config=run.config,
        secrets=tuple(sorted(key for key in keys if len(key) >= _SHORTEST_SECRET)),
    )


def trial_exports(run: Run, *, batch: int = BATCH) -> Iterator[TrialExport]:
    """Yield the ended trials of a run in their order, a batch of rows in memory at a time."""
    ids = list(run.trials.filter(status__in=Trial.ENDED).order_by("position", "pk").values_list("pk", flat=True))
    fidelity: Fidelity = run.config.get("fidelity", "canonical")
    for start in range(0, len(ids), batch):
        yield from _batch(ids[start : start + batch], fidelity)


def _batch(ids: list[int], fidelity: Fidelity) -> Iterator[TrialExport]:
    trials = Trial.objects.select_related("scenario").in_bulk(ids)
    events = _by_trial(TrialEvent.objects.filter(trial__in=ids))
    signals = _latest(SignalResult.objects.filter(trial__in=ids))
    verdicts = _latest(Verdict.objects.filter(trial__in=ids))
    judgings = _latest(Judging.objects.filter(trial__in=ids))
    for pk in ids:
        trial, scoring = trials[pk], max((row.scoring for row in signals[pk]), default=None)
        spec = _spec(trial.scenario.name)
        judged = [row for row in judgings[pk] if row.scoring == scoring]
        yield TrialExport(
            scenario=trial.scenario.name,
            number=trial.number,
            outcome=trial.outcome,
            outcome_reason=trial.outcome_reason,
            by_inaction=trial.by_inaction,
            call=read_events(events[pk]),
            success_signals=tuple(spec.success_signals if spec else trial.scenario.success_signals),
            other_outcome=trial.other_outcome,
            signals=tuple(SignalRecord(row.signal, row.state, row.value, row.detail) for row in signals[pk]),
            verdicts=tuple(_verdict(row) for row in verdicts[pk] if row.scoring == scoring),
            judging=_judging(judged[0]) if judged else None,
            spec=spec,
            reference_actions=gold_replay(spec, fidelity).reference_actions if spec else None,
            events=events[pk],
            ended_at=trial.ended_at,
        )


def _spec(name: str) -> ScenarioSpec | None:
    try:
        return catalogue.spec(name)
    except ValueError:  # dropped from the code, or its files are not here: the run itself is still whole
        return None


def _by_trial(rows: Iterable[Any]) -> Mapping[int, list[Any]]:
    groups: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        groups[row.trial_id].append(row)
    return groups


def _latest(rows: Iterable[Any]) -> Mapping[int, list[Any]]:
    """Return each trial's rows of its last scoring."""
    groups = _by_trial(rows)
    return defaultdict(
        list,
        {pk: [row for row in group if row.scoring == max(r.scoring for r in group)] for pk, group in groups.items()},
    )


def _verdict(row: Verdict) -> VerdictRecord:
    return VerdictRecord(row.signal, row.index, row.claim, row.passed, row.reason, row.error, row.detail)


def _judging(row: Judging) -> JudgingRecord:
    return JudgingRecord(row.system_prompt, row.user_content, row.reply, row.score, row.reason, row.error)
