"""Money: what a trial cost, from tokens and prices, and the halt of a run that has spent its cap."""

from collections.abc import Iterable, Mapping
from typing import Any

from scenarios.events import UsageReported
from scenarios.lifecycle.withdrawal import end_unheld
from scenarios.models import JudgeBatch, Judging, Run, Trial, TrialEvent

Usage = tuple[int, int]  # prompt tokens, completion tokens
_PARTY_OF = {"agent": "agent", "user": "caller"}


def cost_of(profile: Mapping[str, Any] | None, usage: Iterable[Usage]) -> float | None:
    """Return the dollars for these requests of one profile; None when its price is unknown. Stand-ins are free."""
    if profile is None or profile.get("is_standin"):
        return 0.0
    prompt_price, completion_price = profile.get("prompt_price"), profile.get("completion_price")
    if prompt_price is None or completion_price is None:
        return None
    total = sum(prompt * prompt_price + completion * completion_price for prompt, completion in usage)
    return float(total / 1_000_000)


def price_unknown(config: Mapping[str, Any]) -> list[str]:
    """Return the profiles of a run whose price is unknown."""
    return [profile["slug"] for profile in _profiles(config) if cost_of(profile, ()) is None]


def trial_cost(config: Mapping[str, Any], trial_id: int) -> float | None:
    """Return what all attempts and judgings of a trial cost; None when a price is unknown."""
    if price_unknown(config):
        return None
    spent = 0.0
    reports = TrialEvent.objects.filter(trial=trial_id, kind=UsageReported.kind).values_list("side", "data")
    for side, data in reports:
        spent += cost_of(config[_PARTY_OF[side]], [(data["prompt_tokens"], data["completion_tokens"])]) or 0.0
    # What judging again cost is the batch's: it may have been another judge, at other prices.
    judgings = Judging.objects.filter(trial=trial_id).exclude(batch__kind=JudgeBatch.Kind.REJUDGE)
    judged = judgings.values_list("prompt_tokens", "completion_tokens")
    return spent + (cost_of(config["judge"], [(prompt or 0, completion or 0) for prompt, completion in judged]) or 0.0)


def is_spent(run: Run) -> bool:
    """Return whether the run has reached its cap."""
    cap = run.config.get("limits", {}).get("max_cost")
    return cap is not None and run.cost is not None and run.cost >= cap


def lock(run_id: int, config: Mapping[str, Any]) -> None:
    """Lock the run's row ahead of its trials' when money is counted; inside a transaction."""
    if _counts(config):
        Run.objects.select_for_update().filter(pk=run_id).values_list("pk").get()


def charge(run_id: int, config: Mapping[str, Any], *trial_ids: int) -> None:
    """Bring the costs of these trials and of their run up to date and halt the run at its cap; after ``lock``.

    Calls in progress go on to their end: their money is spent, and their results count.
    """
    if not _counts(config):
        return
    run = Run.objects.get(pk=run_id)
    for trial_id in trial_ids:
        trial = Trial.objects.filter(pk=trial_id)
        before = trial.values_list("cost", flat=True).get() or 0.0
        cost = trial_cost(config, trial_id)
        trial.update(cost=cost)
        run.cost = (run.cost or 0.0) + (cost or 0.0) - before
    _spend(run, config)


def charge_canary(run_id: int, config: Mapping[str, Any], cost: float | None) -> None:
    """Add what a canary in the batch of a run cost, and halt the run at its cap; after ``lock``."""
    if _counts(config) and cost:
        run = Run.objects.get(pk=run_id)
        run.cost = (run.cost or 0.0) + cost
        _spend(run, config)


def _spend(run: Run, config: Mapping[str, Any]) -> None:
    Run.objects.filter(pk=run.pk).update(cost=run.cost)
    if is_spent(run):
        cap = config["limits"]["max_cost"]
        end_unheld(run.trials.all(), "over_budget", f"the run has spent ${run.cost:.2f} of its cap of ${cap:.2f}")


def _counts(config: Mapping[str, Any]) -> bool:
    """Return whether calls of this run cost money that is known."""
    return not price_unknown(config) and not all(profile["is_standin"] for profile in _profiles(config))


def _profiles(config: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [config[role] for role in ("agent", "caller", "judge") if config.get(role)]
