"""The one shape of an export: what is written, by which form, and how it gets into a file."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from scenarios.formats.reference_records import RunExport, TrialExport

# Kept in memory up to here, then in a file without a name.
_IN_MEMORY = 8_000_000


class CannotExport(Exception):
    """Why nothing was written; the text names what is wrong and what to do."""


@dataclass(frozen=True)
class Export:
    """What is written: a run and the trials that were chosen of it.

    ``trials`` reads them anew on each call, one at a time; ``chosen`` says in words which they are, '' for all.
    """

    run: RunExport
    trials: Callable[[], Iterable[TrialExport]]
    chosen: str = ""

    @property
    def title(self) -> str:
        """Return the run's title, with what a reader of the file must know: rehearsal, choice, calls to come."""
        run = self.run
        parts = ["REHEARSAL" if run.is_rehearsal else "", f"only {self.chosen}" if self.chosen else ""]
        parts.append(f"{run.not_ended} of {run.trial_count} trials have not ended" if run.not_ended else "")
        notes = "; ".join(filter(None, parts))
        return f"{run.title or f'run {run.run_id}'}{f' ({notes})' if notes else ''}"


@dataclass(frozen=True)
class Format:
    """One form. ``lacks`` says in a line what it cannot hold; ``write`` puts the whole file into a binary stream.

    ``reads_calls`` False: the form holds no turn and no tool call, so that events need not be read.
    """

    name: str
    title: str
    suffix: str  # with its dot
    media_type: str
    lacks: str
    write: Callable[[Export, IO[bytes]], None]
    of: Literal["run", "call"] = "run"
    reads_calls: bool = True

    def filename(self, export: Export) -> str:
        """Return a name for the file: plain ASCII, without a path."""
        return f"run-{export.run.run_id}{self.suffix}"


def write_file(form: Format, export: Export, path: Path) -> Path:
    """Write one file and return where: ``path``, or the form's own name in it where it is a folder.

    Nothing is there until all is written, and what is there is never replaced: CannotExport.
    """
    if path.is_dir():
        path = path / form.filename(export)
    if path.exists():
        raise CannotExport(f"{path} exists already: remove it or choose another name")
    if not path.parent.is_dir():
        raise CannotExport(f"{path.parent} is no folder: make it first or choose another place")
    handle, partial = tempfile.mkstemp(prefix=".callboard-export-", dir=path.parent)
    try:
        with os.fdopen(handle, "w+b") as file:
            form.write(export, file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(partial, 0o644)
        _place(partial, path)
    finally:
        Path(partial).unlink(missing_ok=True)
    return path


def _place(partial: str, path: Path) -> None:
    """Give a finished file its name, unless another has it by now."""
    try:
        os.link(partial, path)
    except FileExistsError:
        raise CannotExport(f"{path} has come to exist meanwhile: remove it or choose another name") from None
    except OSError:  # a file system without links: a rename, which would replace, as late as can be
        if path.exists():
            raise CannotExport(f"{path} has come to exist meanwhile: remove it or choose another name") from None
        os.rename(partial, path)


@contextmanager
def spool() -> Iterator[IO[bytes]]:
    """Hold what must be counted before it may be written, on disk once it is large."""
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
        yield file


def pour(spooled: IO[bytes], file: IO[bytes]) -> None:
    """Copy all of what was held."""
    spooled.seek(0)
    shutil.copyfileobj(spooled, file)
