"""The stand-in endpoint as a child process."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def base_url() -> Iterator[str]:
    """Start the endpoint on a free port; the first line it prints is its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bots.standins.server", "--port", "0"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.terminate()
    assert process.wait(timeout=10) is not None
