"""Uploads: kept until read, then gone; several runs in an archive become several."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from pytest_django import Settings

from scenarios.importing import import_upload, keep_upload, stop_import
from scenarios.models import ImportedFile, Run
from tests.scenarios.formats.imports.files import results, simulation

pytestmark = pytest.mark.django_db
OPTIONS = {"replay": False, "upstream": False}


@pytest.fixture(autouse=True)
def _own_folder(settings: Settings, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path


def upload(content: bytes, name: str = "results.json") -> ImportedFile:
    return keep_upload(SimpleUploadedFile(name, content), None, OPTIONS)


def as_json(**fields: object) -> bytes:
    return json.dumps(results([simulation(**fields)])).encode()


def left(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "uploads").rglob("*") if path.is_file()]


def test_an_upload_is_read_and_its_bytes_are_gone(tmp_path: Path, operator: User) -> None:
    file = keep_upload(SimpleUploadedFile("results.json", as_json()), operator, OPTIONS)
    assert file.state == "waiting"
    assert len(left(tmp_path)) == 1
    (result,) = import_upload(file.pk)
    assert result.result == "imported"
    file.refresh_from_db()
    assert (file.state, file.trial_count) == ("imported", 1)
    assert file.runs.get().launched_by == operator
    assert left(tmp_path) == []


def test_a_second_worker_does_nothing() -> None:
    file = upload(as_json())
    assert len(import_upload(file.pk)) == 1
    assert import_upload(file.pk) == []


def test_rubbish_is_refused_in_its_row(tmp_path: Path) -> None:
    file = upload(b"not json at all", "notes.json")
    import_upload(file.pk)
    file.refresh_from_db()
    assert file.state == "refused"
    assert file.reason
    assert left(tmp_path) == []


def test_the_same_content_twice_is_told() -> None:
    import_upload(upload(as_json()).pk)
    file = upload(as_json(), "other.json")
    (result,) = import_upload(file.pk)
    assert result.result == "already"
    file.refresh_from_db()
    assert file.state == "refused"
    assert "imported before" in file.reason
    assert Run.objects.count() == 1


def test_an_archive_may_hold_several_runs() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("one/results.json", as_json(id="one"))
        archive.writestr("two/results.json", as_json(id="two"))
        archive.writestr("../../out.json", as_json(id="three"))
    file = upload(packed.getvalue(), "runs.zip")
    made = import_upload(file.pk)
    assert [result.result for result in made] == ["imported", "imported"]
    assert Run.objects.count() == 2
    names = set(ImportedFile.objects.values_list("name", flat=True))
    assert all(name.startswith("runs.zip") for name in names)


def test_an_upload_can_be_stopped_before_it_is_read() -> None:
    file = upload(as_json())
    assert stop_import(file)
    assert import_upload(file.pk) == []
    file.refresh_from_db()
    assert file.state == "cancelled"


@pytest.mark.parametrize("name", ["../../etc/passwd", "a\\b\\c.json", "x" * 400, "..", ""])
def test_names_lead_nowhere(tmp_path: Path, name: str) -> None:
    SimpleUploadedFile("ok.json", b"")
    given = SimpleUploadedFile("ok.json", as_json())
    given._name = name  # type: ignore[attr-defined]  # Django's own parser cleans names; ours must not lean on it
    file = keep_upload(given, None, OPTIONS)
    import_upload(file.pk)
    assert not (tmp_path.parent / "etc").exists()
    assert "/" not in file.name
