import hashlib
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

CONTENT = {"db.json": b"{}\n", "voice.json": b"[]\n"}


@pytest.fixture
def data(tmp_path: Path, settings: Settings) -> Path:
    """A data folder that pins two files of the domain ``toy``, one of them not needed, and no reachable source."""
    data = tmp_path / "data"
    (data / "licences").mkdir(parents=True)
    (data / "licences/mit.txt").write_text("MIT License")
    files = "\n".join(
        f'"{name}" = {{ bytes = {len(content)}, sha256 = "{hashlib.sha256(content).hexdigest()}"{without} }}'
        for (name, content), without in zip(CONTENT.items(), ("", ', without = "defaults are used"'), strict=True)
    )
    (data / "benchmarks.toml").write_text(
        '[upstream]\nraw = "http://127.0.0.1:1"\ncommit = "c"\nfolder = "f"\n[wheels]\n'
        f'[domains.toy]\nlicences = ["mit.txt"]\n[domains.toy.files]\n{files}\n'
        f'[domains.other]\nlicences = []\n[domains.other.files]\n"x" = {{ bytes = 1, sha256 = "0" }}\n'
    )
    settings.DATA_DIR = data
    settings.BENCHMARK_DIR = data / "benchmarks"
    return data


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "toy").mkdir(parents=True)
    for name, content in CONTENT.items():
        (folder / "toy" / name).write_bytes(content)
    return folder


def run(*arguments: str, **options: Any) -> tuple[int, str]:
    """Run the command; return its exit code and everything that it said."""
    out = StringIO()
    try:
        call_command("fetch_benchmarks", *arguments, stdout=out, **options)
    except CommandError as error:
        return error.returncode, out.getvalue() + str(error)
    return 0, out.getvalue()


def test_everything_from_a_folder_with_the_notice_beside_it(data: Path, source: Path) -> None:
    code, said = run("--from", str(source), "--domain", "toy")

    assert code == 0
    assert "2 of 2 files, ready" in said
    assert (data / "benchmarks/toy/db.json").read_bytes() == CONTENT["db.json"]
    assert (data / "benchmarks/toy/licences/mit.txt").exists()


def test_a_file_that_is_not_needed_is_named_with_what_follows(data: Path, source: Path) -> None:
    (source / "toy/voice.json").unlink()

    code, said = run("--from", str(source), "--domain", "toy")

    assert code == 0
    assert "1 of 2 files, ready" in said
    assert "without toy/voice.json: defaults are used" in said


def test_partly_ends_with_12_and_names_the_dead_source_once(data: Path, source: Path) -> None:
    code, said = run("--from", str(source))

    assert code == 12
    assert "other          0 of 1 files, cannot be used" in said
    assert "1 needed files are not there: other/x" in said
    assert said.count("cannot be reached") == 1


def test_nothing_ends_with_1(data: Path) -> None:
    code, said = run("--domain", "toy")

    assert code == 1
    assert "toy/db.json" in said


def test_a_wrong_hash_is_refused_with_file_expected_and_got(data: Path, source: Path) -> None:
    (source / "toy/db.json").write_bytes(b"{ }")

    code, said = run("--from", str(source), "--domain", "toy")

    assert code == 12
    expected, got = (hashlib.sha256(content).hexdigest() for content in (b"{}\n", b"{ }"))
    assert f"toy/db.json: expected sha256 {expected} (3 bytes), got {got} (3 bytes)" in said
    assert not (data / "benchmarks/toy/db.json").exists()


def test_check_finds_damage_and_changes_nothing(data: Path, source: Path) -> None:
    run("--from", str(source), "--domain", "toy")
    assert run("--check", "--domain", "toy")[0] == 0
    (data / "benchmarks/toy/db.json").write_bytes(b"{")

    code, said = run("--check", "--domain", "toy")

    assert code == 12
    assert "toy/db.json: damaged: expected 3 bytes, got 1" in said
    assert (data / "benchmarks/toy/db.json").read_bytes() == b"{"


def test_a_second_time_mends_what_was_damaged(data: Path, source: Path) -> None:
    run("--from", str(source), "--domain", "toy")
    (data / "benchmarks/toy/db.json").write_bytes(b"{")

    code, said = run("--from", str(source), "--domain", "toy", "--json")

    assert code == 0
    states = {row["path"]: row["state"] for row in json.loads(said)["files"]}
    assert states == {"toy/db.json": "fetched", "toy/voice.json": "present"}


def test_the_configured_folder_is_a_source_and_what_the_site_reads(
    data: Path, source: Path, settings: Settings
) -> None:
    settings.BENCHMARK_DIR = source

    code, said = run("--domain", "toy")

    assert code == 0
    assert f"the site reads {source}" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--domain", "nope"), "no benchmark files are pinned for nope; there are toy, other"),
        (("--from", "/no/such/folder"), "--from /no/such/folder: there is no such folder"),
        (("--domain", "toy", "--into", "/dev/null/x", "--from", "."), "cannot write the files"),
    ],
)
def test_bad_input_says_what_and_why(data: Path, arguments: tuple[str, ...], said: str) -> None:
    code, text = run(*arguments)

    assert code == 1
    assert said in text
