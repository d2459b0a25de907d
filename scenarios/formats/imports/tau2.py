"""tau2's result files in their three layouts: one file, a directory, one simulation (``spec/trajectories.md`` 3)."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.records import (
    Format,
    ImportedParty,
    ImportedRun,
    ImportedTask,
    ImportedTrial,
    Remark,
    SourceFile,
)
from scenarios.formats.imports.redaction import redact, scrub, scrubbed
from scenarios.formats.imports.source import DamagedFile, fingerprint, fingerprint_of_all, first_values, stream
from scenarios.formats.imports.tau2_simulation import read_simulation, version_of

_HEAD = ("timestamp", "info", "tasks")
_READ_FROM_INFO = ("git_commit", "num_trials", "max_steps", "max_errors", "seed", "agent_info", "user_info")
_READ_FROM_PARTY = ("implementation", "llm")
# A simulation has at least one of these.
SIGNS = frozenset({"messages", "ticks", "reward_info", "termination_reason"})
RESULTS = ("results.json", "results.json.gz")


def read_file(path: Path) -> ImportedRun:
    """Return the run of a single results file; its simulations are read as they are asked for."""
    return _run(fingerprint(path), "tau2", path, _trials_of_file)


def read_directory(folder: Path) -> ImportedRun:
    """Return the run of a folder with ``results.json`` and ``simulations/``, packed or not.

    The hashes are over those of all its files, sorted by name. Files that are no part of the layout are remarked on.
    """
    head = head_of(folder)
    files = _simulation_files(folder)
    run = _run(fingerprint_of_all(folder, [head, *files]), "tau2_directory", head, _trials_of_directory)
    inside = folder / "simulations"
    strangers = {*folder.iterdir(), *(inside.iterdir() if inside.is_dir() else ())} - {head, inside, *files}
    run.remarks += [Remark("info", entry.name, "no part of the layout; not read") for entry in sorted(strangers)]
    _check_index(run, head, {_stem(file) for file in files})
    return run


def head_of(folder: Path) -> Path:
    """Return a folder's ``results.json``, packed or not; DamagedFile when it has none."""
    head = next((folder / name for name in RESULTS if (folder / name).is_file()), None)
    if head is None:
        remedy = "Give the folder that holds it and simulations/, or the single files."
        raise DamagedFile(folder, "folder", "there is no results.json", remedy)
    return head


def read_bare_simulation(path: Path) -> ImportedRun:
    """Return a run of one simulation that a file holds alone."""
    return run_of_one(path, lambda run: _read(stream(path, ""), "", run))


def run_of_one(path: Path, read_trials: Callable[[ImportedRun], Iterator[ImportedTrial]]) -> ImportedRun:
    """Return the run of a file with a single simulation: all but its call is unknown."""
    unknown = ImportedParty()
    return ImportedRun(
        source=fingerprint(path),
        format="tau2_simulation",
        version=None,
        domain_name=None,
        agent=unknown,
        user=unknown,
        tasks={},
        read_trials=read_trials,
        remarks=[Remark("info", "", "a single simulation: the file has no run, no models and no task definitions")],
    )


def _run(source: SourceFile, layout: Format, head: Path, read_trials: Any) -> ImportedRun:
    values = first_values(head, _HEAD)
    remarks: list[Remark] = []
    top = Fields(values, "", remarks)
    if values.get("info") is None:
        top.remark("none: domain, models and settings of the run are unknown", "info")
    info = top.under("info")
    environment = info.under("environment_info")
    return ImportedRun(
        source=source,
        format=layout,
        version=None,
        domain_name=environment.text("domain_name"),
        agent=_party(info.under("agent_info")),
        user=_party(info.under("user_info")),
        tasks=_tasks(top),
        read_trials=read_trials,
        timestamp=top.text("timestamp"),
        git_commit=info.text("git_commit"),
        num_trials=info.integer("num_trials"),
        max_steps=info.integer("max_steps"),
        max_errors=info.integer("max_errors"),
        seed=info.integer("seed"),
        policy=_scrubbed_text(environment.text("policy")),
        facts=_other_facts(info, environment),
        remarks=remarks,
    )


def _party(fields: Fields) -> ImportedParty:
    others = {name: value for name, value in fields.data.items() if name not in _READ_FROM_PARTY and value is not None}
    return ImportedParty(fields.text("implementation"), fields.text("llm"), redact(others))


def _tasks(top: Fields) -> dict[str, ImportedTask]:
    tasks: dict[str, ImportedTask] = {}
    for entry in top.each("tasks"):
        task_id = entry.label("id")
        if task_id is None:
            entry.remark("a task without an id; left out")
        elif task_id in tasks:
            entry.remark(f"a second task with the id {task_id[:80]!r}; the first counts")
        else:
            tasks[task_id] = ImportedTask(task_id, scrubbed(entry.data))
    return tasks


def _other_facts(info: Fields, environment: Fields) -> Mapping[str, Any]:
    facts = {name: value for name, value in info.data.items() if name not in (*_READ_FROM_INFO, "environment_info")}
    if environment.data.get("tool_defs"):
        facts["tool_defs"] = environment.data["tool_defs"]
    return redact({name: value for name, value in facts.items() if value is not None})  # type: ignore[no-any-return]


def _scrubbed_text(text: str | None) -> str | None:
    return None if text is None else scrub(text)


def _trials_of_file(run: ImportedRun) -> Iterator[ImportedTrial]:
    return _read(stream(run.source.path, "simulations.item"), "simulations", run)


def _trials_of_directory(run: ImportedRun) -> Iterator[ImportedTrial]:
    for file in _simulation_files(run.source.path):
        place = f"simulations/{file.name}"
        try:
            yield from _read(stream(file, ""), place, run)
        except DamagedFile as damage:
            run.refused.append(Remark("error", place, f"{damage.place}: {damage.problem}. {damage.remedy}"))


def _read(entries: Iterator[Any], place: str, run: ImportedRun) -> Iterator[ImportedTrial]:
    for index, entry in enumerate(entries):
        where = f"{place}[{index}]" if place == "simulations" else place
        if not isinstance(entry, Mapping):
            run.refused.append(Remark("error", where, f"expected a simulation, found {type(entry).__name__}"))
            continue
        if not SIGNS & entry.keys():
            found = ", ".join(map(str, list(entry)[:5]))[:100] or "nothing"
            run.refused.append(Remark("error", where, f"this is no simulation (found: {found})"))
            continue
        run.version = run.version or version_of(entry)
        yield read_simulation(entry, where, run.tasks)


def _simulation_files(folder: Path) -> list[Path]:
    names = (folder / "simulations").glob("*.json*")
    return sorted(path for path in names if path.is_file() and path.name.endswith((".json", ".json.gz")))


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".json")


def _check_index(run: ImportedRun, head: Path, names: set[str]) -> None:
    index = first_values(head, ["simulation_index"]).get("simulation_index")
    if not isinstance(index, list):
        return
    listed = {str(entry.get("id")) for entry in index if isinstance(entry, Mapping)}
    for name in sorted(listed - names):
        run.remarks.append(Remark("warning", "simulation_index", f"{name} is listed and has no file"))
    for name in sorted(names - listed):
        run.remarks.append(Remark("warning", f"simulations/{name}", "not in simulation_index; read all the same"))
