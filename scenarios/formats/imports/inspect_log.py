"""Inspect's logs, ``.json`` and ``.eval``, of log versions 2 and 3 (``spec/trajectories.md`` 4).

A sample is a trial, its epoch the trial's number. An ``.eval`` file is read member by member, so that no more than one
sample is in memory; the header stands at its end, or, in a run that was cut off, only its start.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from scenarios.formats.imports.archive import Archive
from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.finite import FiniteNumbers
from scenarios.formats.imports.inspect_chunks import SAMPLES, Samples
from scenarios.formats.imports.inspect_sample import read_sample
from scenarios.formats.imports.records import ImportedParty, ImportedRun, ImportedTrial, Remark
from scenarios.formats.imports.redaction import redact
from scenarios.formats.imports.source import DamagedFile, chunks, fingerprint, first_values, guarded, parse

HEADER, START = "header.json", "_journal/start.json"
_HEAD = ("version", "status", "eval", "plan", "results", "stats")
_READ_OF_EVAL = frozenset({"task", "model", "created", "config", "revision"})
_KNOWN_VERSIONS = (2, 3)


def is_log(archive: Archive) -> bool:
    """Return whether a zip archive is an Inspect log."""
    return HEADER in archive.members or START in archive.members


def read_eval(path: Path) -> ImportedRun:
    """Return the run of an ``.eval`` file. DamagedFile: it is no zip, a bomb, or its header cannot be read."""
    archive = Archive(path)
    name = HEADER if HEADER in archive.members else START
    values = list(parse(FiniteNumbers()(guarded(archive.blocks(name), path)), path, ""))
    if not values or not isinstance(values[0], Mapping):
        raise DamagedFile(path, name, "expected an object", "Fetch the log again, or convert it to JSON with Inspect.")
    run = _run(path, values[0], lambda run: _members(run, archive))
    if name == START:
        run.remarks.append(Remark("warning", START, "there is no header.json: the run was cut off or is still going"))
    _check_strangers(run, archive)
    return run


def read_json(path: Path) -> ImportedRun:
    """Return the run of a ``.json`` log. DamagedFile: it cannot be read."""
    head = first_values(path, _HEAD, FiniteNumbers()(chunks(path)))
    return _run(path, head, _samples)


def _run(path: Path, head: Mapping[str, Any], read_trials: Any) -> ImportedRun:
    remarks: list[Remark] = []
    top = Fields(head, "", remarks)
    spec, config = top.under("eval"), top.under("eval").under("config")
    version = top.integer("version")
    if version not in _KNOWN_VERSIONS:
        top.remark(f"log version {version}: known are 2 and 3; read all the same", "version")
    if (status := top.text("status")) != "success":
        top.remark(f"the run's status is {(status or 'unknown')[:40]}: samples may be missing", "status")
    settings = {name: value for name, value in spec.data.items() if name.startswith("model") and name != "model"}
    return ImportedRun(
        source=fingerprint(path),
        format="inspect",
        version=None if version is None else str(version),
        domain_name=_domain(spec.text("task")),
        agent=ImportedParty(_solver(spec, top.under("plan")), spec.text("model"), redact(settings)),
        user=ImportedParty(),
        tasks={},
        read_trials=read_trials,
        timestamp=spec.text("created"),
        git_commit=spec.under("revision").text("commit"),
        num_trials=config.integer("epochs"),
        facts=redact(_facts(head, spec.data)),
        remarks=remarks,
    )


def _domain(task: str | None) -> str | None:
    """Return a task's name without the package that it comes from."""
    return task.rpartition("/")[2] if task else None


def _solver(spec: Fields, plan: Fields) -> str | None:
    named = spec.text("solver")
    steps = [step.text("solver") for step in plan.each("steps")]
    return named or " > ".join(step for step in steps if step) or None


def _facts(head: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    facts = {name: head[name] for name in ("status", "plan", "results", "stats", "error") if head.get(name) is not None}
    others = {name: value for name, value in spec.items() if name not in _READ_OF_EVAL and not name.startswith("model")}
    return {**facts, "eval": others}


def _check_strangers(run: ImportedRun, archive: Archive) -> None:
    known, samples = (HEADER, "summaries.json", "reductions.json"), Samples(archive)
    if not samples.names:
        run.remarks.append(Remark("warning", SAMPLES, "the log has no samples"))
    others = [name for name in archive.members if name not in known and not name.startswith((SAMPLES, "_journal/"))]
    for name in sorted([*others, *samples.strangers]):
        run.remarks.append(Remark("info", name[:200], "no part of the layout; not read"))


def _samples(run: ImportedRun) -> Iterator[ImportedTrial]:
    finite = FiniteNumbers()
    entries = parse(finite(chunks(run.source.path)), run.source.path, "samples.item")
    yield from _read(entries, finite, run)


def _members(run: ImportedRun, archive: Archive) -> Iterator[ImportedTrial]:
    samples = Samples(archive)
    for name in samples.names:
        finite, odd = FiniteNumbers(), list[Remark]()
        try:
            for trial in _read(samples.read(name, finite, odd), finite, run, name):
                yield replace(trial, remarks=(*odd, *trial.remarks))
        except DamagedFile as damage:
            run.refused.append(Remark("error", name[:200], f"{damage.place}: {damage.problem}. {damage.remedy}"))


def _read(entries: Iterable[Any], finite: FiniteNumbers, run: ImportedRun, member: str = "") -> Iterator[ImportedTrial]:
    seen = 0
    for index, entry in enumerate(entries):
        place = member[:200] or f"samples[{index}]"
        if not isinstance(entry, Mapping):
            run.refused.append(Remark("error", place, f"expected a sample, found {type(entry).__name__}"))
            continue
        # Counted as the text is read, a little ahead of the sample: between samples of one file it may be off by one.
        unknown, seen = finite.replaced - seen, finite.replaced
        yield read_sample(entry, place, unknown)
