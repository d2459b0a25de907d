"""The pass rate three ways: as the judge has it, after people's rulings, and corrected for the judge's error.

The unit is the call, since the rate counts calls: a claim moves it only where the judge decides the call. People's
ruling on a sampled call is what its outcome would be by their rulings on all its gating claims (``outcome_by_people``).

**Estimator.** The judged calls are split by what the judge made of them (and by ``stratum``, if sampling was). In each
class the sampled labels estimate how many of its calls people would pass, and the classes are added by their size in
the run:

    rate = (passes that no judge decided + sum over classes of size x labelled pass rate) / calls

That is post-stratification by the judge, equal to prediction-powered inference with the best weight for a yes-or-no
judge. Rogan and Gladen's (observed + TNR - 1) / (TPR + TNR - 1) was not taken: it blows up when TPR + TNR is near 1,
leaves 0 to 1, is true only where TPR and TNR carry over from other calls, and needs labels of *true* passes and fails,
which nobody can order. Labels of calls that the judge passed and failed can be ordered, also unequally many.

**Interval.** Two parts are independent: the run is a sample of what the agent does (Wilson, clustered by scenario), and
the labels are a sample of the run (Wilson in each class, shrunk by the share that is labelled). They are added by the
method of variance estimates recovery (Zou and Donner 2008). With every judged call labelled it is the plain interval of
people's rate. It holds the agent's rate in 96 % of simulated runs on average (``test_coverage_of_correction.py``).

**Sampling.** Within a class the labelled calls must be a random sample. A queue of whole calls by lot is one, also when
it takes more of one class than of another, or when it has been worked half; a filter by a property that stands in
``stratum`` for every call keeps it so. Labels from any other filter (flagged, disagreeing, picked by hand, single
claims of calls that have several) overrule calls but are not used here, and are counted in ``not_random``. "Cannot
tell" is left out, as if such calls were like the others of their class.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scenarios.analysis.agreement import Ruling
from scenarios.analysis.intervals import Interval, clustered, effective_size, wilson
from scenarios.analysis.reliability import Figure

# Fewer labels in a class say too little; with as few as this the simulated interval still holds.
MIN_LABELS = 5
_METHOD = "post-stratified by the judge, label sample included"


class RatedCall(NamedTuple):
    """One call of the rate. ``judged``: its outcome would be the other one had the judge ruled otherwise.

    ``people`` is their outcome of a judged call, None while there is none; ``sampled``: it came from a random
    queue of its class, not from another filter.
    """

    call: str
    passed: bool
    judged: bool
    people: Ruling | None = None
    sampled: bool = False
    scenario: str = ""
    stratum: str = ""


class Stratum(NamedTuple):
    """One class of judged calls: its size, the labelled ones of the sample, and how many of those people pass.

    ``passes`` is a fraction where it is expected, not counted (``label_value``).
    """

    judge_passed: bool
    calls: int
    labelled: int
    passes: float
    name: str = ""

    @property
    def missing(self) -> int:
        """Return how many labels the class needs before anything can be said."""
        return max(0, min(MIN_LABELS, self.calls) - self.labelled)

    def __str__(self) -> str:
        return f"calls that the judge {'passed' if self.judge_passed else 'failed'}" + (
            f" ({self.name})" if self.name else ""
        )


class Undecided(NamedTuple):
    """Calls of the rate whose outcome no judge decides."""

    calls: int
    passes: int


@dataclass(frozen=True)
class Correction:
    """The corrected rate, or its refusal in ``figure.reason`` with the labels that are ``missing`` in each class.

    ``run_half_width`` and ``label_half_width`` are what either part of the interval would be alone (None when refused).
    """

    figure: Figure
    strata: tuple[Stratum, ...]
    missing: Mapping[str, int]
    run_half_width: float | None = None
    label_half_width: float | None = None
    cannot_tell: int = 0
    not_random: int = 0


@dataclass(frozen=True)
class Headline:
    """A run's pass rate: raw, with people's rulings instead of the judge's where there are any, and corrected."""

    raw: Figure
    overridden: Figure
    to_pass: int  # calls that people overruled to pass
    to_fail: int
    corrected: Correction


def outcome_by_people(claims: Iterable[Ruling | None]) -> Ruling | None:
    """Return people's outcome of a call from their rulings on all its gating judged claims.

    None until each has one: counting a call at its first "fail" would label failing calls sooner than passing ones.
    """
    rulings = list(claims)
    if not rulings or None in rulings:
        return None
    return "fail" if "fail" in rulings else "cannot_tell" if "cannot_tell" in rulings else "pass"


def depends_on_judge(gating: Mapping[str, bool | None], judge_signals: Iterable[str]) -> bool:
    """Return whether the judge decides a call: its own signals gate, and every other gating signal passed.

    ``gating`` is passed by signal for those that apply. A stalled call never depends on the judge; do not ask.
    """
    own = set(judge_signals)
    return not own.isdisjoint(gating) and all(passed for signal, passed in gating.items() if signal not in own)


def headline(calls: Iterable[RatedCall]) -> Headline:
    """Return the rate of the calls in its three forms; calls that are not rated (judge errors...) must not be there.

    Raises ValueError when a call comes twice.
    """
    rated = list(calls)
    twice = [name for name, count in Counter(call.call for call in rated).items() if count > 1]
    if twice:
        raise ValueError(f"call {twice[0]} comes twice: count each rated call once")
    overruled = [call for call in rated if call.judged and call.people in ("pass", "fail")]
    return Headline(
        raw=_rate(rated, [call.passed for call in rated]),
        overridden=_rate(rated, [effective(call) for call in rated]),
        to_pass=sum(call.people == "pass" and not call.passed for call in overruled),
        to_fail=sum(call.people == "fail" and call.passed for call in overruled),
        corrected=_corrected(rated),
    )


def effective(call: RatedCall) -> bool:
    """Return whether a call passes by people where they ruled, else as it did."""
    return call.people == "pass" if call.judged and call.people in ("pass", "fail") else call.passed


def strata_of(calls: Iterable[RatedCall]) -> tuple[Stratum, ...]:
    """Return the classes of judged calls; only a random sample's labels count in them."""
    found: dict[tuple[bool, str], Stratum] = {}
    for call in calls:
        if call.judged:
            before = found.get((call.passed, call.stratum), Stratum(call.passed, 0, 0, 0, call.stratum))
            labelled = call.sampled and call.people in ("pass", "fail")
            found[call.passed, call.stratum] = before._replace(
                calls=before.calls + 1,
                labelled=before.labelled + labelled,
                passes=before.passes + (labelled and call.people == "pass"),
            )
    return tuple(found[key] for key in sorted(found, reverse=True))


def correct(undecided: Undecided, strata: Sequence[Stratum], effective_calls: float | None = None) -> Correction:
    """Return the corrected rate from counts; ``effective_calls`` is how many independent calls the run is worth.

    Refused, with the missing labels, while a class has fewer than ``MIN_LABELS`` and is not labelled whole.
    """
    calls = undecided.calls + sum(stratum.calls for stratum in strata)
    missing = {str(stratum): stratum.missing for stratum in strata if stratum.missing}
    if not calls:
        return Correction(Figure(None, 0, reason="no call is rated"), tuple(strata), missing)
    if missing:
        needs = ", ".join(f"{count} more of {name}" for name, count in missing.items())
        return Correction(Figure(None, calls, reason=f"too few random labels: {needs}"), tuple(strata), missing)
    passes = undecided.passes + sum(s.calls * s.passes / s.labelled for s in strata)
    rate = min(1.0, passes / calls)
    size = effective_calls or calls
    run = _interval(rate * size, size)
    below = above = 0.0
    for stratum in strata:
        down, up = label_spread(stratum, calls)
        below, above = below + down, above + up
    low = rate - math.sqrt((rate - run.low) ** 2 + below)
    high = rate + math.sqrt((run.high - rate) ** 2 + above)
    interval = Interval(max(0.0, low), min(1.0, high), _METHOD)
    labels = (math.sqrt(below) + math.sqrt(above)) / 2
    return Correction(Figure(rate, calls, interval), tuple(strata), {}, run.half_width, labels)


def label_spread(stratum: Stratum, calls: int) -> tuple[float, float]:
    """Return the squared distances to the lower and upper bound of the rate that a class's label sample is good for."""
    rate = stratum.passes / stratum.labelled
    bounds = _interval(stratum.passes, stratum.labelled)
    weight = (stratum.calls / calls) ** 2 * (1 - stratum.labelled / stratum.calls)
    return weight * (rate - bounds.low) ** 2, weight * (bounds.high - rate) ** 2


def _corrected(calls: Sequence[RatedCall]) -> Correction:
    by_itself = [call.passed for call in calls if not call.judged]
    answered = [call for call in calls if call.judged and call.people is not None]
    found = correct(Undecided(len(by_itself), sum(by_itself)), strata_of(calls), _effective_calls(calls))
    return Correction(
        found.figure,
        found.strata,
        found.missing,
        found.run_half_width,
        found.label_half_width,
        cannot_tell=sum(call.sampled and call.people == "cannot_tell" for call in answered),
        not_random=sum(not call.sampled and call.people != "cannot_tell" for call in answered),
    )


def _effective_calls(calls: Sequence[RatedCall]) -> float:
    """Return how many independent calls these tell as much as, by how outcomes go together within scenarios."""
    groups = _groups(calls, [effective(call) for call in calls])
    if len(groups) < 2 or len(groups) == len(calls):
        return float(len(calls))
    return effective_size(groups)


def _rate(calls: Sequence[RatedCall], passed: Sequence[bool]) -> Figure:
    if not calls:
        return Figure(None, 0, reason="no call is rated")
    return Figure(sum(passed) / len(calls), len(calls), clustered(_groups(calls, passed)), sum(passed))


def _groups(calls: Sequence[RatedCall], passed: Sequence[bool]) -> list[tuple[int, int]]:
    groups: dict[str, list[bool]] = defaultdict(list)
    for call, one in zip(calls, passed, strict=True):
        groups[call.scenario or call.call].append(one)
    return [(sum(group), len(group)) for group in groups.values()]


def _interval(passes: float, total: float) -> Interval:
    found = wilson(min(passes, total), total)
    if found is None:
        raise ValueError(f"no interval over {total} calls")
    return found
