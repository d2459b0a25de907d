"""What people's rulings make of a call: the effective verdicts, and the outcome that follows from them, at once."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar, get_args

from django.db import transaction
from django.db.models import Max, Q

from scenarios.events import OutcomeRevised
from scenarios.lifecycle.record import note
from scenarios.models import EffectiveVerdict, JudgeBatch, Judging, Review, SignalResult, Trial, Verdict
from scenarios.scoring.effective import ClaimRuling, Effective, RuledBy, ScoredSignal, effective
from scenarios.scoring.results import SignalState

Stage, Ruling = Review.Stage, Review.Ruling
# The stages of one person's reviews: the later counts, and adjudication counts above all.
_ORDER = {Stage.BLIND: 0, Stage.REVEALED: 1, Stage.ADJUDICATION: 2}


def settle(trials: Iterable[int]) -> list[int]:
    """Bring ended trials in line with the reviews of their verdicts; returns those whose outcome changed.

    Safe to repeat, and to call for trials that nobody reviewed. Everything is made from the append-only reviews.
    """
    changed = []
    for pk in sorted(set(trials)):
        with transaction.atomic():
            trial = Trial.objects.select_for_update(of=("self",)).select_related("run").get(pk=pk)
            if trial.status in Trial.ENDED and _settle(trial):
                changed.append(pk)
    return changed


class Given(Protocol):
    """What says which reviews count: a ``Review``, or these columns of one."""

    @property
    def pk(self) -> int: ...
    @property
    def rater(self) -> str: ...
    @property
    def stage(self) -> str: ...
    @property
    def ruling(self) -> str: ...


AnyReview = TypeVar("AnyReview", bound=Given)


def counting_reviews(reviews: Sequence[AnyReview]) -> list[AnyReview]:
    """Return each person's review that counts: the newest of the latest stage; a withdrawn one counts no more."""
    newest: dict[tuple[str, str], AnyReview] = {}
    for review in sorted(reviews, key=lambda review: review.pk):
        newest[review.rater, review.stage] = review
    by_person: dict[str, AnyReview] = {}
    for review in newest.values():
        other = by_person.get(review.rater)
        if review.ruling != Ruling.WITHDRAWN and (
            other is None or _ORDER[Stage(review.stage)] > _ORDER[Stage(other.stage)]
        ):
            by_person[review.rater] = review
    return list(by_person.values())


def deciding_review(reviews: Sequence[Review]) -> Review | None:
    """Return the review that makes a verdict's effective ruling.

    That is the newest adjudication, else the ruling on which all reviewers agree who could tell. Reviewers who
    disagree change nothing until somebody adjudicates.
    """
    ruling = [review for review in counting_reviews(reviews) if review.ruling in (Ruling.PASS, Ruling.FAIL)]
    settled = [review for review in ruling if review.stage == Stage.ADJUDICATION]
    if settled:
        return max(settled, key=lambda review: review.pk)
    if len({review.ruling for review in ruling}) != 1:
        return None
    return max(ruling, key=lambda review: review.pk)


def _settle(trial: Trial) -> bool:
    rows = _signals(trial)
    void = bool(rows) and _is_quarantined(trial, rows[0].scoring)
    claims = [_claim(verdict, decided, void) for verdict, decided in _rulings(trial, _verdicts(trial))]
    is_ruled = void or any(claim.by != "judge" or claim.passed is None for claim in claims)
    if not is_ruled and not _was_revised(trial, rows):
        return False
    signals = [_scored(row) for row in rows]
    is_upstream = trial.run.config.get("strictness") == "upstream"
    demands_met = _demands_met(trial)

    def decide(judged: str, reason: str, *, demanded: bool) -> Effective:
        met = demands_met or not demanded
        return effective(judged, reason, signals, claims, met, void=void)  # type: ignore[arg-type]

    judged, reason = trial.judged_outcome or trial.outcome, _judged_reason(trial)
    other = trial.judged_other_outcome or trial.other_outcome
    result = decide(judged, reason, demanded=is_upstream)
    _store_signals(rows, signals, result)
    before = trial.outcome
    is_revised = result.outcome != judged
    other_now = decide(other, "", demanded=not is_upstream).outcome
    Trial.objects.filter(pk=trial.pk).update(
        outcome=result.outcome,
        outcome_reason=result.reason[:300],
        other_outcome=other_now,
        judged_outcome=judged if is_revised else "",
        judged_reason=reason if is_revised or result.reason != reason else "",
        judged_other_outcome=other if other_now != other else "",
        overruled_count=result.overruled,
        breakdown=_breakdown(result),
    )
    if before == result.outcome:
        return False
    note([trial], OutcomeRevised(before=before, outcome=result.outcome, reason=result.reason))
    return True


def _was_revised(trial: Trial, rows: Sequence[SignalResult]) -> bool:
    revised = trial.judged_outcome or trial.judged_other_outcome or trial.overruled_count
    return bool(revised) or any(row.judged_state for row in rows)


def _judged_reason(trial: Trial) -> str:
    """Return the reason that scoring gave; people's rulings may have changed it and left the outcome."""
    return trial.judged_reason if trial.judged_outcome or trial.judged_reason else trial.outcome_reason


def _verdicts(trial: Trial) -> list[Verdict]:
    """Return the newest rulings on the claims of a trial."""
    rows = list(trial.verdicts.filter(signal="nl_assertion").order_by("-scoring", "index"))
    return [row for row in rows if row.scoring == rows[0].scoring]


def _rulings(trial: Trial, verdicts: Sequence[Verdict]) -> list[tuple[Verdict, EffectiveVerdict | None]]:
    """Return each verdict with its effective one."""
    subjects = {verdict.subject for verdict in verdicts if verdict.subject}
    by_claim: Mapping[str | int, list[Review]] = defaultdict(list)
    # Rulings of people hold for every verdict on the same claim and record, whichever judge gave it.
    same = Q(verdict__subject__in=subjects) | Q(verdict__in=[row.pk for row in verdicts if not row.subject])
    for review in Review.objects.filter(same, verdict__trial=trial).select_related("verdict"):
        by_claim[review.verdict.subject or review.verdict_id].append(review)
    stored = {one.verdict_id: one for one in EffectiveVerdict.objects.filter(verdict__in=verdicts)}
    return [
        (row, _effective_verdict(row, by_claim.get(row.subject or row.pk, []), stored.get(row.pk))) for row in verdicts
    ]


def _is_quarantined(trial: Trial, scoring: int) -> bool:
    """Return whether the judge that was asked for this scoring failed the canaries of its batch."""
    judging = Judging.objects.filter(trial=trial, scoring=scoring)
    return judging.filter(batch__canaries=JudgeBatch.Canaries.QUARANTINED).exists()


def _effective_verdict(
    verdict: Verdict, reviews: Sequence[Review], stored: EffectiveVerdict | None
) -> EffectiveVerdict | None:
    """Return what reviews make of a verdict, and bring the stored row in line: written only where it differs."""
    decides = deciding_review(reviews)
    if decides is None:
        if stored is not None:
            stored.delete()
        return None
    passed = decides.ruling == Ruling.PASS
    is_adjudicated = decides.stage == Stage.ADJUDICATION
    facts = {
        "passed": passed,
        "by": EffectiveVerdict.By.ADJUDICATOR if is_adjudicated else EffectiveVerdict.By.REVIEWER,
        "review_id": decides.pk,
        "is_overruling": bool(verdict.error) or passed != verdict.passed,
    }
    if stored is not None and all(getattr(stored, name) == value for name, value in facts.items()):
        return stored
    return EffectiveVerdict.objects.update_or_create(verdict=verdict, defaults=facts)[0]


def _claim(verdict: Verdict, decided: EffectiveVerdict | None, void: bool) -> ClaimRuling:
    if decided is not None:
        by: RuledBy = "adjudicator" if decided.by == EffectiveVerdict.By.ADJUDICATOR else "reviewer"
        return ClaimRuling(verdict.index, decided.passed, by, decided.is_overruling)
    return ClaimRuling(verdict.index, None if verdict.error or void else verdict.passed, "judge")


def _signals(trial: Trial) -> list[SignalResult]:
    rows = list(trial.signals.order_by("-scoring", "id"))
    return [row for row in rows if row.scoring == rows[0].scoring]


def _scored(row: SignalResult) -> ScoredSignal:
    """Return a signal as scoring left it, before anybody reviewed it."""
    state, value = (row.judged_state, row.judged_value) if row.judged_state else (row.state, row.value)
    return ScoredSignal(row.signal, state, row.is_gating, value)  # type: ignore[arg-type]


def _demands_met(trial: Trial) -> bool:
    """Return whether everything holds that upstream's strictness asks for beside the signals."""
    last = trial.verdicts.aggregate(last=Max("scoring"))["last"]
    beside = trial.verdicts.filter(signal__in=("communicate", "action"), scoring=last or 0)
    return not beside.filter(passed=False).exists()


def _store_signals(rows: Sequence[SignalResult], judged: Sequence[ScoredSignal], result: Effective) -> None:
    for row, before, now in zip(rows, judged, result.signals, strict=True):
        was = (row.state, row.value, row.judged_state, row.judged_value)
        row.state, row.value = now.state, now.value
        row.judged_state, row.judged_value = (before.state, before.value) if before != now else ("", None)
        if was != (row.state, row.value, row.judged_state, row.judged_value):
            row.save(update_fields=["state", "value", "judged_state", "judged_value"])


def _breakdown(result: Effective) -> dict[str, list[str]]:
    """Return the signals by state, as ``Trial.breakdown`` holds them."""
    states: dict[str, list[str]] = {name: [] for name in get_args(SignalState)}
    for signal in result.signals:
        if signal.state != "not_applicable" or signal.is_gating:
            states[signal.state].append(signal.signal)
    return states
