"""Rows for tests and for looking at pages: runs with trials in any state, made without lanes or models."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import cycle, islice, product
from typing import Any
from uuid import uuid4

from django.utils import timezone

from scenarios.launch import FrozenProfile, Limits, RunConfig, ScenarioRef
from scenarios.models import Profile, Run, Scenario, SignalResult, Trial
from scenarios.scoring.results import OUTCOMES

STATUS_OF_OUTCOME = {"cancelled": "cancelled", "over_budget": "cancelled", "infra_error": "error"}
BREAKDOWNS: dict[str, dict[str, list[str]]] = {
    "pass": {"passed": ["db_state_match", "clean_exit"], "excluded": ["is_action_match"]},
    "fail": {"passed": ["clean_exit"], "failed": ["db_state_match"], "excluded": ["is_action_match"]},
    "stalled": {"failed": ["clean_exit"]},
    "judge_error": {"passed": ["db_state_match", "clean_exit"], "undecided": ["nl_assertion"]},
    "unscored": {"passed": ["db_state_match", "clean_exit"], "undecided": ["nl_assertion"]},
}


def make_profile(slug: str = "careful", kind: str = "agent", **fields: Any) -> Profile:
    """Make a profile of a model at a loopback address."""
    defaults = {"model": "small-model", "base_url": "http://127.0.0.1:9/v1", "key_env": "TOY_KEY"}
    return Profile.objects.create(slug=slug, kind=kind, **{**defaults, **fields})


def make_scenario(name: str = "toy__1", domain: str = "toy", **fields: Any) -> Scenario:
    """Make or find the row of a scenario that no code registers."""
    defaults: dict[str, Any] = {
        "domain": domain,
        "title": f"Scenario {name}",
        "fingerprint": "f" * 64,
        "success_signals": ["db_state_match", "clean_exit"],
        "search_text": name.lower(),
    }
    return Scenario.objects.get_or_create(name=name, defaults={**defaults, **fields})[0]


def make_config(names: Sequence[str], trials: int = 1, domain: str = "toy", **fields: Any) -> RunConfig:
    """Return a configuration whose parties are ordinary models, so that the run is no rehearsal."""

    def profile(kind: Any, slug: str) -> FrozenProfile:
        return FrozenProfile(slug=slug, kind=kind, model="small-model", base_url="http://127.0.0.1:9/v1")

    defaults: dict[str, Any] = {
        "agent": profile("agent", "careful"),
        "caller": profile("caller", "patient"),
        "judge": profile("judge", "strict"),
        "limits": Limits(),
    }
    refs = [ScenarioRef(name=name, fingerprint="f" * 64) for name in names]
    return RunConfig(domain=domain, scenarios=refs, trials=trials, **{**defaults, **fields})


def make_run(
    scenarios: int | Sequence[Scenario] = 3,
    trials: int = 1,
    outcomes: Sequence[str] = (),
    *,
    domain: str = "toy",
    config: dict[str, Any] | None = None,
    **fields: Any,
) -> Run:
    """Make a run with all its trials; ``outcomes`` (outcomes or statuses) repeat over them, queued without any."""
    if isinstance(scenarios, int):
        scenarios = make_scenarios(scenarios, domain)
    run = _bare_run(scenarios, trials, domain, config, **fields)
    states = islice(cycle(outcomes or ("queued",)), run.trial_count)
    places = product(range(1, trials + 1), scenarios)
    rows = [
        new_trial(run, scenario, number, state, position=position)
        for position, ((number, scenario), state) in enumerate(zip(places, states, strict=True))
    ]
    Trial.objects.bulk_create(rows, batch_size=500)
    return run


def _bare_run(
    scenarios: Sequence[Scenario], trials: int, domain: str, config: dict[str, Any] | None = None, **fields: Any
) -> Run:
    frozen = make_config([s.name for s in scenarios], trials, domain, **(config or {}))
    facts = {
        "config": frozen.stored(),
        "fingerprint": frozen.fingerprint,
        "trial_count": len(scenarios) * trials,
        "is_rehearsal": frozen.is_rehearsal,
    }
    return Run.objects.create(domain=domain, **{**facts, **fields})


def make_scenarios(count: int, domain: str = "toy") -> list[Scenario]:
    """Make ``count`` scenarios ``toy__1``, ``toy__2``..."""
    Scenario.objects.bulk_create(
        (
            Scenario(
                name=f"{domain}__{number}",
                domain=domain,
                position=number,
                fingerprint="f" * 64,
                success_signals=["db_state_match", "clean_exit"],
                search_text=f"{domain}__{number}",
            )
            for number in range(1, count + 1)
        ),
        batch_size=500,
        ignore_conflicts=True,
    )
    return list(Scenario.objects.filter(domain=domain, position__range=(1, count)))


def add_signals(run: Run) -> None:
    """Give the run's trials the signal results that their breakdowns tell of."""
    results = [
        SignalResult(trial=trial, signal=signal, state=state, is_gating=state != "excluded", value=state == "passed")
        for trial in run.trials.all()
        for state, signals in trial.breakdown.items()
        for signal in signals
    ]
    SignalResult.objects.bulk_create(results, batch_size=1000)


def new_trial(run: Run, scenario: Scenario, number: int = 1, state: str = "queued", **fields: Any) -> Trial:
    """Return an unsaved trial; ``state`` is an outcome, or a status of a trial that has none yet."""
    now = timezone.now()
    facts: dict[str, Any] = {}
    if state in OUTCOMES:
        facts = {
            "status": STATUS_OF_OUTCOME.get(state, "done"),
            "outcome": state,
            "other_outcome": state,
            "outcome_reason": "" if state == "pass" else f"made {state} by a factory",
            "started_at": now - timedelta(seconds=100),
            "ended_at": now,
            "duration_ms": 61_000 + 1000 * number,
            "turn_count": 12,
            "response_p50_ms": 850.0,
            "attempts": 1,
            "last_seq": 30,
            "end_reason": "end_tool",
            "error_kind": "llm_http_429" if state == "infra_error" else "",
            "breakdown": BREAKDOWNS.get(state, {}),
        }
    elif state != "queued":
        facts = {"status": state, "started_at": now, "heartbeat_at": now, "attempts": 1, "lease": uuid4()}
    return Trial(run=run, scenario=scenario, number=number, **{**facts, **fields})


def make_trial(
    run: Run | None = None, scenario: Scenario | None = None, number: int = 1, state: str = "pass", **fields: Any
) -> Trial:
    """Make one trial, with a run of its own when none is given."""
    scenario = scenario or make_scenario()
    trial = new_trial(run or _bare_run([scenario], 1, scenario.domain), scenario, number, state, **fields)
    trial.save()
    return trial
