"""The bytes of a foreign file: unpacked, measured, guarded and parsed as a stream, however large the file is."""

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import ijson

from scenarios.formats.imports.finite import FiniteNumbers
from scenarios.formats.imports.records import SourceFile

MAX_DEPTH = 200
# The parser reads a text or number that goes on over several pieces anew with each piece: its time grows as the square.
MAX_TEXT = 8 * 1024 * 1024
_LONGEST_NUMBER = re.compile(rb"[0-9.eE+-]{2000}")
_CHUNK = 64 * 1024
_BLOCK = 1024 * 1024
_GZIP_MAGIC = b"\x1f\x8b"
_BOMS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
# Ways to pack that are not read here, by how their files begin.
_PACKED = {
    b"\xfd7zXZ": "xz",
    b"BZh": "bzip2",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"7z\xbc\xaf": "7-Zip",
    b"Rar!": "RAR",
}
_TAR_AT, _TAR = 257, b"ustar"
_UTF8_BOM = b"\xef\xbb\xbf"
# Real result files pack to between a 5th and a 60th.
_MAX_RATIO = 400
_RATIO_COUNTS_FROM = 64 * 1024 * 1024
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_TEXTS, _BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL), re.compile(r"[\[\]{}]")
_DEEPER, _SHALLOWER = frozenset(b"[{"), frozenset(b"]}")


class DamagedFile(Exception):
    """A file, or the rest of it, that cannot be read: which file, where in it, what is wrong, what to do."""

    def __init__(self, path: Path, place: str, problem: str, remedy: str) -> None:
        super().__init__(f"{path.name}, {place}: {problem}. {remedy}")
        self.path, self.place, self.problem, self.remedy = path, place, problem, remedy


def fingerprint(path: Path) -> SourceFile:
    """Return hashes and sizes of a file and of what it unpacks to."""
    packed = _sha256(path)
    content, content_size = _content(path)
    return SourceFile(path, packed, content, path.stat().st_size, content_size)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise DamagedFile(path, "start", f"cannot be opened ({error.strerror})", "Check path and rights.") from error
    return digest.hexdigest()


def _content(path: Path) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    for block in _unpacked(path):
        digest.update(block)
        size += len(block)
    return digest.hexdigest(), size


def _fingerprint_even_if_damaged(path: Path) -> SourceFile:
    packed = _sha256(path)
    try:
        content, content_size = _content(path)
    except DamagedFile:
        content, content_size = packed, path.stat().st_size
    return SourceFile(path, packed, content, path.stat().st_size, content_size)


def fingerprint_of_all(folder: Path, files: Sequence[Path]) -> SourceFile:
    """Return hashes over those of several files of a folder, sorted by name, and their sizes together.

    A packed file that is damaged counts as it is: its reader says so.
    """
    prints = [_fingerprint_even_if_damaged(file) for file in files]
    packed, content = hashlib.sha256(), hashlib.sha256()
    for one in sorted(prints, key=lambda one: str(one.path)):
        name = str(one.path.relative_to(folder)).removesuffix(".gz")
        packed.update(f"{name} {one.sha256}\n".encode("utf-8", "surrogateescape"))
        content.update(f"{name} {one.content_sha256}\n".encode("utf-8", "surrogateescape"))
    size, content_size = sum(one.size for one in prints), sum(one.content_size for one in prints)
    return SourceFile(folder, packed.hexdigest(), content.hexdigest(), size, content_size)


def unpacked(path: Path) -> Iterator[bytes]:
    """Yield the content of a file in small pieces, unpacked; DamagedFile when it is damaged or a bomb."""
    return _unpacked(path, _CHUNK)


def guarded(blocks: Iterable[bytes], path: Path) -> Iterator[bytes]:
    """Yield pieces of JSON text on; DamagedFile before anything nested too deep reaches a parser."""
    guard = _Guard(path)
    for block in blocks:
        guard.feed(block)
        yield block


def chunks(path: Path) -> Iterator[bytes]:
    """Yield the unpacked JSON text in small pieces; DamagedFile before anything nested too deep reaches a parser."""
    return guarded(unpacked(path), path)


def stream(path: Path, prefix: str) -> Iterator[Any]:
    """Yield each value at a prefix ("simulations.item"; "" is the whole file) as soon as it is complete."""
    return parse(chunks(path), path, prefix)


def parse(blocks: Iterable[bytes], path: Path, prefix: str) -> Iterator[Any]:
    """Yield each value at a prefix of JSON text that comes in guarded pieces; ``path`` is what errors name."""
    found = ijson.sendable_list()
    parser = ijson.items_coro(found, prefix, use_float=True)
    position = 0
    for chunk in blocks:
        _send(parser, chunk, path, position)
        position += len(chunk)
        yield from found
        del found[:]
    _finish(parser, path, position)
    yield from found


def json_within(text: str) -> Any:
    """Return the value of JSON text that stands inside another value; ValueError when it is none, or too deep."""
    depth = deepest = 0
    for bracket in _BRACKETS.findall(_TEXTS.sub("", text)) if max(map(text.count, "[{")) > MAX_DEPTH else ():
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} deep")
    return json.loads(text, parse_constant=_no_constant)


def _no_constant(name: str) -> Any:
    raise ValueError(f"JSON has no {name}")


def first_values(path: Path, prefixes: Sequence[str], blocks: Iterable[bytes] | None = None) -> dict[str, Any]:
    """Return the first value at each prefix that is there; reads no further than it has to."""
    found = {prefix: ijson.sendable_list() for prefix in prefixes}
    parsers = {prefix: ijson.items_coro(target, prefix, use_float=True) for prefix, target in found.items()}
    position = 0
    for chunk in chunks(path) if blocks is None else blocks:
        for prefix in [prefix for prefix in parsers if not found[prefix]]:
            _send(parsers[prefix], chunk, path, position)
        position += len(chunk)
        if all(found.values()):
            break
    return {prefix: values[0] for prefix, values in found.items() if values}


def top_level(path: Path, decisive: frozenset[str]) -> dict[str, str]:
    """Return the first keys of the top-level object with the kind of their values, up to the first decisive one.

    A top-level list gives the keys of its first element, each with "[]" before it. ``{}``: neither, or empty.
    """
    kinds: dict[str, str] = {}
    events = ijson.sendable_list()
    parser = ijson.parse_coro(events, use_float=True)
    position, key, start = 0, "", ""
    # What is no JSON number in there is for the reader of the format to accept or refuse.
    for chunk in FiniteNumbers()(chunks(path)):
        _send(parser, chunk, path, position)
        position += len(chunk)
        for prefix, event, value in events:
            if not start:
                start = event
            if prefix == ("item" if start == "start_array" else "") and event == "map_key":
                key = value
            elif key and prefix == (f"item.{key}" if start == "start_array" else key):
                kinds.setdefault(f"[]{key}" if start == "start_array" else key, event)
                if key in decisive:
                    return kinds
                key = ""
            if prefix == "item" and event == "end_map":
                return kinds
        del events[:]
    _finish(parser, path, position)
    return kinds


def _unpacked(path: Path, size: int = _BLOCK) -> Iterator[bytes]:
    packed_size = path.stat().st_size
    unpacked, at_start = 0, True
    with path.open("rb") as raw:
        is_packed = raw.read(2) == _GZIP_MAGIC
        raw.seek(0)
        file: IO[bytes] = gzip.GzipFile(fileobj=raw) if is_packed else raw  # type: ignore[assignment]
        while True:
            try:
                block = file.read(size)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise DamagedFile(
                    path, f"unpacked byte {unpacked}", f"the gzip data is damaged ({error})", "Fetch the file again."
                ) from error
            if not block:
                return
            if at_start:
                _check_packing(block, path)
                block, at_start = _without_bom(block, path), False
            unpacked += len(block)
            if is_packed and unpacked > max(_RATIO_COUNTS_FROM, packed_size * _MAX_RATIO):
                problem = f"unpacks to more than {_MAX_RATIO} times its size"
                raise DamagedFile(path, f"unpacked byte {unpacked}", problem, "Unpack it yourself if you trust it.")
            yield block


def _check_packing(block: bytes, path: Path) -> None:
    if packing := next((name for magic, name in _PACKED.items() if block.startswith(magic)), None):
        remedy = "Unpack it, or pack it with gzip."
        raise DamagedFile(path, "byte 0", f"the file is packed with {packing}, which is not read", remedy)
    if block[_TAR_AT:].startswith(_TAR):
        raise DamagedFile(path, "byte 0", "this is a tar archive", "Unpack it and give the folder, or zip the folder.")


def _without_bom(block: bytes, path: Path) -> bytes:
    if encoding := _BOMS.get(block[:2]):
        raise DamagedFile(path, "byte 0", f"the text is {encoding}", "Save it as UTF-8.")
    return block.removeprefix(_UTF8_BOM)


def _send(parser: Any, chunk: bytes, path: Path, position: int) -> None:
    try:
        parser.send(chunk)
    except StopIteration:
        return
    except (ijson.JSONError, ValueError, OverflowError) as error:
        reason = _reason(error)
        remedy = "Mend or fetch the file again; JSON has no NaN, and whole numbers end at 64 bits."
        if "trailing garbage" in reason:
            remedy = "One value was expected and more follow: put them into a list, or into a file each."
        place = f"between bytes {position} and {position + len(chunk)}"
        raise DamagedFile(path, place, f"this is no JSON ({reason})", remedy) from error


def _reason(error: Exception) -> str:
    """Return the parser's words without the piece of the file that it shows, which may hold a key."""
    said = error.args[0] if error.args else ""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    return " ".join(text.partition("\n")[0].split())[:160]


def _finish(parser: Any, path: Path, position: int) -> None:
    try:
        parser.close()
    except ijson.JSONError as error:
        problem = "the JSON breaks off" if position else "the file is empty"
        raise DamagedFile(path, f"byte {position}", problem, "Fetch the file again, or finish writing it.") from error


class _Guard:
    """Watches JSON text without parsing it: how deep it is nested, how long single texts and numbers are.

    A parser's memory grows with the depth squared, and its time with their length squared.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._depth = 0
        self._in_text = False
        self._text_length = 0
        self._held = b""
        self._position = 0

    def feed(self, block: bytes) -> None:
        """Take the next piece of the text."""
        text = self._held + block
        # A backslash at the end belongs to what follows.
        tail = len(text) - len(text.rstrip(b"\\"))
        self._held = b"\\" if tail % 2 else b""
        text = text[: len(text) - len(self._held)].replace(b"\\\\", b"").replace(b'\\"', b"")
        parts = text.split(b'"')
        outside = b"".join(parts[1::2] if self._in_text else parts[::2])
        self._in_text ^= len(parts) % 2 == 0
        self._measure(parts, outside, len(block))
        for bracket in outside.translate(None, _NOT_BRACKETS):
            self._depth += (bracket in _DEEPER) - (bracket in _SHALLOWER)
            if self._depth > MAX_DEPTH:
                raise self._odd(f"nested more than {MAX_DEPTH} deep", len(block))
        self._position += len(block)

    def _measure(self, parts: Sequence[bytes], outside: bytes, size: int) -> None:
        before = self._text_length if len(parts) == 1 else 0
        self._text_length = before + len(parts[-1]) if self._in_text else 0
        if self._text_length > MAX_TEXT:
            raise self._odd(f"a single text is longer than {MAX_TEXT >> 20} MB", size)
        if _LONGEST_NUMBER.search(outside):
            raise self._odd("a number of thousands of digits", size)

    def _odd(self, problem: str, size: int) -> DamagedFile:
        place = f"between bytes {self._position} and {self._position + size}"
        return DamagedFile(self._path, place, problem, "No known tool writes this; it was not read.")
