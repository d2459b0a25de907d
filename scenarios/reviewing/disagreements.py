"""Where people differ, among themselves or from the judge, and nobody has settled it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from scenarios.lifecycle import counting_reviews
from scenarios.models import EffectiveVerdict, Review, Verdict
from scenarios.newest import newest_claims

_RULED = (Review.Ruling.PASS, Review.Ruling.FAIL)


@dataclass(frozen=True)
class Disagreement:
    """One verdict with rulings that do not go together; ``is_settled``: an adjudicator has ruled."""

    verdict_id: int
    judge_passed: bool | None
    reviews: tuple[Review, ...]
    is_settled: bool


def disagreements(verdicts: QuerySet[Verdict] | None = None, *, settled: bool = False) -> list[Disagreement]:
    """Return what waits for an adjudicator, oldest first; with ``settled`` also what one has ruled on."""
    reviews = Review.objects.filter(verdict__in=_candidates(settled)).select_related("verdict__trial").order_by("pk")
    if verdicts is not None:
        reviews = reviews.filter(verdict__in=verdicts)
    by_verdict: dict[int, list[Review]] = defaultdict(list)
    for review in reviews:
        by_verdict[review.verdict_id].append(review)
    found = [_disagreement(rows) for rows in by_verdict.values()]
    return [one for one in found if one is not None and (settled or not one.is_settled)]


def open_disagreements() -> list[int]:
    """Return the verdicts that wait for an adjudicator, by primary key, in a few queries.

    Read from the effective verdicts, which follow every review at once (``scenarios.lifecycle.settle``). Where a claim
    was judged again, only the newest verdict can be against the people.
    """
    newer = Verdict.objects.filter(
        trial=OuterRef("verdict__trial"), signal=OuterRef("verdict__signal"), scoring__gt=OuterRef("verdict__scoring")
    )
    overruled = EffectiveVerdict.objects.filter(
        ~Exists(newer), by=EffectiveVerdict.By.REVIEWER, is_overruling=True, verdict__error=""
    )
    return sorted({*overruled.values_list("verdict", flat=True), *_split()})


class _Given(NamedTuple):
    pk: int
    rater: str
    stage: str
    ruling: str


def _split() -> Iterator[int]:
    """Yield the newest verdicts on claims on which reviewers differ among themselves and nobody has settled it.

    Their reviews may stand on verdicts of different judges about the same claim and record.
    """
    ruled = Review.objects.filter(ruling__in=_RULED, verdict__signal="nl_assertion").order_by()
    claims = ruled.values_list("verdict__trial", "verdict__subject").annotate(rulings=Count("ruling", distinct=True))
    trials = {trial for trial, _, _ in claims.filter(rulings=2)}
    given: dict[tuple[int, str | int], list[_Given]] = defaultdict(list)
    columns = ("pk", "rater", "stage", "ruling", "verdict__trial_id", "verdict__subject", "verdict_id")
    reviews = Review.objects.filter(verdict__trial__in=trials, verdict__signal="nl_assertion").order_by()
    for pk, rater, stage, ruling, trial, subject, verdict in reviews.values_list(*columns):
        given[trial, subject or verdict].append(_Given(pk, rater, stage, ruling))
    newest = newest_claims().filter(trial__in=trials, effective=None).order_by()
    for verdict, trial, subject in newest.values_list("pk", "trial_id", "subject"):
        counting = [one for one in counting_reviews(given.get((trial, subject or verdict), ())) if one.ruling in _RULED]
        is_settled = any(review.stage == Review.Stage.ADJUDICATION for review in counting)
        if not is_settled and len({review.ruling for review in counting}) > 1:
            yield verdict


def open_to(person: Any) -> list[int]:
    """Return the open disagreements that this person may settle: they did not review the claim themselves."""
    found = open_disagreements()
    own = Review.objects.filter(rater=person.get_username()).exclude(stage=Review.Stage.ADJUDICATION)
    claims = set(own.values_list("verdict", "verdict__subject"))
    if not claims or not found:
        return found
    verdicts, subjects = {pk for pk, _ in claims}, {subject for _, subject in claims} - {""}
    subject_of = dict(Verdict.objects.filter(pk__in=found).values_list("pk", "subject"))
    return [pk for pk in found if pk not in verdicts and subject_of[pk] not in subjects]


def _candidates(settled: bool) -> QuerySet[Review, int]:
    """Return the verdicts that somebody ruled otherwise on than the judge, or than somebody else: a superset."""
    ruled = Review.objects.filter(ruling__in=_RULED).order_by()
    if not settled:
        ruled = ruled.exclude(verdict__effective__by=EffectiveVerdict.By.ADJUDICATOR)
    other = Q(ruling=Review.Ruling.PASS, verdict__passed=False) | Q(ruling=Review.Ruling.FAIL, verdict__passed=True)
    # Without a ruling of the judge only people can differ; two rulings that differ are never both the judge's.
    return ruled.filter(other | ~Q(verdict__error="")).values_list("verdict", flat=True)


def _disagreement(rows: Sequence[Review]) -> Disagreement | None:
    verdict = rows[0].verdict
    counting = [review for review in counting_reviews(rows) if review.ruling in _RULED]
    judge = None if verdict.error else verdict.passed
    rulings = _rulings(counting)
    if len(rulings) < 2 and (judge is None or rulings <= {judge}):
        return None
    is_settled = any(review.stage == Review.Stage.ADJUDICATION for review in counting)
    return Disagreement(verdict.pk, judge, tuple(counting), is_settled)


def _rulings(reviews: Iterable[Review]) -> set[bool]:
    return {review.ruling == Review.Ruling.PASS for review in reviews}
