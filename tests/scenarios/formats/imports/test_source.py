"""Damage and malice: each file is refused with its name, the place and a remedy, and costs little memory."""

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest

from scenarios.formats.imports.detect import open_import
from scenarios.formats.imports.source import DamagedFile, chunks, json_within, stream
from tests.scenarios.formats.imports.files import imported, results, simulation, write

_GOOD = json.dumps(results([simulation()])).encode()


@pytest.mark.parametrize(
    ("name", "data", "place", "problem"),
    [
        ("empty.json", b"", "byte 0", "the file is empty"),
        ("blank.json", b"  \n", "byte 3", "breaks off"),
        ("cut.json", _GOOD[:-9], f"byte {len(_GOOD) - 9}", "breaks off"),
        ("text.json", b"Dear reader", "between bytes 0 and 11", "this is no JSON"),
        ("nan.json", _GOOD.replace(b'"reward": 1.0', b'"reward": NaN'), "between bytes", "this is no JSON"),
        ("large.json", _GOOD.replace(b'"seed": 7', b'"seed": ' + b"9" * 5000), "between bytes", "thousands of digits"),
        ("twice.json", _GOOD + b"{}", "between bytes", "trailing garbage"),
        ("latin.json", _GOOD.replace(b"Hello", b"\xff"), "between bytes", "invalid bytes in UTF8"),
        ("wide.json", _GOOD.decode().encode("utf-16"), "byte 0", "the text is UTF-16"),
        ("null.json", b"null", "top level", "no format that can be imported"),
        ("list.json", b"[1, 2]", "top level", "no format that can be imported"),
        ("other.json", b'{"name": 1, "version": 2}', "top level", "found: name, version"),
        ("deep.json", b'{"info": ' + b"[" * 1_000_000, "between bytes 0", "nested more than 200 deep"),
        ("map.json", b'{"info": {}, "simulations": {}}', "simulations", "expected a list, found start_map"),
    ],
)
def test_a_damaged_file_is_refused_with_place_and_remedy(
    tmp_path: Path, name: str, data: bytes, place: str, problem: str
) -> None:
    with pytest.raises(DamagedFile) as caught:
        list(open_import(write(tmp_path, data, name)).trials())

    assert str(caught.value).startswith(f"{name}, {place}")
    assert problem in str(caught.value)
    assert len(caught.value.remedy) > 10


def test_a_missing_file_and_a_folder_without_results_say_so(tmp_path: Path) -> None:
    with pytest.raises(DamagedFile, match="there is no such file"):
        open_import(tmp_path / "nothing.json")
    with pytest.raises(DamagedFile, match=r"there is no results\.json"):
        open_import(tmp_path)


@pytest.mark.parametrize("damage", [lambda data: data[:-20], lambda data: data[:60] + b"????" + data[64:]])
def test_damaged_gzip_is_named_as_such(tmp_path: Path, damage: object) -> None:
    assert callable(damage)
    path = tmp_path / "results.json.gz"
    path.write_bytes(damage(gzip.compress(_GOOD)))

    with pytest.raises(DamagedFile, match="the gzip data is damaged"):
        open_import(path)


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "results.json.gz"
    with gzip.open(path, "wb") as file:
        file.write(b'{"info": {}, "simulations": [')
        for _ in range(100):
            file.write(b" " * 1_000_000)
        file.write(b"]}")

    with pytest.raises(DamagedFile, match="unpacks to more than 400 times its size"):
        open_import(path)


def test_nesting_that_only_stands_in_texts_is_fine(tmp_path: Path) -> None:
    tricky = '[{"' * 300 + '\\" \\\\' + "[" * 300 + "\\"
    _, (trial,) = imported(tmp_path, results([simulation(messages=[{"role": "user", "content": tricky}])]))

    assert trial.turns[0].spoken == tricky


@pytest.mark.parametrize("depth", [150, 250])
def test_nesting_is_counted_across_pieces(tmp_path: Path, depth: int) -> None:
    nested = b"[" + b" " * 20_000
    path = write(tmp_path, b'{"a": ' + nested * depth + b"1" + b"]" * depth + b"}")

    if depth < 200:
        assert len(list(stream(path, ""))) == 1
    else:
        with pytest.raises(DamagedFile, match="nested more than 200 deep"):
            list(stream(path, ""))


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    assert open_import(write(tmp_path, b"\xef\xbb\xbf" + _GOOD)).domain_name == "retail"


@pytest.mark.parametrize("filler", ["x", "sk-", "-eyJ", "a.", "@", "ab@", "1.1.1.", "http://"])
def test_long_texts_are_kept_whole_and_hang_nothing(tmp_path: Path, filler: str) -> None:
    text = filler * (200_000 // len(filler))
    message = {"role": "user", "content": text, "raw_data": {"note": text}}
    _, (trial,) = imported(tmp_path, results([simulation(messages=[message])]))

    assert trial.turns[0].spoken == text


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    one = json.dumps(simulation(messages=[{"role": "user", "content": "words " * 2000}] * 20)).encode()
    path = tmp_path / "results.json"
    with path.open("wb") as file:
        file.write(b'{"info": {}, "tasks": [], "simulations": [')
        file.write(b",".join([one] * 120))
        file.write(b"]}")

    tracemalloc.start()
    try:
        count = sum(1 for _ in open_import(path).trials())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 120
    assert peak < path.stat().st_size / 3


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[" * 201 + "]" * 201, "nested more than 200"),
        ("[" * 100_000, "nested more than 200"),
        ("NaN", "JSON has no NaN"),
        ('{"a": Infinity}', "JSON has no Infinity"),
        ("9" * 5000, "Exceeds the limit"),
        ("{", "Expecting"),
        ("", "Expecting"),
    ],
)
def test_json_inside_a_text_is_held_to_the_same_limits(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        json_within(text)


def test_brackets_inside_its_texts_do_not_count() -> None:
    tricky = {"a": ['[{"' * 300, "\\" * 3, {"b": [1.5, None]}]}

    assert json_within(json.dumps(tricky)) == tricky


@pytest.mark.parametrize("data", [{"invocations": []}, [{"total_turns": 1}], {"total_turns": 1, "turns": []}])
def test_a_single_file_of_a_run_folder_says_to_give_the_folder(tmp_path: Path, data: object) -> None:
    with pytest.raises(DamagedFile, match="one file of a run folder.*Give the folder"):
        open_import(write(tmp_path, data))


@pytest.mark.parametrize("within", ["text", "key", "number", "number in pieces"])
def test_what_would_take_the_parser_hours_is_refused_at_once(tmp_path: Path, within: str) -> None:
    """A text or number over many pieces is read anew with each: a bomb that needs neither depth nor a high ratio."""
    path = tmp_path / "results.json"
    long = (b"7" if "number" in within else b"a") * (1000 if within == "number in pieces" else 1_000_000)
    with path.open("wb") as file:
        file.write({"text": b'{"info": "', "key": b'{"'}.get(within, b'{"info": '))
        for _ in range(12):
            file.write(long)
    with pytest.raises(DamagedFile, match="longer than 8 MB|thousands of digits"):
        open_import(path)


@pytest.mark.parametrize(
    ("start", "packing"),
    [
        (b"\xfd7zXZ\x00", "packed with xz"),
        (b"BZh91AY&SY", "packed with bzip2"),
        (b"\x28\xb5\x2f\xfd\x04", "packed with Zstandard"),
        (b"7z\xbc\xaf\x27\x1c", "packed with 7-Zip"),
        (b"Rar!\x1a\x07", "packed with RAR"),
        (b"run/results.json".ljust(257, b"\0") + b"ustar\x0000", "a tar archive"),
    ],
)
def test_what_is_packed_otherwise_is_named(tmp_path: Path, start: bytes, packing: str) -> None:
    for name in ("a.json", "a.json.gz"):
        with pytest.raises(DamagedFile, match=packing):
            list(chunks(write(tmp_path, start + b"\0" * 600, name)))


def test_several_values_in_one_file_are_told_from_damage(tmp_path: Path) -> None:
    with pytest.raises(DamagedFile, match="put them into a list, or into a file each"):
        list(stream(write(tmp_path, b'{"a": 1}\n{"a": 2}\n'), ""))


def test_no_piece_of_a_damaged_file_is_in_what_is_said_of_it(tmp_path: Path) -> None:
    with pytest.raises(DamagedFile) as caught:
        list(stream(write(tmp_path, b'{"api_key": "without-a-look" oops}'), ""))

    assert "without-a-look" not in str(caught.value)
    assert "this is no JSON (" in str(caught.value)
