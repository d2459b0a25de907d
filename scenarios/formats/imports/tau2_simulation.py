"""One tau2 simulation of any version, text or voice, as a plain trial."""

from collections.abc import Mapping
from typing import Any

from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.messages import read_messages
from scenarios.formats.imports.pairing import Calls
from scenarios.formats.imports.records import ImportedTask, ImportedTrial, Remark
from scenarios.formats.imports.redaction import redact
from scenarios.formats.imports.ticks import read_ticks
from scenarios.formats.imports.verdicts import tau2_verdict

_READ = frozenset(
    {
        *("id", "task_id", "timestamp", "start_time", "end_time", "duration", "termination_reason", "agent_cost"),
        *("user_cost", "reward_info", "messages", "trial", "seed", "mode", "ticks", "policy"),
    }
)
# Which fields tell the versions apart, the newest first.
_SIGNS = (("agent_usage", "mid 2026"), ("mode", "1.0"))
_GYM_SIGNS = frozenset({"errors", "reasoning"})


def read_simulation(data: Mapping[str, Any], place: str, tasks: Mapping[str, ImportedTask]) -> ImportedTrial:
    """Return a simulation as a trial; what is missing or of the wrong type is unknown and remarked on."""
    remarks: list[Remark] = []
    entry = Fields(data, place, remarks)
    calls = Calls()
    if data.get("ticks"):
        messages: Any = ()
        ticks, turns = read_ticks(entry.each("ticks"), calls)
    else:
        ticks = ()
        messages, turns = read_messages(entry.each("messages"), calls)
    if not (ticks or messages):
        entry.remark("neither messages nor ticks")
    if repeated := calls.repeated_ids():
        entry.remark(f"{len(repeated)} ids of tool calls are used more than once, such as {repeated[0][:60]!r}")
    task_id, termination = entry.label("task_id"), entry.text("termination_reason")
    if task_id is None:
        entry.remark("the simulation names no task", "task_id")
    elif tasks and task_id not in tasks:
        entry.remark(f"the file has no task {task_id[:80]!r}", "task_id")
    return ImportedTrial(
        place=place,
        id=entry.label("id"),
        task_id=task_id,
        task=tasks.get(task_id) if task_id is not None else None,
        trial=entry.integer("trial"),
        seed=entry.integer("seed"),
        termination_reason=termination,
        verdict=tau2_verdict(entry.under("reward_info"), termination),
        messages=messages,
        turns=turns,
        tool_calls=tuple(calls.made),
        started_at=entry.text("start_time"),
        ended_at=entry.text("end_time"),
        duration_s=entry.number("duration"),
        agent_cost=entry.number("agent_cost"),
        user_cost=entry.number("user_cost"),
        mode=entry.text("mode"),
        policy=entry.text("policy"),
        ticks=ticks,
        facts=redact({name: value for name, value in data.items() if name not in _READ and value is not None}),
        remarks=tuple(remarks),
    )


def version_of(data: Mapping[str, Any]) -> str:
    """Return which of tau2's versions wrote a simulation, by the fields it has (``spec/trajectories.md`` 3.8)."""
    for name, version in _SIGNS:
        if name in data:
            return version
    messages = data.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    if isinstance(first, Mapping) and first.keys() >= _GYM_SIGNS:
        return "0.2 (gym branch)"
    return "0.1 to 0.2"
