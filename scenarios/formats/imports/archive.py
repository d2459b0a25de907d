"""Zip archives from strangers: members are read one at a time, within limits of count, size and ratio.

Members may be stored, deflated, or packed with Zstandard, which Inspect writes.
"""

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, cast

import zstandard

from scenarios.formats.imports.source import DamagedFile

MAGIC = b"PK\x03\x04"
_EMPTY_MAGIC = b"PK\x05\x06"
MAX_MEMBER = 512 * 1024 * 1024
MAX_UNPACKED = 4 * 1024 * 1024 * 1024
_MAX_MEMBERS = 200_000
# As for single packed files.
_MAX_RATIO = 400
_RATIO_COUNTS_FROM = 64 * 1024 * 1024
_CHUNK = 64 * 1024
_ZSTD = 93
_MAX_WINDOW = 128 * 1024 * 1024
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_LONGEST_NAME = 255
_REMEDY = "Fetch it again, or unpack it yourself if you trust it."


def is_zip(path: Path) -> bool:
    """Return whether a file begins as a zip archive does."""
    try:
        with path.open("rb") as file:
            return file.read(4) in (MAGIC, _EMPTY_MAGIC)
    except OSError:
        return False


class Archive:
    """One zip archive. DamagedFile on opening: no zip, too many members, or a bomb."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with zipfile.ZipFile(path) as file:
                members = file.infolist()
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError, struct.error) as error:
            raise DamagedFile(path, "directory", f"the zip archive is damaged ({_shown(error)})", _REMEDY) from error
        if len(members) > _MAX_MEMBERS:
            raise DamagedFile(path, "directory", f"more than {_MAX_MEMBERS} members", _REMEDY)
        total = sum(one.file_size for one in members)
        if total > max(_RATIO_COUNTS_FROM, path.stat().st_size * _MAX_RATIO):
            problem = f"unpacks to more than {_MAX_RATIO} times its size"
            raise DamagedFile(path, "directory", problem, "Unpack it yourself if you trust it.")
        self.total = total
        # A name that occurs twice: the later member counts, as for every zip reader.
        self.members = {one.filename: one for one in members if not one.is_dir()}

    def blocks(self, name: str, limit: int = MAX_MEMBER) -> Iterator[bytes]:
        """Yield a member's content in small pieces; DamagedFile when it is damaged, encrypted or too large."""
        member = self.members[name]
        if member.file_size > limit:
            raise self._damaged(name, f"larger than {limit >> 20} MB")
        if member.flag_bits & 1:
            raise self._damaged(name, "it is encrypted")
        size, checksum = 0, 0
        try:
            with self.path.open("rb") as file:
                for block in self._unpack(file, member):
                    size += len(block)
                    if size > member.file_size:
                        raise self._damaged(name, "it unpacks to more than it says")
                    checksum = zlib.crc32(block, checksum)
                    yield block
        except (zlib.error, zstandard.ZstdError, zipfile.BadZipFile, EOFError, OSError, struct.error) as error:
            raise self._damaged(name, f"the packed data is damaged ({_shown(error)})") from error
        except (NotImplementedError, RuntimeError) as error:
            raise self._damaged(name, f"it is packed in a way that is not known here ({_shown(error)})") from error
        if size != member.file_size or checksum != member.CRC:
            raise self._damaged(name, "the packed data is damaged (wrong size or checksum)")

    def _unpack(self, file: IO[bytes], member: zipfile.ZipInfo) -> Iterator[bytes]:
        if member.compress_type != _ZSTD:
            with zipfile.ZipFile(file) as archive, archive.open(member) as stream:
                while block := stream.read(_CHUNK):
                    yield block
            return
        file.seek(member.header_offset)
        magic, name_length, extra_length = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
        if magic != MAGIC:
            raise zipfile.BadZipFile("no member where the directory says")
        file.seek(name_length + extra_length, os.SEEK_CUR)
        unpacker = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW)
        with unpacker.stream_reader(
            cast(IO[bytes], _Part(file, member.compress_size)), read_across_frames=True
        ) as stream:
            while block := stream.read(_CHUNK):
                yield block

    def _damaged(self, name: str, problem: str) -> DamagedFile:
        return DamagedFile(self.path, name[:_LONGEST_NAME], problem, _REMEDY)


class _Part:
    """The packed bytes of one member, as a file to read from."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file, self._left = file, size

    def read(self, size: int = -1) -> bytes:
        """Return at most so many bytes; none at the member's end."""
        block = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(block)
        return block


def unpack(path: Path, into: Path) -> list[str]:
    """Write the members into a folder; return the names that were passed over: links, and paths that lead out of it.

    DamagedFile: the archive, or a member, is damaged or too large.
    """
    archive = Archive(path)
    if archive.total > MAX_UNPACKED:
        raise DamagedFile(path, "directory", f"unpacks to more than {MAX_UNPACKED >> 30} GB", _REMEDY)
    passed_over = []
    for name, member in archive.members.items():
        target = _inside(into, name)
        if target is None or stat.S_ISLNK(member.external_attr >> 16):
            passed_over.append(name)
            continue
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as file:
                for block in archive.blocks(name):
                    file.write(block)
        except OSError as error:
            raise DamagedFile(path, name[:_LONGEST_NAME], f"cannot be unpacked ({error.strerror})", _REMEDY) from error
    return passed_over


def _inside(into: Path, name: str) -> Path | None:
    """Return where a member goes; None when its name would lead out of the folder or is none that a file can have."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or name.startswith(("/", "\\")) or any(part == ".." or ":" in part or "\0" in part for part in parts):
        return None
    if any(len(part.encode("utf-8", "replace")) > _LONGEST_NAME for part in parts):
        return None
    return into.joinpath(*parts)


def _shown(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
