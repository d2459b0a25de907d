"""What the harness adds to a model that takes 400 ms, with 16 calls at once."""

import statistics

from scenarios.models import Run, TrialEvent
from tests.bench import runs
from tests.bench.figure import Figure

MODEL_MS = 400
CALLS = 16


def measure() -> list[Figure]:
    """Compare each agent turn's response time with the time its model requests alone take."""
    names = [f"tau2_retail__{number}" for number in range(48)]
    run = runs.start(
        "tau2_retail",
        "standin-faithful",
        model=f"standin-faithful+ttft={MODEL_MS}:{{scenario}}",
        names=names,
    )
    runs.wait(run)
    ratios = agent_turn_ratios(run)
    added = (statistics.median(ratios) - 1) * 100
    conditions = (
        f"model of {MODEL_MS} ms a request, {CALLS} calls at once, {len(ratios)} agent turns; "
        f"response time over (requests x {MODEL_MS} ms), median; 95th percentile {(_p95(ratios) - 1) * 100:.0f} %"
    )
    return [Figure("added to a turn's median", added, "%", 15, conditions)]


def agent_turn_ratios(run: Run) -> list[float]:
    """Return response time over model time of every agent turn: its requests are those since the turn before."""
    ratios: list[float] = []
    requests: dict[int, int] = {}
    events = TrialEvent.objects.filter(
        trial__run=run, side="agent", kind__in=("usage.reported", "latency.measured")
    ).order_by("trial_id", "seq")
    for event in events.iterator():
        if event.kind == "usage.reported":
            requests[event.trial_id] = requests.get(event.trial_id, 0) + 1
        elif count := requests.pop(event.trial_id, 0):
            ratios.append(event.data["response_ms"] / (count * MODEL_MS))
    if not ratios:
        raise RuntimeError(f"run {run.pk} has no agent turn with a measured latency and reported usage")
    return ratios


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]
