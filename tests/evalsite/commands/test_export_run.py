import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from scenarios.formats.exports.registry import RUN_FORMATS
from tests.factories import make_run
from tests.scenarios.formats.stored import NAMES, stored_run

pytestmark = pytest.mark.django_db


def write(run: int, *options: str) -> str:
    printed = StringIO()
    call_command("export_run", str(run), *options, stdout=printed)
    return printed.getvalue()


def export(run: int, out: Path) -> str:
    return write(run, "--format", "reference", "--out", str(out))


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


@pytest.mark.parametrize("name", RUN_FORMATS)
def test_every_form_is_a_file(name: str, tmp_path: Path) -> None:
    run = stored_run()
    form = RUN_FORMATS[name]
    said = write(run.pk, "--format", name, "-o", str(tmp_path / f"out{form.suffix}"))
    assert said == f"{tmp_path / f'out{form.suffix}'}: 2 trials\n"
    assert [path.name for path in tmp_path.iterdir()] == [f"out{form.suffix}"]
    if name != "reference":
        assert (
            write(run.pk, "--format", name, "-o", str(tmp_path)) == f"{tmp_path}/run-{run.pk}{form.suffix}: 2 trials\n"
        )


def test_a_filter_chooses_trials_and_is_said(tmp_path: Path) -> None:
    run = make_run(4, 1, ("pass", "fail", "stalled", "queued"))
    told = write(
        run.pk, "--format", "trials-jsonl", "--outcome", "fail", "--outcome", "stalled", "-o", str(tmp_path / "a.jsonl")
    )
    assert told.endswith("2 trials; only outcome fail or stalled; 1 trials have not ended and are not in it\n")
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [row["outcome"] for row in rows] == ["fail", "stalled"]
    with pytest.raises(CommandError, match="no ended trial that is tag x, scenarios with 'y'"):
        write(run.pk, "--format", "junit", "--tag", "x", "--search", "y", "-o", str(tmp_path / "b.xml"))


def test_a_rehearsal_is_said(tmp_path: Path) -> None:
    run = make_run(1, 1, ("pass",), is_rehearsal=True)
    told = write(run.pk, "--format", "junit", "-o", str(tmp_path))
    assert "a rehearsal: a party or the judge is a stand-in" in told


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    run = make_run(1, 1, ("pass",))
    (tmp_path / "a.csv").write_text("mine")
    with pytest.raises(CommandError, match="exists already"):
        write(run.pk, "--format", "trials-csv", "-o", str(tmp_path / "a.csv"))
    assert (tmp_path / "a.csv").read_text() == "mine"


def test_an_unknown_form_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="invalid choice: 'word'.*junit"):
        write(1, "--format", "word", "-o", str(tmp_path))


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
