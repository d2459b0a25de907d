"""What people made of the judge's rulings, for the pages of calls and runs: who ruled what, and what it changed."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Max

from scenarios.lifecycle import counting_reviews
from scenarios.models import EffectiveVerdict, Review, ReviewItem, Run, Trial, Verdict
from scenarios.reviewing.queues import current_claims
from scenarios.standing import Standing


@dataclass(frozen=True)
class History:
    """All reviews of a claim, oldest first, and what they come to."""

    reviews: tuple[Review, ...]
    # None: nobody has ruled so that it counts.
    effective: EffectiveVerdict | None
    counting: tuple[Review, ...]

    @property
    def is_disputed(self) -> bool:
        """Return whether reviewers differ and nobody has settled it: the judge's ruling counts until then."""
        rulings = {one.ruling for one in self.counting if one.ruling in (Review.Ruling.PASS, Review.Ruling.FAIL)}
        return self.effective is None and len(rulings) > 1


def history_of(verdicts: Sequence[Verdict]) -> dict[int, History]:
    """Return the history of each verdict by primary key, in two queries; reviews hold for the claim, whoever judged."""
    subjects = {verdict.subject for verdict in verdicts if verdict.subject}
    keys = [verdict.pk for verdict in verdicts]
    of_subject = Review.objects.filter(verdict__subject__in=subjects) if subjects else Review.objects.none()
    rows = (Review.objects.filter(verdict__in=keys) | of_subject).select_related("verdict").order_by("pk")
    by_claim: dict[str | int, list[Review]] = defaultdict(list)
    for review in rows:
        by_claim[review.verdict.subject or review.verdict_id].append(review)
    effective = {
        one.verdict_id: one for one in EffectiveVerdict.objects.filter(verdict__in=keys).select_related("review")
    }
    found = {}
    for verdict in verdicts:
        reviews = by_claim[verdict.subject or verdict.pk]
        found[verdict.pk] = History(tuple(reviews), effective.get(verdict.pk), tuple(counting_reviews(reviews)))
    return found


def is_reviewed(run: Run) -> bool:
    """Return whether claims of the run wait in a queue that is open: then pages that have ended may still change."""
    return ReviewItem.objects.filter(verdict__trial__run=run, queue__closed_at=None).exists()


def newest_reviews(trials: Iterable[int]) -> dict[int, int]:
    """Return the newest review of each trial that has one, by primary key."""
    reviews = Review.objects.filter(verdict__trial__in=trials).order_by()
    return dict(reviews.values_list("verdict__trial").annotate(newest=Max("pk")))


def overrulers(histories: Iterable[History]) -> list[str]:
    """Return who overruled the judge in a call, each once."""
    names = [one.effective.review.rater for one in histories if one.effective and one.effective.is_overruling]
    return list(dict.fromkeys(names))


@dataclass(frozen=True)
class Overrules:
    """What people changed in a run: claims overruled of all, and calls whose outcome changed, by what it is now."""

    overruled: int
    claims: int
    changed: Mapping[str, int]


def overrules(run: Run, standing: Standing) -> Overrules | None:
    """Return what people changed in a run; None where nothing was changed."""
    if not standing.overruled and not standing.changed:
        return None
    claims = current_claims().filter(trial__run=run, trial__status__in=Trial.ENDED).count()
    return Overrules(standing.overruled, claims, standing.changed)
