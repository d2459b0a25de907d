"""A run's folder: its files by name, packed or not, each read within limits; damage becomes a remark."""

import wave
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.finite import FiniteNumbers
from scenarios.formats.imports.records import ImportedAudio, Remark, Severity
from scenarios.formats.imports.source import DamagedFile, guarded, parse, unpacked
from scenarios.sides import Side

# The largest file of a call that is read whole. Known ones stay below 30 MB.
MAX_WHOLE = 256 * 1024 * 1024
_LONGEST_LINE = 4 * 1024 * 1024


class Folder:
    """One folder; ``place`` is its path inside the run, which remarks name."""

    def __init__(self, root: Path, place: str = "") -> None:
        self.root = root
        self.place = place

    def under(self, name: str) -> "Folder":
        """Return a folder inside this one."""
        return Folder(self.root / name, self.placed(name))

    def placed(self, name: str) -> str:
        """Return a file's path inside the run."""
        return f"{self.place}/{name}" if self.place else name

    def find(self, name: str) -> Path | None:
        """Return a file, under its name or packed as ``name.gz``; None when there is none."""
        paths = (self.root / name, self.root / f"{name}.gz")
        return next((path for path in paths if path.is_file()), None)

    def folders(self) -> list["Folder"]:
        """Return the folders inside, by name."""
        if not self.root.is_dir():
            return []
        return [self.under(path.name) for path in sorted(self.root.iterdir()) if path.is_dir()]

    def json(self, name: str, remarks: list[Remark], severity: Severity = "warning") -> Any:
        """Return the JSON value of a file; None without such a file, and with a remark when it is damaged."""
        path = self.find(name)
        if path is None:
            return None
        try:
            return self._value(path, name, remarks)
        except DamagedFile as damage:
            remarks.append(Remark(severity, self.placed(name), f"{damage.place}: {damage.problem}; not read"))
            return None

    def object(self, name: str, remarks: list[Remark], severity: Severity = "warning") -> Mapping[str, Any]:
        """Return the object that a file holds; empty without one."""
        value = self.json(name, remarks, severity)
        if value is None or isinstance(value, Mapping):
            return value or {}
        problem = f"expected an object, found {type(value).__name__}; not read"
        remarks.append(Remark(severity, self.placed(name), problem))
        return {}

    def objects(self, name: str, remarks: list[Remark]) -> list[Fields]:
        """Return the objects of a file that holds a list of them."""
        value = self.json(name, remarks)
        if value is None:
            return []
        return list(Fields({self.placed(name): value}, "", remarks).each(self.placed(name)))

    def text(self, name: str, remarks: list[Remark]) -> str | None:
        """Return the text of a file; None without it. What is no UTF-8 is replaced, with a remark."""
        path = self.find(name)
        if path is None:
            return None
        try:
            data = b"".join(_limited(path))
        except DamagedFile as damage:
            remarks.append(Remark("warning", self.placed(name), f"{damage.place}: {damage.problem}; not read"))
            return None
        try:
            return data.decode()
        except UnicodeDecodeError:
            remarks.append(Remark("warning", self.placed(name), "not all of it is UTF-8; the rest is marked"))
            return data.decode(errors="replace")

    def lines(self, name: str, remarks: list[Remark]) -> list[Fields]:
        """Return the objects of a file with one on each line; lines that are none are remarked on, the first few."""
        path = self.find(name)
        found, odd = [], 0
        for number, line in enumerate(self._split(path, name, remarks) if path else (), 1):
            place = f"{self.placed(name)}:{number}"
            try:
                values = list(parse(FiniteNumbers()(guarded([line], path)), path, "")) if path else []
            except DamagedFile:
                values = []
            if len(values) == 1 and isinstance(values[0], Mapping):
                found.append(Fields(values[0], place, remarks))
            else:
                odd += 1
        if odd:
            remarks.append(Remark("warning", self.placed(name), f"{odd} lines are no JSON objects; left out"))
        return found

    def audio(self, name: str, sides: tuple[Side, ...], remarks: list[Remark]) -> tuple[ImportedAudio, ...]:
        """Return a handle on a recording, with what its header says; nothing without one."""
        path = self.find(name)
        if path is None:
            return ()
        try:
            with wave.open(str(path), "rb") as file:
                channels, rate, width, frames = (
                    file.getnchannels(),
                    file.getframerate(),
                    file.getsampwidth(),
                    file.getnframes(),
                )
        except (wave.Error, EOFError, OSError, RuntimeError) as error:
            remarks.append(Remark("warning", self.placed(name), f"the recording cannot be read ({error or 'cut off'})"))
            return ()
        if not rate:
            remarks.append(Remark("warning", self.placed(name), "the recording has a rate of 0; not taken"))
            return ()
        size = path.stat().st_size
        if frames * channels * width > size:
            text = f"the header promises {frames} frames, which the file is too short for"
            remarks.append(Remark("warning", self.placed(name), text))
        named = sides if len(sides) == channels else ()
        if sides and not named:
            text = f"{channels} channels where {len(sides)} were expected: whose they are is not known"
            remarks.append(Remark("warning", self.placed(name), text))
        return (ImportedAudio(path, self.placed(name), channels, rate, width, frames / rate, size, named),)

    def _value(self, path: Path, name: str, remarks: list[Remark]) -> Any:
        finite = FiniteNumbers()
        values = list(parse(finite(guarded(_limited(path), path)), path, ""))
        if finite.replaced:
            text = f"{finite.replaced} numbers are NaN or infinite; read as unknown"
            remarks.append(Remark("warning", self.placed(name), text))
        return values[0]

    def _split(self, path: Path, name: str, remarks: list[Remark]) -> Iterator[bytes]:
        rest = b""
        try:
            for block in _limited(path):
                *whole, rest = (rest + block).split(b"\n")
                yield from filter(bytes.strip, whole)
                if len(rest) > _LONGEST_LINE:
                    raise DamagedFile(path, "text", "a line is longer than 4 MB", "No known tool writes this.")
        except DamagedFile as damage:
            remarks.append(Remark("warning", self.placed(name), f"{damage.place}: {damage.problem}; the rest is lost"))
        if rest.strip():
            yield rest


def _limited(path: Path) -> Iterator[bytes]:
    total = 0
    try:
        for block in unpacked(path):
            total += len(block)
            if total > MAX_WHOLE:
                remedy = "No known tool writes this; it was not read."
                raise DamagedFile(path, f"unpacked byte {total}", f"larger than {MAX_WHOLE >> 20} MB", remedy)
            yield block
    except OSError as error:
        raise DamagedFile(path, "start", f"cannot be opened ({error.strerror})", "Check the rights.") from error
