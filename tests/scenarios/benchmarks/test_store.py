import hashlib
import re
from pathlib import Path

import pytest

from scenarios.benchmarks.pins import Pin
from scenarios.benchmarks.store import WrongContent, fault, write, write_licences

CONTENT = b'{"orders": {}}\n'


def pin(content: bytes = CONTENT) -> Pin:
    return Pin("toy/db/orders.json", len(content), hashlib.sha256(content).hexdigest(), "orders.json")


def test_a_written_file_is_right(tmp_path: Path) -> None:
    assert fault(tmp_path, pin()) == "absent"

    write(tmp_path, pin(), CONTENT)

    assert fault(tmp_path, pin()) is None
    assert [path.name for path in (tmp_path / "toy/db").iterdir()] == ["orders.json"]


def test_wrong_bytes_are_refused_with_file_expected_and_got_and_nothing_is_left(tmp_path: Path) -> None:
    got = hashlib.sha256(b"other").hexdigest()

    with pytest.raises(
        WrongContent, match=rf"toy/db/orders.json: expected sha256 {pin().sha256} .*got {got} \(5 bytes\)"
    ):
        write(tmp_path, pin(), b"other")

    assert list(tmp_path.iterdir()) == []


def test_an_old_file_survives_a_refused_write(tmp_path: Path) -> None:
    write(tmp_path, pin(), CONTENT)

    with pytest.raises(WrongContent):
        write(tmp_path, pin(), b"other")

    assert (tmp_path / "toy/db/orders.json").read_bytes() == CONTENT


def test_a_failed_rename_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "toy/db/orders.json/in the way").mkdir(parents=True)

    with pytest.raises(OSError, match="orders.json"):
        write(tmp_path, pin(), CONTENT)

    assert [path.name for path in (tmp_path / "toy/db").iterdir()] == ["orders.json"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (CONTENT[:-4], "damaged: expected 15 bytes, got 11"),
        (CONTENT.replace(b"o", b"u"), "damaged: expected sha256 .* got"),
    ],
)
def test_damage_is_found_again(tmp_path: Path, content: bytes, said: str) -> None:
    write(tmp_path, pin(), CONTENT)
    (tmp_path / "toy/db/orders.json").write_bytes(content)

    problem = fault(tmp_path, pin())

    assert re.match(said, problem or "")


def test_notices_are_put_beside_the_data(tmp_path: Path) -> None:
    notice = tmp_path / "mit.txt"
    notice.write_text("MIT License")

    write_licences(tmp_path / "data", "toy", [notice])
    write_licences(tmp_path / "data", "toy", [notice])

    assert (tmp_path / "data/toy/licences/mit.txt").read_text() == "MIT License"
