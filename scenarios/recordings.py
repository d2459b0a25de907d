"""Where the recording of a call is kept: found from run, trial and attempt alone, so no table knows of it."""

import re

from django.core.files.storage import default_storage

_UNSAFE = re.compile(r"[^\w.-]")


def recording_name(run_id: int, scenario: str, number: int, attempt: int) -> str:
    """Return the storage name of an attempt's recording."""
    return f"{recording_folder(run_id)}/{_UNSAFE.sub('_', scenario)}/{number}/attempt{attempt}.wav"


def recording_folder(run_id: int) -> str:
    """Return where all recordings of a run are."""
    return f"calls/{run_id}"


def peaks_name(recording: str) -> str:
    """Return the storage name of a recording's outline."""
    return f"{recording.removesuffix('.wav')}.peaks.json"


def is_recorded(recording: str) -> bool:
    """Return whether there is a recording under a storage name."""
    return default_storage.exists(recording)
