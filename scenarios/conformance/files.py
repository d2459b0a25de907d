"""Reading vector files: what kind of vector a line is, running it, counting."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenarios.conformance import checks
from scenarios.conformance.compare import Problems
from scenarios.conformance.schemas import schema_line
from scenarios.conformance.worlds import NotBuilt

Check = Callable[[Mapping[str, Any]], Problems]
# Fields that tell the kinds of vectors apart, most telling first.
KINDS: tuple[tuple[frozenset[str], Check], ...] = (
    (frozenset({"input", "canonical", "sha256"}), checks.hash_line),
    (frozenset({"tool", "args", "seed", "db_sha256_after"}), checks.tool_line),
    (frozenset({"scenario", "success_signals", "expected_db_sha256"}), checks.gold_line),
    (frozenset({"scenario", "calls", "db_sha256_after"}), checks.gold_calls_line),
    (frozenset({"kind", "reference", "predicted", "match"}), checks.match_line),
    (frozenset({"function", "arguments", "after_sync"}), checks.init_line),
    (frozenset({"predicate", "arguments", "assert_value"}), checks.predicate_line),
    (frozenset({"argument_checks", "parameters", "domain"}), schema_line),
)


@dataclass(frozen=True)
class LineFailure:
    """One vector that does not hold: where it stands, what it is, and every difference."""

    number: int
    vector: Mapping[str, Any] | None
    problems: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"line {self.number}: {_label(self.vector)}", *(f"  {problem}" for problem in self.problems)]
        if self.vector is not None:
            lines.append(f"  vector: {json.dumps(self.vector)[:2000]}")
        return "\n".join(lines)


@dataclass
class FileReport:
    """What came of one file."""

    name: str
    passed: int = 0
    failures: list[LineFailure] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.name}: {self.passed} passed, {len(self.failures)} failed"


def vector_files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the files among paths; of a folder those that hold vectors of a known kind, by name."""
    for path in paths:
        if path.is_dir():
            inside = sorted(child for child in path.iterdir() if child.suffix in (".json", ".jsonl"))
            yield from (child for child in inside if _is_known(child))
        else:
            yield path


def run_file(path: Path, wanted: Callable[[Mapping[str, Any]], bool] = lambda vector: True) -> FileReport:
    """Run every vector of a file that is ``wanted``; nothing a file holds makes this raise."""
    report = FileReport(path.name)
    for number, vector in _read(path):
        if isinstance(vector, str):
            report.failures.append(LineFailure(number, None, (vector,)))
        elif wanted(vector):
            problems = _run(vector)
            if problems:
                report.failures.append(LineFailure(number, vector, tuple(problems)))
            else:
                report.passed += 1
    if not report.passed and not report.failures:
        report.failures.append(LineFailure(0, None, ("the file holds no vectors",)))
    return report


def read_vectors(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the vectors of a file, leaving out lines that cannot be read."""
    for _, vector in _read(path):
        if not isinstance(vector, str):
            yield vector


def kind_of(vector: Mapping[str, Any]) -> Check | None:
    """Return the check for a vector by the fields it has."""
    return next((check for fields, check in KINDS if fields <= vector.keys()), None)


def domain_of(vector: Mapping[str, Any]) -> str:
    """Return the domain that a vector is about, without the side of a schema file; '' for none."""
    name: str = vector.get("domain") or vector.get("seed", "").partition(":")[0]
    return name.removesuffix("_agent").removesuffix("_user") if "argument_checks" in vector else name


def _run(vector: Mapping[str, Any]) -> list[str]:
    check = kind_of(vector)
    if check is None:
        return [f"this is no known kind of vector (fields: {', '.join(vector)})"]
    try:
        return check(vector)
    except NotBuilt as error:
        return [str(error)]
    except Exception as error:  # a crash is a failure of this vector, and the others still count
        return [f"raised {type(error).__name__}: {error}"]


def _read(path: Path) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    """Yield the number and the vector of each line, or a text that says why it is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        yield 0, f"cannot be read: {error}"
        return
    if path.suffix == ".json":
        yield from _read_schemas(text)
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, _parsed(line)


def _read_schemas(text: str) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    data = _parsed(text)
    if isinstance(data, str) or not {"domain", "tools"} <= data.keys():
        yield 1, data if isinstance(data, str) else "this is no schema file (it needs domain and tools)"
        return
    for number, tool in enumerate(data["tools"], start=1):
        yield number, {"domain": data["domain"], **tool}


def _parsed(text: str) -> Mapping[str, Any] | str:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"this is no JSON: {error}"
    return data if isinstance(data, dict) else "this is no JSON object"


def _is_known(path: Path) -> bool:
    first = next(read_vectors(path), None)
    return first is not None and kind_of(first) is not None


def _label(vector: Mapping[str, Any] | None) -> str:
    names = ("id", "scenario", "tag", "tool", "name", "function", "predicate")
    return next((str(vector[name]) for name in names if name in vector), "") if vector else ""
