"""Simulations inside what an evaluation script says of them: one wrapped alone, or a list of results with its settings.

Sources: ``spec/trajectories.md`` 3.1 (wrapped) and 4 (custom evaluation, with trajectories or with scores only).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.records import (
    ForeignVerdict,
    ImportedParty,
    ImportedRun,
    ImportedTrial,
    MappedVerdict,
    Remark,
)
from scenarios.formats.imports.redaction import redact, scrub
from scenarios.formats.imports.source import fingerprint, first_values, stream
from scenarios.formats.imports.tau2 import run_of_one
from scenarios.formats.imports.tau2_simulation import read_simulation, version_of

WRAPPED, RESULTS = "simulation_run", "task_results"
_HEAD = ("source", "config", "results", "policy", "timestamp")
_READ_OF_CONFIG = frozenset(
    {
        *("domain", "agent_llm", "agent_temperature", "user_llm", "user_temperature"),
        *("max_steps", "max_errors", "seed", "num_trials"),
    }
)
# What the script may say of a simulation that says nothing of it itself.
_FILLED_IN = ("task_id", "trial", "termination_reason")
_READ_OF_RESULT = frozenset({*_FILLED_IN, "reward"})


def read_wrapped(path: Path) -> ImportedRun:
    """Return a run of one simulation that lies under ``simulation_run``."""
    return run_of_one(path, lambda run: _trials(stream(path, ""), run, WRAPPED, ""))


def read_evaluation(path: Path) -> ImportedRun:
    """Return the run of a file with ``task_results``; one without a trajectory is a verdict without a conversation."""
    remarks: list[Remark] = []
    top = Fields(first_values(path, _HEAD), "", remarks)
    config = top.under("config")
    policy = top.text("policy")
    others = {name: value for name, value in config.data.items() if name not in _READ_OF_CONFIG}
    remarks.append(Remark("info", "", "results of an evaluation script: the file has no task definitions"))
    return ImportedRun(
        source=fingerprint(path),
        format="tau2_evaluation",
        version=None,
        domain_name=config.text("domain"),
        agent=_party(config, "agent"),
        user=_party(config, "user"),
        tasks={},
        read_trials=lambda run: _trials(stream(path, f"{RESULTS}.item"), run, "trajectory", RESULTS),
        timestamp=top.text("timestamp"),
        num_trials=config.integer("num_trials"),
        max_steps=config.integer("max_steps"),
        max_errors=config.integer("max_errors"),
        seed=config.integer("seed"),
        policy=None if policy is None else scrub(policy),
        facts=redact({**top.object("results"), "source": top.object("source"), "config": others}),
        remarks=remarks,
    )


def _party(config: Fields, name: str) -> ImportedParty:
    temperature = config.number(f"{name}_temperature")
    settings = {} if temperature is None else {"llm_args": {"temperature": temperature}}
    return ImportedParty(None, config.text(f"{name}_llm"), settings)


def _trials(entries: Iterator[Any], run: ImportedRun, inner: str, of_list: str) -> Iterator[ImportedTrial]:
    for index, entry in enumerate(entries):
        place = f"{of_list}[{index}]" if of_list else ""
        if not isinstance(entry, Mapping):
            run.refused.append(Remark("error", place, f"expected a result, found {type(entry).__name__}"))
            continue
        remarks: list[Remark] = []
        outer = Fields(entry, place, remarks)
        inside = outer.object(inner)
        if not inside and not of_list:
            run.refused.append(Remark("error", inner, f"expected a simulation, found {type(entry[inner]).__name__}"))
            continue
        if inside:
            run.version = run.version or version_of(inside)
        yield _trial(outer, inside, inner, remarks)


def _trial(outer: Fields, inside: Mapping[str, Any], inner: str, remarks: list[Remark]) -> ImportedTrial:
    filled = {name: outer.data[name] for name in _FILLED_IN if inside.get(name) is None and name in outer.data}
    is_judged = bool(inside.get("reward_info"))
    if not is_judged and outer.data.get("reward") is not None:
        filled["reward_info"] = {"reward": outer.data["reward"]}
    place = f"{outer.place}.{inner}".strip(".") if inside else outer.place
    trial = read_simulation({**inside, **filled}, place, {})
    verdict = trial.verdict if is_judged else _verdict(outer, trial.verdict)
    if is_judged and (reward := outer.number("reward")) is not None and reward != verdict.reward:
        outer.remark(f"is {reward:g}, and the simulation's own is another; that counts", "reward")
    success = outer.boolean("success")
    if success is not None and verdict.mapped in ("pass", "fail") and success != (verdict.mapped == "pass"):
        outer.remark(f"is {str(success).lower()}, and its verdict is {verdict.mapped}", "success")
    told = {name: value for name, value in outer.data.items() if name != inner and name not in _READ_OF_RESULT}
    told = {name: value for name, value in told.items() if value is not None}
    facts = {**trial.facts, "result": redact(told)} if told else trial.facts
    return replace(trial, verdict=verdict, facts=facts, remarks=(*remarks, *trial.remarks))


def _verdict(outer: Fields, verdict: ForeignVerdict) -> ForeignVerdict:
    """Return the verdict of a result whose simulation has none of its own: the script's error, reward or success."""
    if error := outer.data.get("error"):
        why = f"the harness itself failed ({redact(str(error))[:200]}): that is no failure of the agent"
        return replace(verdict, mapped="excluded", why=why)
    success = outer.boolean("success")
    if verdict.reward is None and success is not None:
        mapped: MappedVerdict = "pass" if success else "fail"
        return replace(
            verdict,
            mapped=mapped,
            why="the file says whether it succeeded, and no reward",
            written={"success": success},
        )
    return verdict
