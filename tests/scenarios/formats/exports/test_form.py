from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest

from scenarios.formats.exports import junit
from scenarios.formats.exports.form import CannotExport, Export, Format, pour, spool, write_file
from tests.scenarios.formats.exports.samples import export, held

ONE = export([held()])


def test_a_file_is_written_whole_under_its_name(tmp_path: Path) -> None:
    path = write_file(junit.FORMAT, ONE, tmp_path / "a.xml")
    assert path.read_bytes().endswith(b"</testsuites>\n")
    assert path.stat().st_mode & 0o777 == 0o644
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.xml"]


def test_a_folder_gets_a_file_with_the_forms_own_name(tmp_path: Path) -> None:
    assert write_file(junit.FORMAT, ONE, tmp_path) == tmp_path / "run-7.junit.xml"


def test_what_is_there_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("mine")
    with pytest.raises(CannotExport, match="exists already"):
        write_file(junit.FORMAT, ONE, tmp_path / "a.xml")
    assert (tmp_path / "a.xml").read_text() == "mine"


def test_what_comes_to_exist_while_it_is_written_is_not_replaced_either(tmp_path: Path) -> None:
    def slow(what: Export, file: IO[bytes]) -> None:
        (tmp_path / "a.xml").write_text("theirs")
        file.write(b"ours")

    with pytest.raises(CannotExport, match="meanwhile"):
        write_file(replace(junit.FORMAT, write=slow), ONE, tmp_path / "a.xml")
    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("a.xml", "theirs")]


def test_a_file_system_without_links_gets_its_file_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*paths: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr("scenarios.formats.exports.form.os.link", refuse)
    write_file(junit.FORMAT, ONE, tmp_path / "a.xml")
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.xml"]


def test_an_error_leaves_nothing_behind(tmp_path: Path) -> None:
    def breaks(what: Export, file: IO[bytes]) -> None:
        file.write(b"half")
        raise RuntimeError("the database went away")

    with pytest.raises(RuntimeError, match="went away"):
        write_file(replace(junit.FORMAT, write=breaks), ONE, tmp_path / "a.xml")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotExport, match="nowhere is no folder"):
        write_file(junit.FORMAT, ONE, tmp_path / "nowhere" / "a.xml")


def test_what_is_held_back_comes_out_in_order() -> None:
    with spool() as held_back, spool() as out:
        held_back.write(b"one ")
        held_back.write(b"two")
        pour(held_back, out)
        out.seek(0)
        assert out.read() == b"one two"


def test_a_title_says_what_a_reader_must_know() -> None:
    assert export([]).title == "Nightly"
    assert export([], title="").title == "run 7"
    told = export([], is_rehearsal=True, not_ended=3, trial_count=9, chosen="outcome fail").title
    assert told == "Nightly (REHEARSAL; only outcome fail; 3 of 9 trials have not ended)"


def test_names_of_files_are_plain() -> None:
    form = Format("x", "X", ".x", "text/plain", "nothing", lambda what, file: None)
    assert form.filename(ONE) == "run-7.x"
