"""Which format a file or folder is in, by what it holds and not by its name."""

from collections.abc import Callable, Mapping
from pathlib import Path

from scenarios.formats.imports import eva, evaluations, inspect_log, reference, tau2, tau_bench
from scenarios.formats.imports.archive import Archive, is_zip
from scenarios.formats.imports.records import ImportedRun, Remark
from scenarios.formats.imports.source import DamagedFile, top_level

_DECISIVE = frozenset({"simulations", evaluations.WRAPPED, evaluations.RESULTS, "traj", "eval"}) | tau2.SIGNS
_OF_RUN_FOLDER = frozenset({"invocations", "total_turns", "[]total_turns", "success_breakdown"})
_KNOWN = (
    "Known are tau2 results (file, folder, single simulation, evaluation), tau-bench lists, Inspect logs (.json, "
    ".eval) and the run folders of the reference system and of eva"
)


class UnknownFormat(DamagedFile):
    """A file or folder that can be read and is none of the formats."""


def open_import(path: Path) -> ImportedRun:
    """Return the run that a file or folder holds. DamagedFile: it is none, or cannot be read; says what to do."""
    if path.is_dir():
        return _read_folder(path)
    if not path.is_file():
        raise DamagedFile(path, "path", "there is no such file", "Check the path.")
    try:
        if path.stat().st_size == 0:
            raise DamagedFile(path, "byte 0", "the file is empty", "Fetch it again, or finish writing it.")
        return _read_zip(path) if is_zip(path) else _read_json(path)
    except OSError as error:
        raise DamagedFile(path, "start", f"cannot be opened ({error.strerror})", "Check path and rights.") from error


def is_run_folder(path: Path) -> bool:
    """Return whether a folder as a whole is one run, or a part of one that stands alone."""
    is_tau2 = (path / "simulations").is_dir() and any((path / name).is_file() for name in tau2.RESULTS)
    return is_tau2 or reference.is_run(path) or eva.is_run(path) or eva.is_record(path)


def _read_folder(folder: Path) -> ImportedRun:
    if reference.is_run(folder):
        return reference.read_run(folder)
    if eva.is_run(folder) or eva.is_record(folder):
        return eva.read_run(folder)
    head = tau2.head_of(folder)
    if "simulations" in top_level(head, _DECISIVE):
        return open_import(head)
    return tau2.read_directory(folder)


def _read_zip(path: Path) -> ImportedRun:
    if inspect_log.is_log(Archive(path)):
        return inspect_log.read_eval(path)
    raise UnknownFormat(
        path, "directory", "this archive is no Inspect log", "Unpack it, or give it to import_runs, which does."
    )


def _read_json(path: Path) -> ImportedRun:
    kinds = top_level(path, _DECISIVE)
    reader = _reader(path, kinds)
    if reader is None and _OF_RUN_FOLDER & kinds.keys():
        problem = "this is one file of a run folder of the reference system"
        raise UnknownFormat(path, "top level", problem, "Give the folder, or a zip archive of it.")
    if reader is None:
        keys = ", ".join(list(kinds)[:8])[:200] or "no object or list of objects"
        raise UnknownFormat(path, "top level", f"this is no format that can be imported (found: {keys})", f"{_KNOWN}.")
    return reader(path)


def _reader(path: Path, kinds: Mapping[str, str]) -> Callable[[Path], ImportedRun] | None:
    if "simulations" in kinds:
        if kinds["simulations"] not in ("start_array", "null"):
            raise DamagedFile(path, "simulations", f"expected a list, found {kinds['simulations']}", "Export it again.")
        return _read_with_folder_beside if (path.parent / "simulations").is_dir() else tau2.read_file
    if evaluations.WRAPPED in kinds:
        return evaluations.read_wrapped
    if kinds.get(evaluations.RESULTS) == "start_array":
        return evaluations.read_evaluation
    if "[]traj" in kinds:
        return tau_bench.read_list
    if kinds.get("eval") == "start_map":
        return inspect_log.read_json
    if tau2.SIGNS & kinds.keys():
        return tau2.read_bare_simulation
    if "info" in kinds and path.name in tau2.RESULTS and (path.parent / "simulations").is_dir():
        return lambda head: tau2.read_directory(head.parent)
    return None


def _read_with_folder_beside(path: Path) -> ImportedRun:
    run = tau2.read_file(path)
    text = "a folder called simulations lies beside the file: tau2 itself would read that and not what is in the file"
    run.remarks.append(Remark("warning", "simulations", text))
    return run
