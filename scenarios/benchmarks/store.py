"""A folder of benchmark files: whether each is there with the pinned bytes, and writing one whole or not at all."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from scenarios.benchmarks.pins import Pin


class WrongContent(Exception):
    """Bytes that are not the pinned ones: refused, never written."""


def fault(folder: Path, pin: Pin) -> str | None:
    """Return what is wrong with a file of the folder (absent, size, hash), or None."""
    path = folder / pin.path
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return "absent"
    if size != pin.bytes:
        return f"damaged: expected {pin.bytes} bytes, got {size}"
    with path.open("rb") as file:
        got = hashlib.file_digest(file, "sha256").hexdigest()
    return None if got == pin.sha256 else f"damaged: expected sha256 {pin.sha256}, got {got}"


def verify(pin: Pin, content: bytes) -> None:
    """Raise WrongContent, naming the file, what was expected and what was got."""
    got = hashlib.sha256(content).hexdigest()
    if got != pin.sha256:
        raise WrongContent(
            f"{pin.path}: expected sha256 {pin.sha256} ({pin.bytes} bytes), got {got} ({len(content)} bytes)"
        )


def write(folder: Path, pin: Pin, content: bytes) -> None:
    """Verify and write a file; a reader sees the old file or the whole new one."""
    verify(pin, content)
    path = folder / pin.path
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_licences(folder: Path, domain: str, notices: Iterable[Path]) -> None:
    """Put the licence notices beside a domain's files: they must stay with the data."""
    target = folder / domain / "licences"
    target.mkdir(parents=True, exist_ok=True)
    for notice in notices:
        shutil.copyfile(notice, target / notice.name)
