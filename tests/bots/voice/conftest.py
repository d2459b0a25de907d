"""Where the recordings of a test go, and how to look at them."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def recordings(tmp_path: Path, settings: Any) -> Path:
    """Keep recordings in the test's own folder; return where those of run 1 are."""
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}},
    }
    return tmp_path / "calls"
