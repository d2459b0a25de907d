"""Rated calls as the corrected headline wants them: what scoring said, and what people made of it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from scenarios.analysis.agreement import Ruling
from scenarios.analysis.correction import RatedCall, depends_on_judge, outcome_by_people
from scenarios.models import EffectiveVerdict, Review, ReviewItem, SignalResult, Trial, Verdict
from scenarios.scoring.results import RATED

JUDGED = ("nl_assertion",)


def rated_calls(runs: Sequence[int]) -> list[RatedCall]:
    """Return the rated calls of these runs, by their trial's key, in a handful of queries whatever their number."""
    trials = Trial.objects.filter(run__in=runs, status__in=Trial.ENDED).order_by("run_id", "position")
    rows = list(trials.values_list("pk", "outcome", "judged_outcome", "scenario_id"))
    gating, claims = _gating(runs), claims_by_call(runs)
    rulings, sampled = _rulings(runs), _sampled(runs)
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
                people=outcome_by_people(rulings.get(claim) for claim in own) if judged else None,
                sampled=bool(own) and all(claim in sampled for claim in own),
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


def _rulings(runs: Sequence[int]) -> Mapping[int, Ruling]:
    """Return people's ruling by verdict; one that nobody could tell is "cannot_tell"."""
    unsure = Review.objects.filter(verdict__trial__run__in=runs, ruling=Review.Ruling.CANNOT_TELL)
    found: dict[int, Ruling] = dict.fromkeys(unsure.values_list("verdict_id", flat=True), "cannot_tell")
    effective: Iterable[tuple[int, bool]] = EffectiveVerdict.objects.filter(verdict__trial__run__in=runs).values_list(
        "verdict_id", "passed"
    )
    found.update({verdict: "pass" if passed else "fail" for verdict, passed in effective})
    return found


def _sampled(runs: Sequence[int]) -> set[int]:
    """Return the verdicts that came from a random queue."""
    items = ReviewItem.objects.filter(verdict__trial__run__in=runs, queue__is_random=True)
    return set(items.values_list("verdict_id", flat=True))
