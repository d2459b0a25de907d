"""CSV cells that a spreadsheet shows and never runs."""

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

# Full-width forms are taken for the plain ones by some spreadsheets.
_FORMULA = re.compile(r"\A[\s\x00]*[=+\-@\uff1d\uff0b\uff0d\uff20]|\A[\t\r\n]")
# No number of ours begins with a plus; a telephone number does, and would lose it.
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def cell(value: Any) -> Any:
    """Return a value for a CSV cell: text that begins like a formula gets an apostrophe; numbers stay numbers."""
    if value is None or isinstance(value, int | float):
        return value
    text = str(value)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def row(values: Iterable[Any]) -> str:
    """Return one line of CSV with its line end, every cell defused."""
    return line(cell(value) for value in values)


def line(cells: Iterable[Any]) -> str:
    """Return one line of CSV with its line end, the cells as they are."""
    buffer = io.StringIO()
    csv.writer(buffer).writerow(cells)  # only with its own line end does it quote a lone carriage return
    return buffer.getvalue().removesuffix("\r\n") + "\n"
