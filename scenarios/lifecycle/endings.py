"""How a held trial ends: scored, broken or cancelled. Each is all or nothing, and a second time does nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from scenarios import models
from scenarios.events import TrialFinished
from scenarios.lifecycle import budget
from scenarios.lifecycle.claims import MAX_ATTEMPTS, Claim, Status, fenced
from scenarios.lifecycle.record import NewEvent
from scenarios.lifecycle.rulings import settle
from scenarios.lifecycle.withdrawal import status_of
from scenarios.models import JudgeBatch, JudgeVersion, Judging, Review, Run, Trial, Verdict
from scenarios.scoring.results import Decision, Outcome, SignalResult, VerdictResult
from scenarios.storable import storable


@dataclass(frozen=True)
class TrialFacts:
    """Figures of a call that lists show: column names of Trial. Tokens are the agent's in its last attempt."""

    end_reason: str = ""
    error_kind: str = ""
    duration_ms: int | None = None
    turn_count: int = 0
    response_p50_ms: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True)
class JudgeWork:
    """One request to a judge: ``version`` holds the columns of JudgeVersion, ``columns`` those of Judging."""

    version: Mapping[str, Any]
    columns: Mapping[str, Any]
    # Verdict fingerprints, and what each ruling is about, by claim number.
    fingerprints: Mapping[int, str] = field(default_factory=dict)
    subjects: Mapping[int, str] = field(default_factory=dict)


def begin_scoring(claim: Claim, events: Sequence[NewEvent] = ()) -> bool:
    """Move running -> scoring; False when the lease is lost. From here on the call is never held again."""
    return fenced(claim, events, was=[Status.RUNNING], status=Status.SCORING)


def finish(
    claim: Claim,
    decision: Decision,
    results: Sequence[SignalResult],
    facts: TrialFacts,
    *,
    judged: JudgeWork | None = None,
    events: Sequence[NewEvent] = (),
) -> bool:
    """Store signals, verdicts, judging and last events and end the trial; False when the lease is lost."""
    with transaction.atomic():
        budget.lock(claim.run_id, claim.config)
        changes: dict[str, Any] = {
            **asdict(facts),
            "breakdown": decision.success_breakdown,
            "by_inaction": decision.by_inaction,
            "other_outcome": decision.other_outcome or decision.outcome,
        }
        if not _end(claim, decision.outcome, decision.reason, events, was=[Status.SCORING], **changes):
            return False
        store_scoring(claim.trial_id, decision, results, judged)
        if Review.objects.filter(verdict__trial=claim.trial_id).exists() or _is_void(judged):
            settle([claim.trial_id])
        budget.charge(claim.run_id, claim.config, claim.trial_id)
    return True


def fail_attempt(
    claim: Claim,
    error_kind: str,
    message: str,
    *,
    retry: bool = True,
    facts: TrialFacts | None = None,
    events: Sequence[NewEvent] = (),
) -> bool:
    """Give the trial back to the queue, or end it as ``infra_error`` when its attempts are used up.

    A cancelled trial is cancelled, never tried again. False when the lease is lost.
    """
    kept = asdict(facts) if facts else {}
    kept["error_kind"] = error_kind[:60]
    with transaction.atomic():
        budget.lock(claim.run_id, claim.config)
        if _is_cancelled(claim):
            done = _end(claim, "cancelled", "cancelled by a person", events, **kept)
        elif will_retry(claim, retry=retry):
            done = fenced(claim, events, status=Status.QUEUED, lease=None, heartbeat_at=None, **kept)
        else:
            done = _end(claim, "infra_error", f"{error_kind}: {message}", events, **kept)
        if done:
            budget.charge(claim.run_id, claim.config, claim.trial_id)
    return done


def will_retry(claim: Claim, *, retry: bool = True) -> bool:
    """Return whether a failed attempt is followed by another. A call that was held is never held again for scoring."""
    return retry and claim.attempt < MAX_ATTEMPTS and not claim.only_scoring


def cancel_trial(
    claim: Claim,
    outcome: Outcome = "cancelled",
    reason: str = "cancelled by a person",
    *,
    facts: TrialFacts | None = None,
    events: Sequence[NewEvent] = (),
) -> bool:
    """End a held trial that somebody cancelled; False when the lease is lost."""
    with transaction.atomic():
        budget.lock(claim.run_id, claim.config)
        done = _end(claim, outcome, reason, events, **(asdict(facts) if facts else {}))
        if done:
            budget.charge(claim.run_id, claim.config, claim.trial_id)
    return done


def _end(
    claim: Claim, outcome: Outcome, reason: str, events: Sequence[NewEvent], was: Sequence[str] = (), **changes: Any
) -> bool:
    reason = storable(reason)[:300]
    changes.setdefault("other_outcome", outcome)
    return fenced(
        claim,
        events,
        was=was,
        closing=TrialFinished(outcome=outcome, reason=reason),
        status=status_of(outcome),
        outcome=outcome,
        outcome_reason=reason,
        lease=None,
        heartbeat_at=None,
        ended_at=timezone.now(),
        **changes,
    )


def _is_cancelled(claim: Claim) -> bool:
    asked = Run.objects.filter(pk=claim.run_id, cancel_requested_at__isnull=False).exists()
    return asked or Trial.objects.filter(pk=claim.trial_id, cancel_requested=True).exists()


def _is_void(judged: JudgeWork | None) -> bool:
    """Return whether the judge's batch is quarantined; locks it, so that a quarantine now misses no call."""
    batch_id = judged.columns.get("batch_id") if judged else None
    if batch_id is None:
        return False
    return JudgeBatch.objects.select_for_update().get(pk=batch_id).canaries == JudgeBatch.Canaries.QUARANTINED


def store_scoring(trial_id: int, decision: Decision, results: Sequence[SignalResult], judged: JudgeWork | None) -> None:
    """Add signals, verdicts and judging under the trial's next scoring number; inside a transaction."""
    earlier = models.SignalResult.objects.filter(trial=trial_id).aggregate(last=Max("scoring"))["last"]
    scoring = (earlier or 0) + 1
    judge = _store_judging(trial_id, scoring, judged) if judged else None
    states = {signal: state for state, signals in decision.success_breakdown.items() for signal in signals}
    models.SignalResult.objects.bulk_create(
        models.SignalResult(
            trial_id=trial_id,
            scoring=scoring,
            signal=result.signal,
            state=states.get(result.signal, "not_applicable"),
            is_gating=states.get(result.signal, "excluded") != "excluded",
            value=result.value,
            detail=storable(result.detail),
        )
        for result in results
    )
    verdicts = [verdict for result in results for verdict in result.verdicts]
    Verdict.objects.bulk_create(
        _verdict(trial_id, scoring, verdict, judge, judged) for verdict in (*verdicts, *decision.upstream_checks)
    )


def _store_judging(trial_id: int, scoring: int, judged: JudgeWork) -> JudgeVersion:
    version = dict(judged.version)
    judge, _ = JudgeVersion.objects.get_or_create(fingerprint=version.pop("fingerprint"), defaults=version)
    Judging.objects.create(trial_id=trial_id, scoring=scoring, judge=judge, **storable(dict(judged.columns)))
    return judge


def _verdict(
    trial_id: int, scoring: int, verdict: VerdictResult, judge: JudgeVersion | None, judged: JudgeWork | None
) -> Verdict:
    is_judged = verdict.signal == "nl_assertion"
    return Verdict(
        trial_id=trial_id,
        scoring=scoring,
        signal=verdict.signal,
        index=verdict.index,
        claim=verdict.claim,
        passed=verdict.passed,
        reason=storable(verdict.reason),
        evidence=[storable(asdict(quote)) for quote in verdict.evidence],
        error=(verdict.error or "")[:40],
        detail=storable(verdict.detail),
        judge=judge if is_judged else None,
        fingerprint=judged.fingerprints.get(verdict.index, "") if judged and is_judged else "",
        subject=judged.subjects.get(verdict.index, "") if judged and is_judged else "",
    )
