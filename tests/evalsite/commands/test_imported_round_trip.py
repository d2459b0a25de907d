"""Results of other tools that are exported again keep their task, verdict and end in every form that can hold them."""

from pathlib import Path

import pytest
from django.core.management import call_command

from scenarios.importing import import_path
from scenarios.models import ForeignResult, ImportedFile, Run
from tests.scenarios.formats.imports.files import real

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("benchmarks")]


def again(run: Run, form: str, folder: Path) -> Run:
    """Export a run, forget it, and import the export."""
    path = folder / f"{form}.json"
    call_command("export_run", str(run.pk), "--format", form, "-o", str(path), verbosity=0)
    run.delete()
    ImportedFile.objects.all().delete()
    found = import_path(path, replay=True)
    assert found.run is not None, found.why
    return found.run


def verdicts(run: Run) -> list[tuple[str, bool | None, bool | None, list[str]]]:
    """Return outcome, stored and own database verdict of each call, and the kinds of reasons where they differ."""
    rows = ForeignResult.objects.filter(trial__run=run).select_related("trial").order_by("trial__position")
    return sorted(
        (row.trial.outcome, row.stored_db_match, row.our_db_match, [reason["kind"] for reason in row.reasons])
        for row in rows
    )


@pytest.mark.parametrize("form", ["tau2", "inspect-json"])
@pytest.mark.parametrize(
    "path",
    [
        # Tasks that have changed since; both sides' databases and tau2's own defect; a form with other numbers.
        "sierra-tau2-bench/text/gpt-4.1_airline_1trial.json.gz",
        "sierra-tau2-bench/text/gpt-4.1_telecom-no-user_5tasks_4trials.json.gz",
        "blakeelias-tau2-bench/grok-3_telecom_5tasks.json.gz",
    ],
)
def test_a_run_comes_back_with_its_verdicts_and_their_reasons(tmp_path: Path, path: str, form: str) -> None:
    first = import_path(real(path), replay=True).run
    assert first is not None
    before = verdicts(first)

    assert verdicts(again(first, form, tmp_path)) == before


def test_tau_benchs_tasks_come_back_through_inspect(tmp_path: Path) -> None:
    first = import_path(real("sierra-tau-bench-v1/gpt-4o-airline.json.gz"), replay=True).run
    assert first is not None
    back = again(first, "inspect-json", tmp_path)

    # Where the list had no verdict on the database, the export has the replay's.
    assert ForeignResult.objects.filter(trial__run=back, agrees=True).count() == 200


def test_a_single_simulation_without_a_task_fits_the_task_that_it_is_exported_with(tmp_path: Path) -> None:
    folder = "simoneangarano-tau2-bench/audio_clean_vs_regular"
    first = import_path(real(f"{folder}/task_14_note_2b920733_simulation.json.gz"), replay=True).run
    assert first is not None
    before = verdicts(first)

    assert verdicts(again(first, "tau2", tmp_path)) == before
