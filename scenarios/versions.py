"""What a run runs on: package versions, the commit and the pinned benchmark files."""

import hashlib
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from platform import python_version

from django.conf import settings


@cache
def versions() -> dict[str, str]:
    """Return name -> version of everything of ours and below us that can change a call; once a process."""
    found = {"python": python_version(), "git": _commit(), "benchmarks": _pins()}
    for package in ("callboard", "pipecat-ai", "django", "openai"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return {name: value for name, value in found.items() if value}


def _commit() -> str:
    """Return the commit of the checkout, marked when files differ from it; '' outside a checkout."""
    commands = (["git", "rev-parse", "HEAD"], ["git", "status", "--porcelain", "--untracked-files=no"])
    try:
        commit, changes = (
            subprocess.run(  # noqa: S603  (fixed words, no shell)
                command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True, timeout=5
            ).stdout.strip()
            for command in commands
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return f"{commit}+changes" if changes else commit


def _pins() -> str:
    """Return the SHA-256 of the list that pins every benchmark file by its hash."""
    return hashlib.sha256((settings.DATA_DIR / "benchmarks.toml").read_bytes()).hexdigest()
