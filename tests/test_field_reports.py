"""The table of field reports is whole, and names tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = (ROOT / "docs" / "field-reports.md").read_text()
ROWS = re.findall(r"^\| ([BLMR]\d+) \| ([a-z0-9 ]+) \| ?(.*)\|$", TABLE, re.MULTILINE)
STATES = {"tested", "partly", "against", "open"}


def existing_tests() -> set[str]:
    texts = (path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    return {name for text in texts for name in re.findall(r"^\s*(?:async )?def (test_\w+)", text, re.MULTILINE)}


def test_every_entry_stands_once() -> None:
    wanted = [
        f"{kind}{n}"
        for kind, first, last in (("L", 1, 18), ("M", 1, 17), ("R", 12, 24))
        for n in range(first, last + 1)
    ]
    wanted += [f"B{number:02}" for number in range(1, 92)]
    assert sorted(entry for entry, _, _ in ROWS) == sorted(wanted)
    assert {state for _, state, _ in ROWS} <= STATES


def test_what_is_called_tested_names_a_test() -> None:
    unproved = [
        entry for entry, state, where in ROWS if state in ("tested", "partly", "against") and "test_" not in where
    ]
    assert unproved == []


def test_what_is_partly_done_names_who_has_the_rest() -> None:
    assert [entry for entry, state, where in ROWS if state == "partly" and not re.search(r"\bopen\b", where)] == []


def test_the_tests_it_names_exist() -> None:
    named = set(re.findall(r"`(test_\w+)`", TABLE))
    assert len(named) > 100
    assert named - existing_tests() == set()
