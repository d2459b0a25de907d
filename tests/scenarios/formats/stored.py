"""A stored run of the front desk: rows as lanes and scoring write them."""

from dataclasses import asdict
from typing import Any

from django.utils import timezone

from scenarios import catalogue
from scenarios.models import JudgeVersion, Judging, Run, SignalResult, Trial, TrialEvent, Verdict
from scenarios.scoring.success import Scored
from tests.factories import make_run, make_scenario
from tests.scenarios.scoring.whole_calls import play, score

NAMES = ("frontdesk__saver_refusal", "frontdesk__minibar_refund")


def stored_run(trials: int = 1, **fields: Any) -> Run:
    """Make a run of two scenarios whose calls went as the gold does."""
    made = []
    for position, name in enumerate(NAMES):
        spec = catalogue.spec(name)
        signals = list(spec.success_signals)
        made.append(make_scenario(name, "frontdesk", position=position, success_signals=signals))
    run = make_run(made, trials, ("pass",), domain="frontdesk", **fields)
    for trial in run.trials.select_related("scenario"):
        store_call(trial)
    return run


def store_call(trial: Trial, *, claims_hold: bool = True, scoring: int = 1) -> None:
    """Store events, signals, verdicts and judging of one trial."""
    spec = catalogue.spec(trial.scenario.name)
    if scoring == 1:
        now = timezone.now()
        TrialEvent.objects.bulk_create(
            TrialEvent(trial=trial, created_at=now, **asdict(row)) for row in play(spec, spec.gold_actions)
        )
    store_scoring(trial, score(spec, spec.gold_actions, claims_hold=claims_hold), scoring)


def store_scoring(trial: Trial, scored: Scored, scoring: int) -> None:
    """Store one scoring of a trial."""
    states = {name: state for state, names in scored.decision.success_breakdown.items() for name in names}
    for result in scored.results:
        state = states.get(result.signal, "not_applicable")
        SignalResult.objects.create(
            trial=trial,
            scoring=scoring,
            signal=result.signal,
            state=state,
            is_gating=state not in ("excluded", "not_applicable"),
            value=result.value,
            detail=result.detail,
        )
        for verdict in result.verdicts:
            Verdict.objects.create(
                trial=trial,
                scoring=scoring,
                signal=verdict.signal,
                index=verdict.index,
                claim=verdict.claim,
                passed=verdict.passed,
                reason=verdict.reason,
                detail=verdict.detail,
            )
    judge, _ = JudgeVersion.objects.get_or_create(fingerprint="f", defaults={"profile": "strict", "model": "m"})
    if any(verdict.signal == "nl_assertion" for result in scored.results for verdict in result.verdicts):
        Judging.objects.create(
            trial=trial, scoring=scoring, judge=judge, system_prompt="s", user_content="u", reply="{}", score=1.0
        )
