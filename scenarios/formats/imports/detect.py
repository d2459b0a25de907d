"""Which format a file or folder is in, by what it holds and not by its name."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from scenarios.formats.imports import tau2, tau_bench
from scenarios.formats.imports.records import ImportedRun, Remark
from scenarios.formats.imports.source import DamagedFile, top_level

_SIMULATION = frozenset({"messages", "ticks", "reward_info", "termination_reason"})
_DECISIVE = frozenset({"simulations", "simulation_run", "traj"}) | _SIMULATION
_KNOWN = "Known are tau2 results (file, folder, single simulation) and tau-bench lists"


def open_import(path: Path) -> ImportedRun:
    """Return the run that a file or folder holds. DamagedFile: it is none, or cannot be read; says what to do."""
    if path.is_dir():
        return _read_folder(path)
    if not path.is_file():
        raise DamagedFile(path, "path", "there is no such file", "Check the path.")
    if path.stat().st_size == 0:
        raise DamagedFile(path, "byte 0", "the file is empty", "Fetch it again, or finish writing it.")
    kinds = top_level(path, _DECISIVE)
    reader = _reader(path, kinds)
    if reader is None:
        keys = ", ".join(list(kinds)[:8])[:200] or "no object or list of objects"
        raise DamagedFile(path, "top level", f"this is no format that can be imported (found: {keys})", f"{_KNOWN}.")
    return reader(path)


def _read_folder(folder: Path) -> ImportedRun:
    head = tau2.head_of(folder)
    if "simulations" in top_level(head, _DECISIVE):
        return open_import(head)
    return tau2.read_directory(folder)


def _reader(path: Path, kinds: Mapping[str, str]) -> Callable[[Path], ImportedRun] | None:
    if "simulations" in kinds:
        if kinds["simulations"] not in ("start_array", "null"):
            raise DamagedFile(path, "simulations", f"expected a list, found {kinds['simulations']}", "Export it again.")
        return _read_with_folder_beside if (path.parent / "simulations").is_dir() else tau2.read_file
    if "simulation_run" in kinds:
        return partial(tau2.read_bare_simulation, inner="simulation_run")
    if "[]traj" in kinds:
        return tau_bench.read_list
    if _SIMULATION & kinds.keys():
        return tau2.read_bare_simulation
    if "info" in kinds and path.name in tau2.RESULTS and (path.parent / "simulations").is_dir():
        return lambda head: tau2.read_directory(head.parent)
    return None


def _read_with_folder_beside(path: Path) -> ImportedRun:
    run = tau2.read_file(path)
    text = "a folder called simulations lies beside the file: tau2 itself would read that and not what is in the file"
    run.remarks.append(Remark("warning", "simulations", text))
    return run
