"""Gold replay: reference actions run on a fresh database, giving expected state and recorded actions in one pass."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from scenarios import domains
from scenarios.domains.base import Domain, Fidelity, Refusal, ScenarioSpec, Signal, ToolResult
from scenarios.domains.environment import Environment
from scenarios.domains.predicates import evaluate
from scenarios.sides import Side
from scenarios.state.overlay import Overlay


@dataclass(frozen=True)
class Health:
    """What is odd about a scenario itself, shown on its page and never hidden from a rate."""

    failing_reads: tuple[int, ...]  # positions of gold calls that fail: harmless
    failing_writes: tuple[int, ...]  # positions of gold calls that fail: the gold may be broken
    gold_equals_seed: bool  # doing nothing reaches the expected state
    passes_by_inaction: bool  # ... and nothing else would stop a do-nothing agent that exits cleanly
    duplicate_of: str | None  # an earlier scenario with the same caller brief, initialisation and gold
    true_at_start: tuple[int, ...] = ()  # positions of predicates that hold before the first word
    cannot_start: str = ""  # why the scenario's start cannot be set up: no call of it can be held


@dataclass(frozen=True)
class Gold:
    """The result of one replay; cached per process, so the overlays must not be written."""

    databases: Mapping[Side, Overlay]
    start_hashes: Mapping[Side, str]
    expected_hashes: Mapping[Side, str]
    # Every gold call in order, reads included; ``changes`` are those of both sides, the sync after it included.
    calls: tuple[ToolResult, ...]
    reference_actions: tuple[dict[str, Any], ...]
    health: Health
    # As the call begins, after initialisation and the first sync: what a three-way diff starts from.
    start_databases: Mapping[Side, Overlay] = field(default_factory=dict)
    # The expected databases came with the scenario: there is no answer of reference that actions could match.
    is_shipped: bool = False


_cache: dict[tuple[Domain, str, Fidelity], Gold] = {}
_firsts: dict[Domain, dict[str, str]] = {}


def gold_replay(spec: ScenarioSpec, fidelity: Fidelity = "canonical") -> Gold:
    """Replay a scenario's gold actions (once per process and fidelity)."""
    domain = domains.load()[spec.domain]
    key = (domain, spec.fingerprint, fidelity)
    if key not in _cache:
        _cache[key] = _replay(domain, spec, fidelity)
    return _cache[key]


def _replay(domain: Domain, spec: ScenarioSpec, fidelity: Fidelity) -> Gold:
    try:
        environment = Environment(domain, spec, fidelity)
    except Refusal as refusal:
        return _without_start(domain, spec, str(refusal))
    start = {side: database.snapshot() for side, database in environment.databases.items()}
    calls = []
    for action in spec.gold_actions:
        call = environment.call_tool(action.side, action.tool, dict(action.arguments))
        # What a call brought about on the other side is its doing as well: a diff names it as the cause.
        calls.append(replace(call, changes=(*call.changes, *environment.sync())))
    shipped = domain.expected_databases(spec)
    expected = shipped or environment.databases
    start_hashes = {side: database.hash for side, database in start.items()}
    expected_hashes = {side: database.hash for side, database in expected.items()}
    equals_seed = expected_hashes == start_hashes
    held = tuple(
        position
        for position, assertion in enumerate(spec.db_assertions)
        if evaluate(assertion, domain.predicates(), start).passed
    )
    return Gold(
        databases=expected,
        start_hashes=start_hashes,
        expected_hashes=expected_hashes,
        calls=tuple(calls),
        reference_actions=tuple(environment.actions),
        health=Health(
            *_failures(domain, calls),
            gold_equals_seed=equals_seed,
            passes_by_inaction=_passes_by_inaction(spec, held, environment.actions, equals_seed),
            duplicate_of=_duplicate_of(domain, spec),
            true_at_start=held,
        ),
        start_databases=start,
        is_shipped=shipped is not None,
    )


def _without_start(domain: Domain, spec: ScenarioSpec, reason: str) -> Gold:
    """Return what is known of a scenario whose start cannot be set up: nothing but the untouched databases."""
    seeds = {side: Overlay(seed) for side, seed in domain.seeds(spec).items()}
    hashes = {side: database.hash for side, database in seeds.items()}
    answer = {"status": "error", "error_type": "cannot_start", "message": reason}
    return Gold(
        databases=seeds,
        start_hashes=hashes,
        expected_hashes=hashes,
        calls=tuple(
            ToolResult(action.tool, action.side, ok=False, value=None, for_model=answer, error="cannot_start")
            for action in spec.gold_actions
        ),
        reference_actions=(),
        health=Health((), (), False, False, _duplicate_of(domain, spec), cannot_start=reason),
        start_databases=seeds,
    )


def _failures(domain: Domain, calls: list[ToolResult]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the positions of the reads and of the writes that failed."""
    writes = {tool.model_name() for side in ("agent", "user") for tool in domain.tools(side) if tool.kind == "write"}
    failed = [(position, call.tool in writes) for position, call in enumerate(calls) if not call.ok]
    return (
        tuple(position for position, is_write in failed if not is_write),
        tuple(position for position, is_write in failed if is_write),
    )


def _passes_by_inaction(
    spec: ScenarioSpec, held: tuple[int, ...], actions: list[dict[str, Any]], equals_seed: bool
) -> bool:
    """Return whether an agent that calls nothing but the end of the conversation passes every gating signal."""
    holds: dict[Signal, Callable[[], bool]] = {
        "db_state_match": lambda: equals_seed,
        "db_state_assertion": lambda: len(held) == len(spec.db_assertions),
        "is_action_match": lambda: not actions,
        "nl_assertion": lambda: not spec.nl_assertions,
        "judge_passed": lambda: False,
        "clean_exit": lambda: True,
    }
    return all(holds[signal]() for signal in spec.success_signals)


def _duplicate_of(domain: Domain, spec: ScenarioSpec) -> str | None:
    if domain not in _firsts:
        firsts: dict[str, str] = {}
        for other in domain.scenarios():
            firsts.setdefault(_content(other), other.name)
        _firsts[domain] = firsts
    first = _firsts[domain].get(_content(spec), spec.name)
    return first if first != spec.name else None


def _content(spec: ScenarioSpec) -> str:
    steps = [*map(asdict, spec.init_actions), *map(asdict, spec.gold_actions)]
    # The prefix of the name stands for the policy: the same task under another one is no duplicate.
    return json.dumps([spec.name.partition("__")[0], asdict(spec.caller), steps], sort_keys=True)
