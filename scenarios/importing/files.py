"""The rows of imported files: one for each content, whoever comes first, and a line for what was refused."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from django.db import IntegrityError, transaction
from django.utils import timezone

from scenarios.formats.imports.records import ImportedRun
from scenarios.models import ImportedFile, Run
from scenarios.storable import storable

State = ImportedFile.State
# An import without a sign of life for this long has died; the next one of the same file begins anew.
DEAD_AFTER = timedelta(minutes=2)


@dataclass
class Imported:
    """What became of one file: ``result`` in a word, ``why`` in words, and counts of its calls."""

    file: ImportedFile
    result: Literal["imported", "partly", "refused", "already", "cancelled"]
    why: str = ""
    run: Run | None = None
    trials: int = 0
    replayed: int = 0
    agreeing: int = 0
    differing: int = 0
    refused: int = 0


def stop_import(file: ImportedFile) -> bool:
    """Ask an import to stop; what it has stored is taken out again. False when it has ended."""
    stopped = {"state": State.CANCELLED, "reason": "stopped before it was read", "ended_at": timezone.now()}
    if ImportedFile.objects.filter(pk=file.pk, state=State.WAITING).update(**stopped):
        return True
    return bool(ImportedFile.objects.filter(pk=file.pk, state=State.IMPORTING).update(stop_requested=True))


def register(opened: ImportedRun, person: Any, name: str, file: ImportedFile | None) -> tuple[ImportedFile, bool]:
    """Return the row of this content and whether it is ours to fill; two imports at once get one row."""
    source = opened.source
    file = file or ImportedFile(imported_by=person)
    row = {
        "name": storable(name)[-300:],
        "state": State.IMPORTING,
        "format": opened.format,
        "sha256": source.sha256,
        "content_sha256": source.content_sha256,
        "size": source.size,
        "content_size": source.content_size,
        "heartbeat_at": timezone.now(),
    }
    for column, value in row.items():
        setattr(file, column, value)
    for _ in range(2):
        try:
            with transaction.atomic():
                file.save()
                return file, True
        except IntegrityError:
            held = ImportedFile.objects.get(content_sha256=source.content_sha256, state__in=ImportedFile.HELD)
            if not _is_dead(held):
                break
            _bury(held)
    if file.pk is not None:
        refuse(ImportedFile.objects.get(pk=file.pk), f"the same content was imported before, as {held.name}")
    return held, False


def _is_dead(file: ImportedFile) -> bool:
    last = file.heartbeat_at or file.imported_at
    return file.state == State.IMPORTING and last < timezone.now() - DEAD_AFTER


def _bury(file: ImportedFile) -> None:
    Run.objects.filter(imported_from=file).delete()
    reason = "the import died in the middle; what it had stored was taken out"
    ImportedFile.objects.filter(pk=file.pk).update(state=State.CANCELLED, reason=reason, ended_at=timezone.now())


def refuse(file: ImportedFile, why: str) -> Imported:
    """Write down that nothing of a file could be stored, and why."""
    file.state, file.reason, file.ended_at = State.REFUSED, storable(why), timezone.now()
    file.save()
    return Imported(file, "refused", why)
