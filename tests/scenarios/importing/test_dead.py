"""Imports whose worker died: noticed, taken out, told; and one that only seemed dead stores nothing more."""

import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from pytest_django import Settings

from scenarios import importing
from scenarios.formats.imports.everything import open_all
from scenarios.importing import clear_away, files, import_path, import_waiting, keep_upload, stop_import, uploads
from scenarios.importing.files import DEAD_AFTER
from scenarios.models import ImportedFile, Run
from tests.scenarios.formats.imports.files import results, simulation, write
from tests.scenarios.importing.test_uploads import OPTIONS, as_json, left

# The package has a function of this name.
STORE = import_module("scenarios.importing.store")
NOTHING: dict[str, Any] = {}
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_folder(settings: Settings, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path


class Killed(BaseException):
    """What no code of ours handles: as if the process had gone."""


def die_while_reading(monkeypatch: pytest.MonkeyPatch, file: ImportedFile) -> None:
    """Leave rows and bytes as a worker does that is killed after its first calls were stored."""

    def killed(self: Any, *_: Any) -> None:
        raise Killed

    with monkeypatch.context() as context:
        # Whatever would tidy up belongs to the process that is gone.
        context.setattr(STORE._Storing, "_close", killed)
        context.setattr(STORE._Storing, "withdraw", lambda self: None)
        context.setattr(shutil, "rmtree", lambda *_, **__: None)
        with pytest.raises(Killed):
            importing.import_upload(file.pk)
    silent = timezone.now() - 2 * DEAD_AFTER
    ImportedFile.objects.filter(pk=file.pk).update(state="importing", heartbeat_at=silent, reason="")


def upload(name: str = "results.json", **fields: Any) -> ImportedFile:
    return keep_upload(SimpleUploadedFile(name, as_json(**fields)), None, OPTIONS)


def test_what_a_dead_import_left_is_taken_out_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = upload()
    die_while_reading(monkeypatch, file)
    assert Run.objects.count() == 1
    assert left(tmp_path) != []

    clear_away()

    file.refresh_from_db()
    assert (file.state, file.reason) == ("cancelled", files.DIED)
    assert not Run.objects.exists()
    assert left(tmp_path) == []


def test_the_same_file_can_be_imported_after_a_death(monkeypatch: pytest.MonkeyPatch) -> None:
    die_while_reading(monkeypatch, upload())
    again = upload()

    (result,) = importing.import_upload(again.pk)

    assert result.result == "imported"
    assert sorted(ImportedFile.objects.values_list("state", flat=True)) == ["cancelled", "imported"]
    assert Run.objects.count() == 1


def test_a_dead_import_is_shown_as_silent_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    file = upload()
    die_while_reading(monkeypatch, file)
    file.refresh_from_db()
    assert file.is_silent

    assert stop_import(file)

    file.refresh_from_db()
    assert (file.state, file.is_silent) == ("cancelled", False)


def test_a_living_import_is_left_alone() -> None:
    file = upload()
    ImportedFile.objects.filter(pk=file.pk).update(state="importing", heartbeat_at=timezone.now())
    clear_away()
    file.refresh_from_db()
    assert (file.state, file.is_silent) == ("importing", False)


def test_who_was_taken_for_dead_stores_nothing_more(tmp_path: Path) -> None:
    path = write(tmp_path, results([simulation(id=f"s{number}", trial=number) for number in range(45)]))

    def meanwhile(count: int) -> None:
        ImportedFile.objects.update(heartbeat_at=timezone.now() - 2 * DEAD_AFTER)
        clear_away()

    result = import_path(path, progress=meanwhile)

    assert (result.result, result.why) == ("cancelled", files.DIED)
    assert not Run.objects.exists()


def test_waiting_uploads_are_read_one_after_the_other_by_one_worker() -> None:
    first, second = upload("a.json", id="a"), upload("b.json", id="b")
    ImportedFile.objects.filter(pk=first.pk).update(state="importing", heartbeat_at=timezone.now())
    assert uploads.is_reading()
    assert import_waiting() == []

    ImportedFile.objects.filter(pk=first.pk).update(state="waiting")
    assert [result.file.name for result in import_waiting()] == ["a.json", "b.json"]

    second.refresh_from_db()
    assert second.state == "imported"


def test_a_stop_while_the_file_is_measured_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    file = upload()

    def meanwhile(paths: Any) -> Any:
        assert stop_import(ImportedFile.objects.get(pk=file.pk))
        return open_all(paths)

    monkeypatch.setattr(uploads, "open_all", meanwhile)
    (result,) = importing.import_upload(file.pk)

    assert result.result == "cancelled"
    file.refresh_from_db()
    assert (file.state, file.trial_count) == ("cancelled", 0)
    assert not Run.objects.exists()


def test_a_defect_of_ours_ends_one_file_with_a_line_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path, results([simulation()]))
    with monkeypatch.context() as context:
        context.setattr(STORE, "rows_of", lambda *_: NOTHING["missing"])
        broken = import_path(path)

    assert broken.result == "refused"
    assert "fault of Callboard's own" in broken.why
    assert "KeyError" in caplog.text
    assert not Run.objects.exists()
    assert import_path(path).result == "imported"
