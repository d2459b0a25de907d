"""People's labels in and out: one row a (claim of a call, rater, stage), as JSON lines or CSV.

A claim has a *stable id*, made from the scenario's fingerprint, the signal and the words of the claim, so it is the
same in every database and on every machine, and another one once the scenario or the claim changes. Run, scenario and
trial say in which call it was ruled on. The reader is strict: it takes every good line and reports each bad one.
"""

import csv
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple, get_args

from scenarios.analysis.agreement import RULINGS, Ruling
from scenarios.formats.csv_cells import cell
from scenarios.formats.csv_cells import line as csv_line

Format = Literal["jsonl", "csv"]
Stage = Literal["blind", "revealed", "adjudication"]
STAGES: tuple[Stage, ...] = get_args(Stage)
MAX_LINES = 200_000
MAX_TEXT = 10_000
# A file that is no labels file at all is told apart by its first lines; further ones add nothing.
MAX_PROBLEMS = 200
_HEX = re.compile(r"[0-9a-f]{64}")
_TRUE_FALSE = {"true": True, "false": False}


@dataclass(frozen=True)
class LabelRecord:
    """One ruling of one person. ``at`` is ISO text with its zone; ``judge_fingerprint`` is that of its verdict."""

    claim_id: str
    run: str
    scenario: str
    scenario_fingerprint: str
    trial: int  # number of the repetition, from 1
    signal: str
    claim: str
    rater: str
    stage: Stage
    ruling: Ruling
    comment: str = ""
    judge_fingerprint: str = ""
    at: str = ""

    @property
    def blind(self) -> bool:
        """Return whether it was ruled before the judge's ruling was shown."""
        return self.stage == "blind"

    @property
    def item(self) -> str:
        """Return the name of what was ruled on: this claim of this call (``analysis.agreement.Label.item``)."""
        return f"{self.run}/{self.scenario}/{self.trial}/{self.claim_id}"


COLUMNS: tuple[str, ...] = (
    "claim_id",
    "run",
    "scenario",
    "scenario_fingerprint",
    "trial",
    "signal",
    "claim",
    "rater",
    "blind",
    "stage",
    "ruling",
    "comment",
    "judge_fingerprint",
    "at",
)


class BadLine(NamedTuple):
    """What is wrong with one line: its number from 1, the field ("" for the whole line), and what to do."""

    line: int
    field: str
    message: str

    def __str__(self) -> str:
        where = f"line {self.line}" + (f", {self.field}" if self.field else "")
        return f"{where}: {self.message}"


@dataclass(frozen=True)
class LabelsRead:
    """Labels of the good lines with the numbers of these, and the bad lines, at most ``MAX_PROBLEMS`` of them."""

    labels: tuple[LabelRecord, ...]
    problems: tuple[BadLine, ...]
    more_problems: int = 0
    lines: tuple[int, ...] = ()


def claim_id(scenario_fingerprint: str, signal: str, claim: str) -> str:
    """Return the stable id of a claim (24 hexadecimal digits); spacing does not matter, as judges do not see it."""
    text = json.dumps([scenario_fingerprint, signal, " ".join(claim.split())], ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def jsonl_lines(labels: Iterable[LabelRecord]) -> Iterator[str]:
    """Yield one JSON object a label, each with its line end."""
    for label in labels:
        yield json.dumps(_row(label), ensure_ascii=True) + "\n"


def csv_lines(labels: Iterable[LabelRecord]) -> Iterator[str]:
    """Yield the head and one row a label. No cell is a formula, and ``read_labels`` gets every text back as it was."""
    yield csv_line(COLUMNS)
    for label in labels:
        yield csv_line(_guarded(value) for value in _row(label).values())


def _row(label: LabelRecord) -> dict[str, Any]:
    return {name: getattr(label, name) for name in COLUMNS}


def read_labels(text: str, form: Format) -> LabelsRead:
    """Read a whole file; raises ValueError only for one that is longer than ``MAX_LINES``."""
    text = text.removeprefix("\ufeff")
    reading = _Reading()
    rows = _json_rows(text, reading) if form == "jsonl" else _csv_rows(text, reading)
    for number, row in rows:
        reading.row(number, row)
    return LabelsRead(tuple(reading.labels), tuple(reading.problems), reading.more, tuple(reading.lines))


class _Wrong(Exception):
    """A value is not what its field takes; the text says what does."""


@dataclass
class _Reading:
    """What has been read so far."""

    labels: list[LabelRecord] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    problems: list[BadLine] = field(default_factory=list)
    more: int = 0
    _seen: dict[tuple[str, str, Stage], int] = field(default_factory=dict)

    def bad(self, line: int, name: str, message: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(BadLine(line, name, message))
        else:
            self.more += 1

    def row(self, line: int, row: Mapping[str, Any]) -> None:
        """Take one row: a label, or all that is wrong with it."""
        if line > MAX_LINES:
            raise ValueError(f"the file has more than {MAX_LINES} lines: split it")
        values: dict[str, Any] = {}
        wrong = False
        for name in sorted(set(row) - set(COLUMNS)):
            self.bad(line, name, f"there is no such field; the fields are {', '.join(COLUMNS)}")
            wrong = True
        for name, take in _FIELDS.items():
            try:
                values[name] = take(row.get(name))
            except _Wrong as problem:
                self.bad(line, name, str(problem))
                wrong = True
        if not wrong:
            blind = values.pop("blind")
            values["stage"] = values["stage"] or ("blind" if blind else "revealed")
            label = LabelRecord(**values)
            if label.blind != blind:
                self.bad(line, "stage", f"is {label.stage!r}, but blind is {str(blind).lower()}: say the same in both")
            else:
                self._label(line, label)

    def _label(self, line: int, label: LabelRecord) -> None:
        if label.claim_id != claim_id(label.scenario_fingerprint, label.signal, label.claim):
            message = (
                "does not belong to this scenario fingerprint, signal and claim: export again, the claim has changed"
            )
            self.bad(line, "claim_id", message)
            return
        key = (label.item, label.rater, label.stage)
        if key in self._seen:
            line_before = self._seen[key]
            message = f"{label.rater} has a ruling of stage {label.stage} on this claim in line {line_before}: keep one"
            self.bad(line, "rater", message)
            return
        self._seen[key] = line
        self.labels.append(label)
        self.lines.append(line)


def _json_rows(text: str, reading: _Reading) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, object_pairs_hook=_once)
        except RecursionError:
            reading.bad(number, "", "is nested too deeply: give one flat JSON object a line")
            continue
        except ValueError as problem:
            reading.bad(number, "", f"is no JSON object ({problem}): give one a line")
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            reading.bad(number, "", f"is a JSON {type(row).__name__}: give one object a line")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        raise ValueError("a field is given twice")
    return row


def _csv_rows(text: str, reading: _Reading) -> Iterator[tuple[int, Mapping[str, Any]]]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        head = next(rows, [])
        missing = [name for name in _REQUIRED if name not in head]
        if missing or len(set(head)) != len(head):
            what = f"lacks {', '.join(missing)}" if missing else "names a column twice"
            reading.bad(1, "", f"the head {what}: the columns are {', '.join(COLUMNS)}")
            return
        start = rows.line_num + 1
        for row in rows:
            if len(row) == len(head):
                yield start, _typed(dict(zip(head, map(_unguarded, row), strict=True)))
            elif row:
                reading.bad(start, "", f"has {len(row)} cells, but the head has {len(head)}: quote cells with commas")
            start = rows.line_num + 1
    except csv.Error as problem:
        reading.bad(rows.line_num, "", f"is no CSV ({problem}): cells with quotes or line ends stand in double quotes")


def _typed(row: dict[str, str]) -> dict[str, Any]:
    """Return a CSV row with the two fields that are no text as JSON has them; other spellings stay and are refused."""
    typed: dict[str, Any] = dict(row)
    typed["blind"] = _TRUE_FALSE.get(row["blind"].lower(), row["blind"])
    if re.fullmatch(r"[0-9]{1,9}", row["trial"]):
        typed["trial"] = int(row["trial"])
    return typed


def _guarded(value: Any) -> Any:
    """Return a cell that no spreadsheet runs. Text that looks guarded already gets one more apostrophe."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    bare = value.lstrip("'")
    return value if cell(bare) == bare else f"'{value}"


def _unguarded(text: str) -> str:
    bare = text.lstrip("'")
    return text[1:] if bare != text and cell(bare) != bare else text


def _text(*, required: bool) -> Callable[[Any], str]:
    def take(value: Any) -> str:
        if value is None and not required:
            return ""
        if value is None or (required and value == ""):
            raise _Wrong("is missing")
        if not isinstance(value, str):
            raise _Wrong(f"is {value!r}: give text")
        if len(value) > MAX_TEXT:
            raise _Wrong(f"has {len(value)} characters: the limit is {MAX_TEXT}")
        return value

    return take


def _matching(pattern: str, remedy: str) -> Callable[[Any], str]:
    text = _text(required=True)

    def take(value: Any) -> str:
        if not re.fullmatch(pattern, found := text(value)):
            raise _Wrong(f"is {found[:80]!r}: {remedy}")
        return found

    return take


def _trial(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise _Wrong(f"is {value!r}: give the number of the trial, from 1")
    return value


def _blind(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _Wrong(f"is {value!r}: give true or false")
    return value


def _ruling(value: Any) -> Ruling:
    for ruling in RULINGS:
        if value == ruling:
            return ruling
    raise _Wrong(f"is {value!r}: give one of {', '.join(RULINGS)}")


def _stage(value: Any) -> Stage | None:
    if value in (None, ""):
        return None
    for stage in STAGES:
        if value == stage:
            return stage
    raise _Wrong(f"is {value!r}: give one of {', '.join(STAGES)}, or nothing")


def _fingerprint(value: Any) -> str:
    found = _text(required=False)(value)
    if found and not _HEX.fullmatch(found):
        raise _Wrong(f"is {found[:80]!r}: give the 64 hexadecimal digits of a verdict's fingerprint, or nothing")
    return found


def _moment(value: Any) -> str:
    found = _text(required=False)(value)
    if found:
        try:
            zone = datetime.fromisoformat(found).tzinfo
        except ValueError:
            raise _Wrong(f"is {found[:80]!r}: give an ISO time such as 2026-11-30T13:05:00+00:00, or nothing") from None
        if zone is None:
            raise _Wrong(f"{found!r} has no time zone: add one, such as +00:00")
    return found


_FIELDS: dict[str, Callable[[Any], Any]] = {
    "claim_id": _matching("[0-9a-f]{24}", "give the 24 hexadecimal digits that the export wrote"),
    "run": _text(required=True),
    "scenario": _text(required=True),
    "scenario_fingerprint": _matching("[0-9a-f]{64}", "give the 64 hexadecimal digits that the export wrote"),
    "trial": _trial,
    "signal": _text(required=True),
    "claim": _text(required=True),
    "rater": _text(required=True),
    "blind": _blind,
    "stage": _stage,
    "ruling": _ruling,
    "comment": _text(required=False),
    "judge_fingerprint": _fingerprint,
    "at": _moment,
}
_REQUIRED = tuple(name for name in COLUMNS if name not in ("stage", "comment", "judge_fingerprint", "at"))
