"""All that can be imported under some paths: files, folders, folders of folders, and archives of them."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from scenarios.formats.imports import inspect_log
from scenarios.formats.imports.archive import Archive, is_zip, unpack
from scenarios.formats.imports.detect import UnknownFormat, is_run_folder, open_import
from scenarios.formats.imports.records import ImportedRun
from scenarios.formats.imports.source import DamagedFile

_MAX_DEPTH = 20
# What a folder may hold that can be a run; a path that is given by name is tried whatever it is called.
_TRIED = (".json", ".json.gz", ".eval", ".zip")
_OF_THE_SYSTEM = ("._", "__MACOSX", ".DS_Store")
Kind = Literal["run", "refused", "passed_over"]


@dataclass(frozen=True)
class Found:
    """One thing under the paths: a run to be read, or why there is none.

    ``path`` is as given, ``place`` the way from there ("" for the path itself). A run of an archive can be read until
    the next one is asked for: what was unpacked is removed then.
    """

    path: Path
    place: str
    kind: Kind
    run: ImportedRun | None = None
    why: str = ""

    @property
    def name(self) -> str:
        """Return what to call it in a line of a report."""
        return f"{self.path}/{self.place}" if self.place else str(self.path)


def open_all(paths: Iterable[Path]) -> Iterator[Found]:
    """Yield every run under the paths, every refusal with place and remedy, and a line for what was passed over."""
    for path in paths:
        yield from _open(path, path, is_given=True, depth=0)


def _open(given: Path, path: Path, *, is_given: bool, depth: int, inside: str = "") -> Iterator[Found]:
    place = inside or ("" if path == given else str(path.relative_to(given)))
    try:
        if path.is_dir() and not is_run_folder(path):
            yield from _entries(given, path, depth, place, inside)
        elif path.is_dir() or is_given or path.name.lower().endswith(_TRIED):
            yield from _one(given, path, place, depth, is_given=is_given)
        else:
            yield Found(given, place, "passed_over", why="no file that can hold a run")
    except OSError as error:
        yield Found(given, place, "refused", why=f"cannot be read ({error.strerror}). Check path and rights.")


def _entries(given: Path, folder: Path, depth: int, place: str, inside: str) -> Iterator[Found]:
    if depth >= _MAX_DEPTH:
        yield Found(given, place, "passed_over", why=f"more than {_MAX_DEPTH} folders deep")
        return
    entries = sorted(folder.iterdir())
    if not entries:
        yield Found(given, place, "passed_over", why="the folder is empty")
    for entry in entries:
        within = f"{inside}/{entry.name}" if inside else ""
        if entry.name.startswith(_OF_THE_SYSTEM):
            shown = within or str(entry.relative_to(given))
            yield Found(given, shown, "passed_over", why="what an operating system lays beside files")
            continue
        if entry.is_symlink() and entry.is_dir():
            shown = within or str(entry.relative_to(given))
            yield Found(given, shown, "passed_over", why="a link to a folder; give the folder itself")
        else:
            yield from _open(given, entry, is_given=False, depth=depth + 1, inside=within)


def _one(given: Path, path: Path, place: str, depth: int, *, is_given: bool) -> Iterator[Found]:
    try:
        if path.is_file() and is_zip(path) and not inspect_log.is_log(Archive(path)):
            yield from _archive(given, path, place, depth)
            return
        run = open_import(path)
    except UnknownFormat as unknown:
        kind: Kind = "refused" if is_given else "passed_over"
        yield Found(given, place, kind, why=_said(unknown))
    except DamagedFile as damage:
        yield Found(given, place, "refused", why=_said(damage))
    else:
        yield Found(given, place, "run", run)


def _archive(given: Path, path: Path, place: str, depth: int) -> Iterator[Found]:
    """Yield what an archive holds, unpacked into a folder that goes when the caller is done with it."""
    if depth >= _MAX_DEPTH or "!" in place:
        yield Found(given, place, "passed_over", why="an archive within an archive; unpack it yourself")
        return
    with tempfile.TemporaryDirectory(prefix="callboard-import-") as name:
        folder = Path(os.path.realpath(name))
        for odd in unpack(path, folder):
            yield Found(given, f"{place}!/{odd[:200]}", "passed_over", why="a link, or a path that leads elsewhere")
        yield from _open(given, folder, is_given=False, depth=depth + 1, inside=f"{place}!")


def _said(damage: DamagedFile) -> str:
    return f"{damage.place}: {damage.problem}. {damage.remedy}"
