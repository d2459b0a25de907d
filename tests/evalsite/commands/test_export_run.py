import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.factories import make_run
from tests.scenarios.formats.stored import NAMES, stored_run

pytestmark = pytest.mark.django_db


def export(run: int, out: Path) -> str:
    printed = StringIO()
    call_command("export_run", str(run), "--format", "reference", "--out", str(out), stdout=printed)
    return printed.getvalue()


def test_a_run_becomes_a_folder_of_the_references(tmp_path: Path) -> None:
    run = stored_run()
    said = export(run.pk, tmp_path)
    (folder,) = tmp_path.iterdir()
    assert said == f"{folder}: 2 trials\n"
    metrics = json.loads((folder / NAMES[0] / "metrics.json").read_text())
    assert (metrics["is_successful"], metrics["db_state_match"], metrics["nl_assertion_pass_rate"]) == (True, True, 1.0)
    assert metrics["success_breakdown"]["passed"] == ["db_state_match", "nl_assertion", "clean_exit"]
    predicates = json.loads((folder / NAMES[1] / "metrics.json").read_text())
    assert predicates["db_state_assertion_pass_rate"] == 1.0
    assert {row["side"] for row in predicates["db_state_assertion_verdicts"]} == {"agent"}
    metadata = json.loads((folder / NAMES[1] / "scenario_config" / "metadata.json").read_text())
    assert len(metadata["db_state_assertions"]) == 2


def test_what_has_not_ended_is_counted(tmp_path: Path) -> None:
    assert "2 trials; 1 trials have not ended" in export(make_run(3, 1, ("pass", "queued", "fail")).pk, tmp_path)


def test_an_unknown_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="there is no run 99"):
        export(99, tmp_path)


def test_a_run_without_an_ended_trial_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no ended trial yet"):
        export(make_run(2).pk, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_second_export_names_the_folder_that_is_there(tmp_path: Path) -> None:
    run = stored_run()
    export(run.pk, tmp_path)
    with pytest.raises(CommandError, match="exists already"):
        export(run.pk, tmp_path)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError, match="file"):
        export(stored_run().pk, tmp_path / "file")
