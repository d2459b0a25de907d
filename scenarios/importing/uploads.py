"""Files that people upload: kept until a worker has read them, then gone; their hashes stay."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone

from scenarios import catalogue
from scenarios.formats.imports.everything import open_all
from scenarios.importing.again import fault_here
from scenarios.importing.files import Imported, bury_the_dead, refuse
from scenarios.importing.store import store
from scenarios.models import ImportedFile
from scenarios.storable import storable

State = ImportedFile.State
_log = logging.getLogger(__name__)


def keep_upload(upload: UploadedFile[Any], person: Any, options: Mapping[str, bool]) -> ImportedFile:
    """Keep an uploaded file for a worker to read; returns its row, which says how it goes."""
    name = Path(storable(upload.name or "").replace("\\", "/")).name[:200].strip(". ") or "file"
    folder = _folder() / uuid4().hex
    folder.mkdir(parents=True)
    with (folder / "content").open("wb") as kept:
        for block in upload.chunks():
            kept.write(block)
    return ImportedFile.objects.create(
        name=name,
        size=upload.size or 0,
        imported_by=person,
        state=State.WAITING,
        upload=folder.name,
        options=dict(options),
    )


def import_waiting() -> list[Imported]:
    """Read the uploads that wait, the oldest first, one after the other; what died before is taken out.

    Returns at once while another worker does so, so that no more than one worker is ever kept from calls.
    """
    clear_away()
    results: list[Imported] = []
    while not is_reading() and (row := ImportedFile.objects.filter(state=State.WAITING).order_by("pk").first()):
        results += import_upload(row.pk)
    return results


def is_reading() -> bool:
    """Return whether a worker is reading an upload now."""
    return ImportedFile.objects.filter(state=State.IMPORTING).exclude(upload="").exists()


def clear_away() -> None:
    """Take out what imports that died left behind, their uploads too."""
    for file in bury_the_dead():
        if file.upload:
            shutil.rmtree(_folder() / file.upload, ignore_errors=True)


def import_upload(file_id: int) -> list[Imported]:
    """Read a waiting upload, and remove its bytes; an archive may hold several runs, each with a row of its own.

    Does nothing for a file that another worker has taken. When somebody stops it, the rest of an archive is left too.
    """
    waiting = ImportedFile.objects.filter(pk=file_id, state=State.WAITING)
    if not waiting.update(state=State.IMPORTING, heartbeat_at=timezone.now()):
        return []
    row = ImportedFile.objects.get(pk=file_id)
    folder = _folder() / row.upload
    try:
        (folder / "content").rename(folder / row.name)
        catalogue.sync()
        return _read(row, folder / row.name)
    except Exception as fault:
        _log.exception("import of %s", row.name)
        return [refuse(ImportedFile.objects.get(pk=file_id), fault_here(fault))]
    except BaseException:
        still = ImportedFile.objects.filter(pk=file_id, state=State.IMPORTING)
        still.update(
            state=State.CANCELLED, reason="the worker broke off; import the file again", ended_at=timezone.now()
        )
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read(row: ImportedFile, path: Path) -> list[Imported]:
    results: list[Imported] = []
    for found in open_all([path]):
        if found.kind == "passed_over":
            continue
        name = f"{row.name}/{found.place}" if found.place else row.name
        file = row if not results else ImportedFile(name=name[:300], imported_by=row.imported_by, upload=row.upload)
        if found.run is None:
            results.append(refuse(file, found.why))
        else:
            results.append(store(found.run, row.imported_by, name=name, file=file, **row.options))
        if results[-1].result == "cancelled":
            break
    return results or [refuse(row, "it holds nothing that can be imported")]


def _folder() -> Path:
    return Path(settings.VAR_DIR) / "uploads"
