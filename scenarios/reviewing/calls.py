"""Rated calls as the corrected headline wants them: what scoring said, and what people made of it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from scenarios.analysis.agreement import Ruling
from scenarios.analysis.correction import RatedCall, depends_on_judge, outcome_by_people
from scenarios.lifecycle import counting_reviews
from scenarios.models import EffectiveVerdict, Review, SignalResult, Trial, Verdict
from scenarios.scoring.results import RATED

JUDGED = ("nl_assertion",)


def rated_calls(runs: Sequence[int]) -> list[RatedCall]:
    """Return the rated calls of these runs, by their trial's key, in a handful of queries whatever their number."""
    trials = Trial.objects.filter(run__in=runs, status__in=Trial.ENDED).order_by("run_id", "position")
    rows = list(trials.values_list("pk", "outcome", "judged_outcome", "scenario_id"))
    gating, claims = _gating(runs), claims_by_call(runs)
    labels = _labels(runs)
    found = []
    for pk, outcome, judged_outcome, scenario in rows:
        raw = judged_outcome or outcome
        if raw not in RATED:
            continue
        own = claims.get(pk, [])
        judged = raw != "stalled" and bool(own) and depends_on_judge(gating.get(pk, {}), JUDGED)
        found.append(
            RatedCall(
                call=str(pk),
                passed=raw == "pass",
                judged=judged,
                people=outcome_by_people(labels.rulings.get(claim) for claim in own) if judged else None,
                sampled=bool(own) and all(claim in labels.by_lot for claim in own),
                scenario=str(scenario),
            )
        )
    return found


def _gating(runs: Sequence[int]) -> Mapping[int, Mapping[str, bool | None]]:
    rows = SignalResult.objects.filter(trial__run__in=runs, is_gating=True).order_by("trial_id", "-scoring")
    found: dict[int, dict[str, bool | None]] = defaultdict(dict)
    newest: dict[int, int] = {}
    for trial, scoring, signal, state, judged_state in rows.values_list(
        "trial_id", "scoring", "signal", "state", "judged_state"
    ):
        if newest.setdefault(trial, scoring) == scoring and (judged_state or state) != "not_applicable":
            found[trial][signal] = {"passed": True, "failed": False}.get(judged_state or state)
    return found


def claims_by_call(runs: Sequence[int]) -> Mapping[int, list[int]]:
    """Return the newest rulings on each call's claims, in order, by trial."""
    rows = Verdict.objects.filter(trial__run__in=runs, signal="nl_assertion").order_by("trial_id", "-scoring", "index")
    found: dict[int, list[int]] = defaultdict(list)
    newest: dict[int, int] = {}
    for pk, trial, scoring in rows.values_list("pk", "trial_id", "scoring"):
        if newest.setdefault(trial, scoring) == scoring:
            found[trial].append(pk)
    return found


class _Given(NamedTuple):
    """A review, and whether it was given in a queue that is a random sample."""

    pk: int
    rater: str
    stage: str
    ruling: str
    by_lot: bool


@dataclass(frozen=True)
class _Labels:
    """People's rulings on the newest verdicts, by verdict, and which of these have one from a random queue.

    A call that the lot chose and that somebody reviewed in another queue waits for its turn: else the labels of a
    random queue would be those of its calls that something else pointed at.
    """

    rulings: Mapping[int, Ruling]
    by_lot: Set[int]


def _labels(runs: Sequence[int]) -> _Labels:
    """Read the labels of runs; a ruling holds for the claim and record, whichever judge's verdict it was given on."""
    given: dict[tuple[int, str | int], list[_Given]] = defaultdict(list)
    reviews = Review.objects.filter(verdict__trial__run__in=runs, verdict__signal="nl_assertion").order_by()
    columns = ("verdict__trial_id", "verdict__subject", "verdict_id", "pk", "rater", "stage", "ruling")
    for trial, subject, verdict, pk, rater, stage, ruling, by_lot in reviews.values_list(
        *columns, "item__queue__is_random"
    ):
        given[trial, subject or verdict].append(_Given(pk, rater, stage, ruling, bool(by_lot)))
    decided = dict(EffectiveVerdict.objects.filter(verdict__trial__run__in=runs).values_list("verdict_id", "passed"))
    rulings: dict[int, Ruling] = {pk: "pass" if passed else "fail" for pk, passed in decided.items()}
    sampled = set()
    ruled = Verdict.objects.filter(trial__run__in=runs, signal="nl_assertion", trial__in={key[0] for key in given})
    for pk, trial, subject in ruled.order_by().values_list("pk", "trial_id", "subject") if given else ():
        counting = counting_reviews(given.get((trial, subject or pk), ()))
        if any(review.by_lot for review in counting):
            sampled.add(pk)
        if pk not in rulings and counting and all(one.ruling == Review.Ruling.CANNOT_TELL for one in counting):
            rulings[pk] = "cannot_tell"
    return _Labels(rulings, sampled)
