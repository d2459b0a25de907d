"""``manage.py import_runs``: a line a file, counts as JSON, exit codes."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from scenarios.models import ImportedFile, Run
from tests.scenarios.formats.imports.files import action, results, simulation, task, write

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
    assert "1 calls, 1 replayed; 1 stored verdicts, 1 agree, 0 differ" in out
    assert "passed over" in out
    assert "README.md" in out


def test_json_is_one_line_of_counts(tmp_path: Path, benchmarks: Path) -> None:
    # The first check comes out again. The second does not: nobody says 42.
    expected = [action("get_order_details", {"order_id": "#W1"})]
    criteria = {"actions": expected, "communicate_info": ["42"], "reward_basis": ["DB"]}
    checks = {
        "reward": 1.0,
        "db_check": {"db_match": True, "db_reward": 1.0},
        "action_checks": [{"action": expected[0], "action_match": False, "action_reward": 0.0}],
        "communicate_checks": [{"info": "42", "met": True, "justification": ""}],
        "reward_basis": ["DB"],
    }
    tasks = [task("0", evaluation_criteria=criteria)]
    path = write(tmp_path, results([simulation(reward_info=checks)], tasks=tasks))
    assert "checks: actions 1 of 1 agree, facts to say 0 of 1 agree" in run_command(path, "--rescore")
    ImportedFile.objects.all().delete()
    Run.objects.all().delete()
    counts = json.loads(run_command(path, "--rescore", "--json"))
    assert counts == {
        "files": 1,
        "trials": 1,
        "replayed": 1,
        "stored": 1,
        "agreeing": 1,
        "differing": 0,
        "explained": 0,
        "checks": {
            "action": {"agreeing": 1, "compared": 1},
            "communicate": {"agreeing": 0, "compared": 1},
            "db_state_assertion": {"agreeing": 0, "compared": 0},
        },
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
