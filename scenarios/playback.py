"""The recording of a trial as pages and exports find it, in whatever storage it lies."""

import json
import logging
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from django.core.files.storage import FileSystemStorage, default_storage

from scenarios.models import Trial
from scenarios.outline import NoRecording, outline_of
from scenarios.recordings import peaks_name, recording_name

log = logging.getLogger(__name__)


def recording_of(trial: Trial, attempt: int | None = None) -> str:
    """Return the storage name of a trial's recording; without ``attempt``, of the attempt that counts."""
    return recording_name(trial.run_id, trial.scenario.name, trial.number, attempt or max(1, trial.attempts))


def open_recording(trial: Trial, attempt: int | None = None) -> IO[bytes] | None:
    """Return the recording of an ended trial (``attempt``: of another than counts) to read from; None without one."""
    name = recording_of(trial, attempt)
    return default_storage.open(name) if default_storage.exists(name) else None


def path_of(recording: str) -> Path | None:
    """Return where a recording grows as a file; None in a storage that is no folder and gets it at the end."""
    return Path(default_storage.path(recording)) if isinstance(default_storage, FileSystemStorage) else None


def outline(recording: str) -> dict[str, Any] | None:
    """Return the outline of a finished recording; None without a recording, or with one that cannot be read.

    The outline that was stored beside it is taken, else it is made: a call that died leaves a recording alone.
    """
    if not default_storage.exists(recording):
        return None
    stored = peaks_name(recording)
    if default_storage.exists(stored):
        with default_storage.open(stored) as file:
            try:
                found: Any = json.load(file)
            except ValueError:
                log.warning("the outline %s is damaged; it is made anew", stored)
            else:
                return found if isinstance(found, dict) and found.get("version") == 2 else None
    return _made(recording, default_storage.size(recording))


@lru_cache(maxsize=32)
def _made(recording: str, size: int) -> dict[str, Any] | None:
    """Make the outline of a recording of this size: about a second for a quarter of an hour."""
    with default_storage.open(recording) as file:
        try:
            return outline_of(file)
        except NoRecording as problem:
            log.warning("recording %s (%d bytes) cannot be read: %s", recording, size, problem)
            return None
