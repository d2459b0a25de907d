"""A run's rows as the plain records that exports are written from."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from scenarios import catalogue
from scenarios.domains.base import Fidelity, ScenarioSpec
from scenarios.formats.exports.form import Export, Format
from scenarios.formats.foreign_tasks import spec_of
from scenarios.formats.reference_records import (
    ForeignRecord,
    JudgingRecord,
    RunExport,
    SignalRecord,
    TrialExport,
    TrialRow,
    VerdictRecord,
)
from scenarios.models import Judging, Run, SignalResult, Trial, TrialEvent, Verdict
from scenarios.playback import open_recording
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
        domain=run.domain,
        channel=run.channel,
        fingerprint=run.fingerprint,
        is_rehearsal=run.is_rehearsal,
        imported_from=run.imported_from.name if run.imported_from else "",
        trial_count=run.trial_count,
        not_ended=run.trials.exclude(status__in=Trial.ENDED).count(),
    )


def export_of(run: Run, form: Format, *, trials: QuerySet[Trial] | None = None, chosen: str = "") -> Export:
    """Return what a form writes of a run: all its ended trials, or those of ``trials``, which ``chosen`` describes."""
    return Export(run_export(run), partial(trial_exports, run, trials=trials, with_calls=form.reads_calls), chosen)


def trial_exports(
    run: Run, *, batch: int = BATCH, trials: QuerySet[Trial] | None = None, with_calls: bool = True
) -> Iterator[TrialExport]:
    """Yield the ended trials of a run in their order, a batch of rows in memory at a time.

    ``trials`` chooses among them. Without ``with_calls`` no event is read, so that a record's call is empty.
    """
    chosen = (run.trials.all() if trials is None else trials).filter(status__in=Trial.ENDED)
    ids = list(chosen.order_by("position", "pk").values_list("pk", flat=True))
    fidelity: Fidelity = run.config.get("fidelity", "canonical")
    prints = {entry["name"]: entry["fingerprint"] for entry in run.config.get("scenarios") or ()}
    run_format = (run.config.get("imported") or {}).get("format") or ""
    for start in range(0, len(ids), batch):
        yield from _batch(ids[start : start + batch], fidelity, prints, run_format, with_calls)


def _batch(
    ids: list[int], fidelity: Fidelity, prints: Mapping[str, str], run_format: str, with_calls: bool
) -> Iterator[TrialExport]:
    trials = Trial.objects.select_related("scenario", "foreign").in_bulk(ids)
    events = _by_trial(TrialEvent.objects.filter(trial__in=ids) if with_calls else ())
    signals = _latest(SignalResult.objects.filter(trial__in=ids))
    verdicts = _latest(Verdict.objects.filter(trial__in=ids).select_related("judge", "effective"))
    judgings = _latest(Judging.objects.filter(trial__in=ids))
    for pk in ids:
        trial, scoring = trials[pk], max((row.scoring for row in signals[pk]), default=None)
        today, foreign = _spec(trial.scenario.name), _foreign(trial, run_format)
        spec = spec_of(foreign, trial.scenario.domain, trial.scenario.name, today) if foreign else today
        judged = [row for row in judgings[pk] if row.scoring == scoring]
        yield TrialExport(
            scenario=trial.scenario.name,
            number=trial.number,
            outcome=trial.outcome,
            outcome_reason=trial.outcome_reason,
            by_inaction=trial.by_inaction,
            call=read_events(events[pk]),
            success_signals=tuple(today.success_signals if today else trial.scenario.success_signals),
            other_outcome=trial.other_outcome,
            signals=tuple(SignalRecord(row.signal, row.state, row.value, row.detail) for row in signals[pk]),
            verdicts=tuple(_verdict(row) for row in verdicts[pk] if row.scoring == scoring),
            judging=_judging(judged[0]) if judged else None,
            spec=spec,
            reference_actions=_reference_actions(spec, fidelity) if spec and spec is today else None,
            events=events[pk],
            ended_at=trial.ended_at,
            started_at=trial.started_at,
            fingerprint=prints.get(trial.scenario.name, ""),
            tags=tuple(trial.scenario.tags),
            row=_row(trial),
            foreign=foreign,
            open_recording=partial(open_recording, trial),
        )


def _spec(name: str) -> ScenarioSpec | None:
    try:
        return catalogue.spec(name)
    except ValueError:  # dropped from the code, or its files are not here: the run itself is still whole
        return None


def _reference_actions(spec: ScenarioSpec, fidelity: Fidelity) -> tuple[Mapping[str, Any], ...] | None:
    """Return the answer of reference; a scenario that ships its end state has none."""
    gold = gold_replay(spec, fidelity)
    return None if gold.is_shipped else gold.reference_actions


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
    effective = getattr(row, "effective", None)
    return VerdictRecord(
        signal=row.signal,
        index=row.index,
        claim=row.claim,
        passed=row.passed,
        reason=row.reason,
        error=row.error,
        detail=row.detail,
        evidence=row.evidence,
        scoring=row.scoring,
        fingerprint=row.fingerprint,
        judge=f"{row.judge.profile} {row.judge.model} {row.judge.fingerprint[:12]}" if row.judge else "",
        effective=effective.passed if effective else None,
        ruled_by=effective.by if effective else "",
    )


def _foreign(trial: Trial, run_format: str) -> ForeignRecord | None:
    found = getattr(trial, "foreign", None)
    if found is None:
        return None
    return ForeignRecord(
        format=run_format,
        termination_reason=found.termination_reason,
        task_id=found.task_id,
        task=found.task,
        written=found.written,
        started_at=found.facts.get("started_at") or "",
        ended_at=found.facts.get("ended_at") or "",
    )


def _row(trial: Trial) -> TrialRow:
    return TrialRow(
        status=trial.status,
        end_reason=trial.end_reason,
        error_kind=trial.error_kind,
        attempts=trial.attempts,
        turns=trial.turn_count,
        is_timed=trial.is_timed,
        duration_ms=trial.duration_ms,
        response_p50_ms=trial.response_p50_ms,
        prompt_tokens=trial.prompt_tokens,
        completion_tokens=trial.completion_tokens,
        cost=trial.cost,
        judged_outcome=trial.judged_outcome,
        overruled=trial.overruled_count,
        fault=trial.fault,
    )


def _judging(row: Judging) -> JudgingRecord:
    return JudgingRecord(row.system_prompt, row.user_content, row.reply, row.score, row.reason, row.error)
