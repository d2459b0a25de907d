"""Judged calls with people's labels in bulk, for tests and measurements of what is computed from them."""

import random
from collections.abc import Sequence

from scenarios.models import JudgeVersion, Review, Run, SignalResult, Trial, Verdict
from tests.factories import make_run

CLAIMS = (
    "Agent should tell the user the total refund amount is $918.43.",
    "Agent should tell the user the keyboard backlight is white.",
    "Agent should cancel the pending order.",
    "Agent should not cancel the order.",
)
RATERS = ("ann", "ben", "cid")


def judge_version(letter: str = "j") -> JudgeVersion:
    """Make or find a version of a judge."""
    facts = {"profile": "strict", "model": "small-model"}
    return JudgeVersion.objects.get_or_create(fingerprint=letter * 64, defaults=facts)[0]


def judged_run(
    scenarios: int,
    trials: int = 1,
    claims: int = 2,
    *,
    judge: JudgeVersion | None = None,
    fail_share: float = 0.3,
    seed: int = 1,
    domain: str = "toy",
) -> Run:
    """Make a run whose calls a judge alone decides: a call passes when all its claims do."""
    lot, judge = random.Random(seed), judge or judge_version()
    run = make_run(scenarios, trials, ["fail"], domain=domain)
    rows = list(run.trials.order_by("pk"))
    verdicts, signals = [], []
    for trial in rows:
        rulings = [lot.random() > fail_share for _ in range(claims)]
        trial.outcome = trial.other_outcome = "pass" if all(rulings) else "fail"
        state = "passed" if all(rulings) else "failed"
        signals.append(SignalResult(trial=trial, signal="nl_assertion", state=state, is_gating=True))
        for index, ruling in enumerate(rulings, 1):
            name = f"{trial.pk:x}.{index}"
            verdicts.append(
                Verdict(
                    trial=trial,
                    signal="nl_assertion",
                    index=index,
                    claim=CLAIMS[(trial.position + index) % len(CLAIMS)],
                    passed=ruling,
                    reason="because",
                    judge=judge,
                    fingerprint=f"{trial.pk:032x}{index:032x}",
                    subject=name,
                )
            )
    Trial.objects.bulk_update(rows, ["outcome", "other_outcome"], batch_size=400)
    SignalResult.objects.bulk_create(signals, batch_size=500)
    Verdict.objects.bulk_create(verdicts, batch_size=500)
    return run


def label(
    run: Run,
    raters: Sequence[str] = RATERS,
    *,
    agree: float = 0.85,
    unsure: float = 0.05,
    toward: float = 0.3,
    seed: int = 2,
    share: float = 1.0,
) -> None:
    """Let people rule blind and after the reveal: each agrees with the judge, or comes over to it, by chance."""
    lot = random.Random(seed)
    rows = []
    for verdict in Verdict.objects.filter(trial__run=run).order_by("pk"):
        if lot.random() >= share:
            continue
        own, other = ("pass", "fail") if verdict.passed else ("fail", "pass")
        for rater in raters:
            blind = "cannot_tell" if lot.random() < unsure else own if lot.random() < agree else other
            final = own if blind != own and lot.random() < toward else blind
            for stage, ruling in (("blind", blind), ("revealed", final)):
                rows.append(
                    Review(verdict=verdict, rater=rater, stage=stage, ruling=ruling, fingerprint=verdict.fingerprint)
                )
    Review.objects.bulk_create(rows, batch_size=500)
