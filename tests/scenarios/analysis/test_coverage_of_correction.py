"""Does the corrected interval hold the truth? 1,000 simulated runs of each regime, with a known agent and judge."""

import random
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from scenarios.analysis.correction import Correction, RatedCall, Stratum, Undecided, correct, headline

RUNS = 1000
# Share of runs that must hold the truth; a regime's own share is known to 0.7 points.
COVERAGE = 0.93
NOISE = 0.01


@dataclass(frozen=True)
class Regime:
    """An agent that passes with ``prevalence``, a judge, a run of ``calls`` of which ``labels`` are labelled.

    ``halves``: half of the labels for each ruling of the judge; otherwise they are drawn from all calls.
    """

    calls: int
    prevalence: float
    tpr: float
    tnr: float
    labels: int
    halves: bool = False


REGIMES = [
    Regime(calls, prevalence, tpr, tnr, labels, halves)
    for calls, labels in ((50, 30), (114, 60), (300, 100), (1000, 30), (1000, 300))
    for prevalence in (0.1, 0.3, 0.6, 0.9)
    for tpr, tnr in ((0.7, 0.7), (0.7, 0.99), (0.9, 0.9), (0.99, 0.7), (0.99, 0.99))
    for halves in (False, True)
]
Counts = NDArray[np.int64]


def simulated(regime: Regime, seed: int, runs: int = RUNS) -> list[tuple[Correction, float]]:
    """Return the correction of each run beside its raw rate."""
    rng = np.random.default_rng(seed)
    truth = rng.random((runs, regime.calls)) < regime.prevalence
    luck = rng.random(truth.shape)
    judge = np.where(truth, luck < regime.tpr, luck >= regime.tnr)
    passed = judge.sum(axis=1)
    failed = regime.calls - passed
    if regime.halves:
        of_failed = np.minimum(failed, np.maximum(regime.labels // 2, regime.labels - passed))
    else:
        of_failed = rng.hypergeometric(failed, passed, regime.labels)
    of_passed = np.minimum(passed, regime.labels - of_failed)
    right = drawn(rng, (judge & truth).sum(axis=1), passed, of_passed)
    missed = drawn(rng, (~judge & truth).sum(axis=1), failed, of_failed)
    rows = np.stack([passed, of_passed, right, failed, of_failed, missed], axis=1).tolist()
    return [(one(row), row[0] / regime.calls) for row in rows]


def drawn(rng: np.random.Generator, good: Counts, of: Counts, labels: Counts) -> Counts:
    return rng.hypergeometric(good, of - good, labels)


def one(row: list[int]) -> Correction:
    classes = (Stratum(True, row[0], row[1], row[2]), Stratum(False, row[3], row[4], row[5]))
    return correct(Undecided(0, 0), [stratum for stratum in classes if stratum.calls])


def covered(found: list[Correction], truth: float) -> float:
    intervals = [item.figure.interval for item in found if item.figure.interval is not None]
    return sum(interval.low <= truth <= interval.high for interval in intervals) / len(intervals)


@pytest.fixture(scope="module")
def answers() -> dict[Regime, list[Correction]]:
    """Return for each regime the runs that were not refused, where that is at least every second one.

    With fewer, only runs with an odd share of rare rulings get an answer.
    """
    found = {}
    for seed, regime in enumerate(REGIMES):
        answered = [item for item, _ in simulated(regime, seed) if item.figure.value is not None]
        if len(answered) >= RUNS / 2:
            found[regime] = answered
    return found


def test_the_corrected_interval_holds_the_truth_in_each_regime(answers: dict[Regime, list[Correction]]) -> None:
    coverage = {regime: covered(found, regime.prevalence) for regime, found in answers.items()}
    assert len(coverage) > 0.9 * len(REGIMES)
    assert {regime: share for regime, share in coverage.items() if share < COVERAGE - NOISE} == {}
    assert sum(share < COVERAGE for share in coverage.values()) < 0.05 * len(coverage)
    assert sum(coverage.values()) / len(coverage) > 0.95


def test_the_corrected_rate_has_no_lean(answers: dict[Regime, list[Correction]]) -> None:
    for regime, found in answers.items():
        values = [item.figure.value for item in found if item.figure.value is not None]
        error = np.std(values) / np.sqrt(len(values))
        selected = len(values) < 0.97 * RUNS  # the runs that were refused differ from those that were not
        assert abs(np.mean(values) - regime.prevalence) < 4.5 * error + (0.04 if selected else 0.0), regime


def test_the_raw_rate_and_the_judges_error_are_what_the_correction_removes() -> None:
    regime = Regime(calls=1000, prevalence=0.7, tpr=0.98, tnr=0.5, labels=300)
    found = simulated(regime, seed=7)
    raw = float(np.mean([rate for _, rate in found]))
    assert raw == pytest.approx(0.7 * 0.98 + 0.3 * 0.5, abs=0.005)
    assert covered([item for item, _ in found], 0.7) > COVERAGE
    # An interval around the raw rate alone would never have held the truth.
    assert covered([correct(Undecided(1000, round(rate * 1000)), ()) for _, rate in found], 0.7) == 0.0


def test_more_labels_narrow_it_down_to_the_run_itself() -> None:
    widths = []
    for labels in (30, 60, 100, 300, 1000):
        found = simulated(Regime(1000, 0.6, 0.9, 0.9, labels), seed=3, runs=50)
        intervals = [item.figure.interval for item, _ in found if item.figure.interval]
        widths.append(sum(interval.half_width for interval in intervals) / len(intervals))
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == pytest.approx(0.0303, abs=0.0005)  # Wilson of 600 in 1000


def repeated_run(rng: random.Random, scenarios: int, trials: int, labels: int) -> list[RatedCall]:
    """Return a run with repetitions: scenarios differ in their chance, two of three calls hang on the judge.

    The judge passes what it should not in two of ten cases; labels are drawn by lot from all judged calls.
    """
    calls, truth = [], {}
    for scenario in range(scenarios):
        chance = rng.betavariate(1.5, 0.5)  # 0.75 on average, most scenarios near always or near never
        for trial in range(trials):
            name = f"{scenario}#{trial}"
            truth[name] = rng.random() < chance
            judged = rng.random() < 2 / 3
            ruled = truth[name] if not judged else rng.random() < (0.95 if truth[name] else 0.2)
            calls.append(RatedCall(name, ruled, judged, scenario=str(scenario)))
    chosen = set(rng.sample([call.call for call in calls if call.judged], labels))
    return [
        call._replace(people="pass" if truth[call.call] else "fail", sampled=True) if call.call in chosen else call
        for call in calls
    ]


def test_it_holds_the_truth_with_repeated_scenarios_and_calls_that_no_judge_decides() -> None:
    rng = random.Random(11)
    held = alone = 0
    for _ in range(400):
        calls = repeated_run(rng, scenarios=50, trials=6, labels=80)
        as_one = [call._replace(scenario="") for call in calls]
        for clustered, given in ((True, calls), (False, as_one)):
            interval = headline(given).corrected.figure.interval
            holds = interval is not None and interval.low <= 0.75 <= interval.high
            held, alone = held + (clustered and holds), alone + (not clustered and holds)
    assert held / 400 > COVERAGE
    assert alone / 400 < 0.9  # trials taken for independent promise too much
