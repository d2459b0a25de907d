import csv
import io
from typing import Any

import pytest

from scenarios.formats.csv_cells import cell, row


@pytest.mark.parametrize(
    "text",
    [
        '=HYPERLINK("http://x.test")',
        "+1",
        "+15550142",
        "+1+1",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        " =1",
        "\x00=1",
        "\uff1dSUM(A1)",
        "\uff20SUM(A1)",
        "-",
        "--5",
        "+",
    ],
)
def test_text_that_begins_like_a_formula_is_defused(text: str) -> None:
    """B84: also a telephone number, which a spreadsheet would strip of its plus."""
    assert cell(text) == f"'{text}"


@pytest.mark.parametrize("value", ["-5", "-5.25", "-1e-7", -5, 2.5, None, "", "a=b", "'quoted", "5-2", "Hello"])
def test_numbers_and_plain_text_stay(value: Any) -> None:
    assert cell(value) == value


def test_a_row_reads_back_with_commas_quotes_and_line_breaks() -> None:
    values = ["a,b", 'say "hi"', "two\nlines", "=1+1"]
    line = row(values)
    assert line.endswith("\n")
    assert next(csv.reader(io.StringIO(line, newline=""))) == ["a,b", 'say "hi"', "two\nlines", "'=1+1"]


@pytest.mark.parametrize("text", ["\r", "a\rb", "a\r\nb", "a\nb", 'say "yes"', "a,b"])
def test_a_cell_with_a_line_end_of_any_kind_stays_one_cell(text: str) -> None:
    rows = list(csv.reader(io.StringIO(row(["before", f"x{text}", "after"]) + row(["next"]), newline="")))
    assert rows == [["before", f"x{text}", "after"], ["next"]]


def test_every_end_of_line_in_a_cell_stays_in_it() -> None:
    cells = ["a\rb", "a\nb", "a\r\nb", 'a"b', "a,b"]
    text = row(cells)
    assert text.endswith("\n")
    assert list(csv.reader(io.StringIO(text, newline=""))) == [cells]
