"""tau-bench v1: a list of runs of chat messages, with the task inside each. Sources: ``spec/trajectories.md`` 4."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.messages import read_messages
from scenarios.formats.imports.pairing import Calls
from scenarios.formats.imports.records import ImportedParty, ImportedRun, ImportedTask, ImportedTrial, Remark
from scenarios.formats.imports.redaction import redact, scrub, scrubbed
from scenarios.formats.imports.source import fingerprint, stream
from scenarios.formats.imports.verdicts import tau_bench_verdict

_READ = frozenset({"task_id", "reward", "trial", "traj", "info"})
_READ_OF_INFO = frozenset({"task", "reward_info", "user_cost"})


def read_list(path: Path) -> ImportedRun:
    """Return the runs of a list file. It names no domain, models, times or ids: those stay unknown."""
    return ImportedRun(
        source=fingerprint(path),
        format="tau_bench",
        version="v1",
        domain_name=None,
        agent=ImportedParty(),
        user=ImportedParty(),
        tasks={},
        read_trials=_trials,
        remarks=[Remark("info", "", "a tau-bench list: it names no domain, no models and no times")],
    )


def _trials(run: ImportedRun) -> Iterator[ImportedTrial]:
    for index, entry in enumerate(stream(run.source.path, "item")):
        if isinstance(entry, Mapping):
            yield _trial(entry, f"[{index}]")
        else:
            run.refused.append(Remark("error", f"[{index}]", f"expected a run, found {type(entry).__name__}"))


def _trial(data: Mapping[str, Any], place: str) -> ImportedTrial:
    remarks: list[Remark] = []
    entry = Fields(data, place, remarks)
    info = entry.under("info")
    calls = Calls()
    messages, turns = read_messages(entry.each("traj"), calls, only_first_call=True)
    if not messages:
        entry.remark("no messages", "traj")
    if repeated := calls.repeated_ids():
        entry.remark(f"{len(repeated)} ids of tool calls are used more than once, such as {repeated[0][:60]!r}")
    task_id = entry.label("task_id")
    policy = next((message.content for message in messages if message.role == "system"), None)
    return ImportedTrial(
        place=place,
        id=None,
        task_id=task_id,
        task=_task(task_id, info.object("task")),
        trial=entry.integer("trial"),
        seed=None,
        termination_reason=None,
        verdict=tau_bench_verdict(entry),
        messages=messages,
        turns=turns,
        tool_calls=tuple(calls.made),
        user_cost=info.number("user_cost"),
        policy=None if policy is None else scrub(policy),
        facts=_facts(data, info.data),
        remarks=tuple(remarks),
    )


def _task(task_id: str | None, definition: Mapping[str, Any]) -> ImportedTask | None:
    if not definition:
        return None
    if task_id is None:
        # Any name will do, as long as the same task has the same one.
        text = json.dumps(definition, sort_keys=True, default=str)
        task_id = f"unnamed-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    return ImportedTask(task_id, scrubbed(definition))


def _facts(data: Mapping[str, Any], info: Mapping[str, Any]) -> Mapping[str, Any]:
    facts = {name: value for name, value in data.items() if name not in _READ}
    inner = {name: value for name, value in info.items() if name not in _READ_OF_INFO}
    return redact({**facts, **({"info": inner} if inner else {})})  # type: ignore[no-any-return]
