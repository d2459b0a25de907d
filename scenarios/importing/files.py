"""The rows of imported files: one for each content, whoever comes first, and a line for what was refused."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from scenarios.formats.imports.records import ImportedRun
from scenarios.importing import recordings
from scenarios.models import ImportedFile, Run
from scenarios.storable import storable

State = ImportedFile.State
# An import without a sign of life for this long has died: it is taken out, and the file can be imported anew.
DEAD_AFTER = ImportedFile.SILENT_AFTER
DIED = "the worker that read it died in the middle; what was stored of it was taken out. Import it again."


@dataclass
class Imported:
    """What became of one file: ``result`` in a word, ``why`` in words, and counts of its calls.

    ``stored`` have a database verdict in the file; ``explained`` are those that differ from ours for a known reason.
    ``checks`` counts single actions, facts and predicates by kind and how ours stand to the file's.
    ``not_replayed`` is the commonest reason why calls were not.
    """

    file: ImportedFile
    result: Literal["imported", "partly", "refused", "already", "cancelled"]
    why: str = ""
    run: Run | None = None
    trials: int = 0
    replayed: int = 0
    stored: int = 0
    agreeing: int = 0
    differing: int = 0
    explained: int = 0
    refused: int = 0
    checks: Counter[tuple[str, str]] = field(default_factory=Counter)
    not_replayed: str = ""


def stop_import(file: ImportedFile) -> bool:
    """Ask an import to stop; what it has stored is taken out again. False when it has ended."""
    if _silent().filter(pk=file.pk).exists():
        bury_the_dead()
        return True
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
    # Of a row that is there already only these columns: somebody may have asked to stop while the file was measured.
    columns = tuple(row) if file.pk is not None else None
    bury_the_dead()
    for is_last in (False, False, True):
        try:
            with transaction.atomic():
                file.save(update_fields=columns)
                return file, True
        except IntegrityError:
            same = ImportedFile.objects.filter(content_sha256=source.content_sha256, state__in=ImportedFile.HELD)
            if held := same.first():
                return _known(file, held), False
            if is_last:  # it is not that another import of this content was stopped just now
                raise
    raise AssertionError("the last try returns or raises")


def _known(file: ImportedFile, held: ImportedFile) -> ImportedFile:
    if file.pk is not None:
        refuse(ImportedFile.objects.get(pk=file.pk), f"the same content was imported before, as {held.name}")
    return held


def bury_the_dead() -> list[ImportedFile]:
    """Take out what imports stored that died in the middle, and say so in their rows, which are returned."""
    buried = []
    for file in _silent():
        # A sign of life that comes just now keeps it.
        if _silent().filter(pk=file.pk).update(state=State.CANCELLED, reason=DIED, ended_at=timezone.now()):
            for run in Run.objects.filter(imported_from=file):
                recordings.forget(run.pk)
                run.delete()
            buried.append(file)
    return buried


def _silent() -> QuerySet[ImportedFile]:
    limit = timezone.now() - DEAD_AFTER
    silent = Q(heartbeat_at__lt=limit) | Q(heartbeat_at=None, imported_at__lt=limit)
    return ImportedFile.objects.filter(silent, state=State.IMPORTING)


def refuse(file: ImportedFile, why: str) -> Imported:
    """Write down that nothing of a file could be stored, and why."""
    file.state, file.reason, file.ended_at = State.REFUSED, storable(why), timezone.now()
    file.save()
    return Imported(file, "refused", why)
