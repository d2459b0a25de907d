"""Files that people upload: kept until a worker has read them, then gone; their hashes stay."""

from __future__ import annotations

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
from scenarios.importing.files import Imported, refuse
from scenarios.importing.store import store
from scenarios.models import ImportedFile
from scenarios.storable import storable

State = ImportedFile.State


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


def import_upload(file_id: int) -> list[Imported]:
    """Read a waiting upload, and remove its bytes; an archive may hold several runs, each with a row of its own.

    Does nothing for a file that another worker has taken.
    """
    waiting = ImportedFile.objects.filter(pk=file_id, state=State.WAITING)
    if not waiting.update(state=State.IMPORTING, heartbeat_at=timezone.now()):
        return []
    row = ImportedFile.objects.get(pk=file_id)
    folder = _folder() / row.upload
    path = folder / row.name
    results: list[Imported] = []
    try:
        (folder / "content").rename(path)
        catalogue.sync()
        for found in open_all([path]):
            if found.kind == "passed_over":
                continue
            name = f"{row.name}/{found.place}" if found.place else row.name
            file = row if not results else ImportedFile(name=name[:300], imported_by=row.imported_by)
            if found.run is None:
                results.append(refuse(file, found.why))
            else:
                results.append(store(found.run, row.imported_by, name=name, file=file, **row.options))
        if not results:
            results.append(refuse(row, "it holds nothing that can be imported"))
    except BaseException:
        still = ImportedFile.objects.filter(pk=file_id, state=State.IMPORTING)
        still.update(
            state=State.CANCELLED, reason="the worker broke off; import the file again", ended_at=timezone.now()
        )
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return results


def _folder() -> Path:
    return Path(settings.VAR_DIR) / "uploads"
