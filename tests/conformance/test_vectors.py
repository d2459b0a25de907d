"""The conformance vectors of every domain that is built, run by the same runner as ``manage.py conformance``."""

import os
from pathlib import Path

import pytest

from scenarios import domains
from scenarios.conformance import run_file, vector_files
from scenarios.conformance.files import domain_of, read_vectors
from tests.conftest import ROOT

FOLDER = Path(os.environ.get("CONFORMANCE_DIR", ROOT.parent / "shared" / "conformance"))
BUILT = {"", *domains.load()}


def runnable() -> list[Path]:
    """Return the files that hold a vector of a domain that is built (or of none)."""
    files = vector_files([FOLDER]) if FOLDER.is_dir() else []
    return [path for path in files if any(domain_of(vector) in BUILT for vector in read_vectors(path))]


@pytest.mark.parametrize("path", runnable(), ids=lambda path: path.name)
def test_every_vector_holds(path: Path, benchmarks: Path) -> None:
    report = run_file(path, lambda vector: domain_of(vector) in BUILT)
    assert report.passed
    assert not report.failures, "\n".join(map(str, [report, *report.failures[:3]]))


def test_the_vectors_of_this_stage_are_there(conformance: Path) -> None:
    names = {path.name for path in runnable()}
    assert names >= {
        "actions_match.jsonl",
        "gold.jsonl",
        "hash.jsonl",
        "schemas_tau2_retail.json",
        "tools_tau2_retail.jsonl",
    }
