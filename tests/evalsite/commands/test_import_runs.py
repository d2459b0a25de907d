"""``manage.py import_runs``: a line a file, counts as JSON, exit codes."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from scenarios.models import Run
from tests.scenarios.formats.imports.files import results, simulation, task, write

pytestmark = pytest.mark.django_db


def run_command(*arguments: Any) -> str:
    out = StringIO()
    call_command("import_runs", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_a_folder_with_strangers(tmp_path: Path, benchmarks: Path) -> None:
    write(tmp_path, results([simulation()], tasks=[task("0")]), "deep/er/results.json.gz")
    (tmp_path / "README.md").write_text("hello")
    out = run_command(tmp_path, "--rescore")
    assert "imported" in out
    assert "1 replayed: 1 agree, 0 differ" in out
    assert "passed over" in out
    assert "README.md" in out


def test_json_is_one_line_of_counts(tmp_path: Path, benchmarks: Path) -> None:
    path = write(tmp_path, results([simulation()], tasks=[task("0")]))
    counts = json.loads(run_command(path, "--rescore", "--json"))
    assert counts == {
        "files": 1,
        "trials": 1,
        "replayed": 1,
        "agreeing": 1,
        "differing": 0,
        "refused": 0,
        "refused_trials": 0,
        "partly": 0,
        "already": 0,
    }
    assert json.loads(run_command(path, "--json"))["already"] == 1
    assert Run.objects.count() == 1


def test_a_refused_file_is_told_and_exits_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = write(tmp_path, results([simulation()]), "good.json")
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    out = StringIO()
    with pytest.raises(SystemExit) as left:
        call_command("import_runs", str(bad), str(good), stdout=out)
    assert left.value.code == 1
    assert "refused" in out.getvalue()
    assert Run.objects.count() == 1
