"""The run folder of the reference system (``spec/reference-system.md`` 7), and our own export of it.

Each scenario has a folder with ``metrics.json``; a call without one was not finished. What only our export holds (the
trial's number, the outcome, the record of events) is read where it is there.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.folder import Folder
from scenarios.formats.imports.records import (
    ImportedAudio,
    ImportedParty,
    ImportedRun,
    ImportedTask,
    ImportedTrial,
    Remark,
)
from scenarios.formats.imports.redaction import redact, scrub, scrubbed
from scenarios.formats.imports.reference_conversation import read_conversation
from scenarios.formats.imports.reference_verdict import reference_verdict
from scenarios.formats.imports.source import DamagedFile, fingerprint_of_all, stream
from scenarios.sides import Side

HEAD = ("run_args.json", "all_metrics.json")
METRICS = "metrics.json"
_OF_TRIAL = (
    *(METRICS, "judge_result.json", "final_agent_response.json", "final_scenario_db_hash.txt", "conversation_log.txt"),
    *("conversation_log.seglst.json", "conversation_log.wav", "bridge_log.txt", "trace_metrics.json"),
    *("bot_logs_agent/llm_context.json", "bot_logs_user/llm_context.json", "scenario_config/metadata.json"),
    *("scenario_config/reference_answer.json", "scenario_config/agent_prompt.txt"),
)
_KILLED = re.compile(r"\.killed\.")
_HASH_LINE = re.compile(r"(db_hash|user_db_hash):\s*([0-9a-f]{64})\s*\Z")
# What is kept elsewhere in the trial.
_READ_OF_METRICS = frozenset({"turns", "scenario_name"})
# Flags that change how calls are scored: a run whose invocations differ in them has two rules.
_SCORING_FLAGS = ("strict_match", "min_agent_turns", "judge_model", "judge_threshold", "judge_temperature", "duration")


def is_run(folder: Path) -> bool:
    """Return whether a folder is a run of the reference system, or the folder of one of its scenarios."""
    there = Folder(folder)
    if any(there.find(name) for name in HEAD):
        return True
    return is_trial(folder) or any(is_trial(one.root) for one in there.folders())


def is_trial(folder: Path) -> bool:
    """Return whether a folder holds one call of the reference system."""
    there = Folder(folder)
    logs = ("conversation_log.txt", "conversation_log.seglst.json", "bridge_log.txt", "final_scenario_db_hash.txt")
    return there.find(METRICS) is not None and any(there.find(name) for name in logs)


def read_run(root: Path) -> ImportedRun:
    """Return the run of a folder; its calls are read as they are asked for. DamagedFile: a file cannot be opened."""
    remarks: list[Remark] = []
    folder = Folder(root)
    arguments = Fields(folder.object("run_args.json", remarks), "run_args.json", remarks)
    invocations = list(arguments.each("invocations"))
    if not invocations:
        remarks.append(Remark("warning", "run_args.json", "no invocation that can be read: models are unknown"))
    parsed = invocations[-1].under("parsed_args") if invocations else Fields({}, "run_args.json", remarks)
    ours = parsed.under("callboard")
    _check_resumes(invocations, remarks)
    calls = _calls(folder, remarks)
    return ImportedRun(
        source=fingerprint_of_all(root, _files(folder, calls)),
        format="reference",
        version="Callboard's export" if ours.data else None,
        domain_name=ours.text("domain") or parsed.text("domain") or None,
        agent=_party(ours, "agent"),
        user=_party(ours, "caller"),
        tasks={},
        read_trials=lambda run: _read_trials(run, folder),
        timestamp=invocations[0].text("started_at") if invocations else None,
        num_trials=ours.integer("trials"),
        # Command lines are not kept: a key stands in them in clear.
        facts=redact({"parsed_args": [one.object("parsed_args") for one in invocations]}),
        remarks=remarks,
    )


def _party(ours: Fields, name: str) -> ImportedParty:
    party = ours.under(name)
    others = {key: value for key, value in party.data.items() if key not in ("slug", "model")}
    return ImportedParty(party.text("slug"), party.text("model"), redact(others))


def _check_resumes(invocations: list[Fields], remarks: list[Remark]) -> None:
    seen = [one.object("parsed_args") for one in invocations]
    for name in _SCORING_FLAGS:
        if len({repr(arguments.get(name)) for arguments in seen}) > 1:
            remarks.append(Remark("warning", "run_args.json", f"{name} changed when the run was resumed"))


def _calls(folder: Folder, remarks: list[Remark] | None = None) -> list[Folder]:
    """Return the folders of calls; what is none of them is remarked on."""
    if is_trial(folder.root):
        return [folder]
    found = []
    for one in folder.folders():
        if _KILLED.search(one.root.name):
            text = "a call that was killed and held again; not read"
        elif any(one.find(name) for name in _OF_TRIAL):
            found.append(one)
            continue
        else:
            text = "no folder of a call; not read"
        if remarks is not None:
            remarks.append(Remark("info", one.place, text))
    return found


def _files(folder: Folder, calls: list[Folder]) -> list[Path]:
    found = [folder.find(name) for name in HEAD]
    found += [call.find(name) for call in calls for name in _OF_TRIAL]
    return [path for path in found if path is not None]


def _read_trials(run: ImportedRun, folder: Folder) -> Iterator[ImportedTrial]:
    calls = _calls(folder)
    for call in calls:
        place = call.place or "scenario"
        if call.find(METRICS) is None:
            text = "no metrics.json: the call was not held to its end, or is being held"
            run.refused.append(Remark("error", place, text))
            continue
        remarks: list[Remark] = []
        metrics = call.object(METRICS, remarks, "error")
        if metrics:
            yield _trial(call, place, Fields(metrics, call.placed(METRICS), remarks), remarks)
        else:
            run.refused += remarks or [Remark("error", call.placed(METRICS), "it is empty")]
    yield from _without_folder(run, folder, {call.root.name for call in calls})


def _without_folder(run: ImportedRun, folder: Folder, read: set[str]) -> Iterator[ImportedTrial]:
    """Yield the calls that only ``all_metrics.json`` has: of those nothing but the metrics is known."""
    path = folder.find("all_metrics.json")
    if path is None:
        return
    try:
        for index, entry in enumerate(stream(path, "item")):
            place = f"all_metrics.json[{index}]"
            if not isinstance(entry, Mapping):
                run.refused.append(Remark("error", place, f"expected an object, found {type(entry).__name__}"))
                continue
            remarks: list[Remark] = []
            metrics = Fields(entry, place, remarks)
            name = (metrics.text("scenario_directory") or metrics.text("scenario_name") or "").rstrip("/")
            if re.split(r"[/\\]", name)[-1] not in read:
                metrics.remark("no folder of this call is there: nothing but its metrics is known")
                yield _trial(Folder(folder.root / ".none", place), place, metrics, remarks)
    except DamagedFile as damage:
        run.remarks.append(Remark("warning", "all_metrics.json", f"{damage.place}: {damage.problem}; rest not read"))


def _trial(folder: Folder, place: str, metrics: Fields, remarks: list[Remark]) -> ImportedTrial:
    name = metrics.text("scenario_name") or None
    if name is None:
        metrics.remark("the call names no scenario", "scenario_name")
    ours = metrics.under("callboard")
    config = folder.under("scenario_config")
    metadata = Fields(config.object("metadata.json", remarks), config.placed("metadata.json"), remarks)
    answer = config.json("reference_answer.json", remarks)
    judge = Fields(folder.object("judge_result.json", remarks), folder.placed("judge_result.json"), remarks)
    talk = read_conversation(folder, metrics, remarks)
    number = ours.integer("trial")
    return ImportedTrial(
        place=place,
        id=None,
        task_id=name,
        task=_task(name, metadata.data, answer),
        trial=None if number is None else number - 1,
        seed=None,
        termination_reason=metrics.text("stop_reason"),
        verdict=reference_verdict(metrics, judge, metadata),
        messages=talk.messages,
        turns=talk.turns,
        tool_calls=talk.tools,
        duration_s=metrics.number("duration_seconds"),
        policy=_policy(config, talk.policy, remarks),
        domain_name=metadata.text("domain") or (name.partition("__")[0] if name and "__" in name else None),
        audio=_audio(folder, remarks),
        end_hashes=_end_hashes(folder, remarks),
        facts=_facts(folder, metrics, judge, metadata, remarks),
        remarks=tuple(remarks),
    )


def _task(name: str | None, metadata: Mapping[str, Any], answer: Any) -> ImportedTask | None:
    if not metadata and answer is None:
        return None
    definition = {"scenario_config": scrubbed(metadata), "reference_answer": scrubbed(answer)}
    return ImportedTask(name or str(metadata.get("name") or ""), definition)


def _policy(config: Folder, of_context: str | None, remarks: list[Remark]) -> str | None:
    text = config.text("agent_prompt.txt", remarks)
    return scrub(text) if text is not None else of_context


def _audio(folder: Folder, remarks: list[Remark]) -> tuple[ImportedAudio, ...]:
    # Left what the caller said, right what the agent said.
    sides: tuple[Side, Side] = ("user", "agent")
    return folder.audio("conversation_log.wav", sides, remarks)


def _end_hashes(folder: Folder, remarks: list[Remark]) -> dict[Side, str]:
    text = folder.text("final_scenario_db_hash.txt", remarks) or ""
    found = {match[1]: match[2] for line in text.splitlines() if (match := _HASH_LINE.match(line.strip()))}
    names: Mapping[str, Side] = {"db_hash": "agent", "user_db_hash": "user"}
    return {names[name]: value for name, value in found.items()}


def _facts(
    folder: Folder, metrics: Fields, judge: Fields, metadata: Fields, remarks: list[Remark]
) -> Mapping[str, Any]:
    facts: dict[str, Any] = {
        "metrics": {name: value for name, value in metrics.data.items() if name not in _READ_OF_METRICS}
    }
    if judge.data:
        facts["judge_result"] = judge.data
    if response := folder.json("final_agent_response.json", remarks):
        facts["final_agent_response"] = response
    if metadata.data:
        facts["scenario_config"] = metadata.data
    if trace := folder.json("trace_metrics.json", remarks):
        facts["trace_metrics"] = redact(trace)
    return scrubbed(facts)  # type: ignore[no-any-return]
