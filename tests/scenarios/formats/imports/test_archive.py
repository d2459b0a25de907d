"""Archives from strangers: what is damaged or too large is refused, and nothing is written outside the folder."""

import io
import stat
import struct
import zipfile
from pathlib import Path

import pytest
import zstandard

from scenarios.formats.imports import archive as archives
from scenarios.formats.imports.archive import Archive, is_zip, unpack
from scenarios.formats.imports.source import DamagedFile


def made(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def with_method(path: Path, name: str, data: bytes, packed: bytes, method: int) -> Path:
    """Write an archive whose one member says that it is packed by another method: the library writes no Zstandard."""
    import zlib

    crc, raw = zlib.crc32(data), name.encode()
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, method, 0, 33, crc, len(packed), len(data), len(raw), 0)
    entry = struct.pack(
        "<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, method, 0, 33, crc, len(packed), len(data), len(raw), 0, 0, 0, 0, 0, 0
    )
    body = local + raw + packed
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(entry) + len(raw), len(body), 0)
    path.write_bytes(body + entry + raw + end)
    return path


def content(path: Path, name: str = "a.json") -> bytes:
    return b"".join(Archive(path).blocks(name))


def test_members_of_every_packing_are_read(tmp_path: Path) -> None:
    data = b"some text, again and again. " * 5000

    assert content(made(tmp_path / "d.zip", {"a.json": data})) == data
    assert content(made(tmp_path / "s.zip", {"a.json": data}, zipfile.ZIP_STORED)) == data
    assert content(with_method(tmp_path / "z.zip", "a.json", data, zstandard.compress(data), 93)) == data


def test_what_is_no_archive_or_a_cut_one_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path / "a.zip", {"a.json": b"x" * 1000})
    whole = path.read_bytes()

    assert is_zip(path)
    for cut in (whole[:-5], whole[:40], b"PK\3\4", b"PK\3\4" + b"\0" * 100):
        path.write_bytes(cut)
        with pytest.raises(DamagedFile, match="the zip archive is damaged"):
            Archive(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, 93])
def test_damage_inside_a_member_is_named(tmp_path: Path, method: int) -> None:
    data = bytes(range(256)) * 40
    path = made(tmp_path / "a.zip", {"a.json": data})
    if method == 93:
        with_method(path, "a.json", data, zstandard.compress(data), method)
    broken = bytearray(path.read_bytes())
    for position in range(60, 90):
        broken[position] ^= 0x55
    path.write_bytes(broken)

    with pytest.raises(DamagedFile, match=r"a\.json: the packed data is damaged"):
        content(path)


def test_an_unknown_packing_and_an_encrypted_member_are_named(tmp_path: Path) -> None:
    path = with_method(tmp_path / "a.zip", "a.json", b"x", b"x", 42)
    with pytest.raises(DamagedFile, match="packed in a way that is not known"):
        content(path)

    made(path, {"a.json": b"x"})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\1\2") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(DamagedFile, match="it is encrypted"):
        content(path)


def test_a_bomb_is_refused_by_its_ratio_before_anything_is_unpacked(tmp_path: Path) -> None:
    path = made(tmp_path / "bomb.zip", {"a.json": b"\0" * 80_000_000})

    with pytest.raises(DamagedFile, match="unpacks to more than 400 times its size"):
        Archive(path)


@pytest.mark.parametrize("packed", [b"", zstandard.compress(b"\0" * 10_000_000)])
def test_a_member_that_lies_about_its_size_is_cut_off(tmp_path: Path, packed: bytes) -> None:
    if packed:
        path = with_method(tmp_path / "a.zip", "a.json", b"x" * 10, packed, 93)
        with pytest.raises(DamagedFile, match="it unpacks to more than it says"):
            content(path)
    else:
        path = made(tmp_path / "a.zip", {"a.json": b"\0" * 1_000_000})
        data = path.read_bytes().replace(struct.pack("<I", 1_000_000), struct.pack("<I", 10))
        path.write_bytes(data)
        with pytest.raises(DamagedFile, match="damaged"):
            content(path)


def test_too_many_and_too_large_members_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path / "a.zip", {f"{number}.json": b"x" * 100 for number in range(5)})

    with pytest.raises(DamagedFile, match=r"0\.json: larger than 0 MB"):
        list(Archive(path).blocks("0.json", limit=50))
    monkeypatch.setattr(archives, "_MAX_MEMBERS", 4)
    with pytest.raises(DamagedFile, match="more than 4 members"):
        Archive(path)


def test_nothing_is_written_outside_the_folder(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for name in ("run/a.json", "../up.json", "/etc/root.json", "run/../../up.json", "C:\\x.json", "..\\up.json"):
            file.writestr(name, b"{}")
        link = zipfile.ZipInfo("run/link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(link, "/etc/passwd")
    path = tmp_path / "a.zip"
    path.write_bytes(stream.getvalue())
    into = tmp_path / "in" / "here"
    into.mkdir(parents=True)

    passed_over = unpack(path, into)

    assert len(passed_over) == 6
    written = [entry for entry in tmp_path.rglob("*") if entry.is_file() or entry.is_symlink()]
    assert sorted(entry.name for entry in written) == ["a.json", "a.zip"]


def test_members_that_stand_in_each_others_way_are_refused(tmp_path: Path) -> None:
    path = made(tmp_path / "a.zip", {"a": b"x", "a/b": b"y"})

    with pytest.raises(DamagedFile, match="cannot be unpacked"):
        unpack(path, tmp_path / "in")
