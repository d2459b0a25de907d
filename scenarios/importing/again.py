"""A file that is known already, the replays that its run lacks, and what all imports say of replays and of counts."""

import logging

from django.db import transaction

from scenarios.formats.imports.comparison import Rescored, rescore
from scenarios.formats.imports.records import ImportedRun, ImportedTrial
from scenarios.formats.imports.tasks import CannotReplay
from scenarios.importing.agreement import counted
from scenarios.importing.files import Imported, State
from scenarios.importing.rows import rows_of
from scenarios.models import ForeignResult, ImportedFile, Run, SignalResult, Verdict
from scenarios.storable import storable

NOT_ASKED = "not asked for: import with --rescore"
_log = logging.getLogger(__name__)


def already(file: ImportedFile, opened: ImportedRun, *, replay: bool, upstream: bool) -> Imported:
    """Return what became of content that is known; replays that its run lacks are added."""
    run = file.runs.first()
    if run is not None and replay and file.state != State.IMPORTING:
        _add_replays(run, opened, upstream=upstream)
    where = f"run {run.pk}" if run else "an import that is going on"
    return with_counts(Imported(file, "already", f"the same content was imported before: {where}", run))


def _add_replays(run: Run, opened: ImportedRun, *, upstream: bool) -> None:
    """Replay the calls of a run that was imported without."""
    lacking = ForeignResult.objects.filter(trial__run=run, why_not_replayed=NOT_ASKED).select_related("trial")
    by_place = {foreign.place: foreign for foreign in lacking}
    for call in opened.trials() if by_place else ():
        foreign = by_place.get(storable(call.place)[:300])
        if foreign is None:
            continue
        trial = foreign.trial
        rows = rows_of(
            run, trial.scenario_id, trial.number, trial.position, call, replayed_or_why(opened, call, upstream)
        )
        rows.foreign.pk, rows.foreign.trial = foreign.pk, trial
        with transaction.atomic():
            rows.foreign.save()
            for signal in rows.signals:
                SignalResult.objects.update_or_create(
                    trial=trial,
                    scoring=1,
                    signal=signal.signal,
                    defaults={
                        "state": signal.state,
                        "value": signal.value,
                        "detail": signal.detail,
                        "is_gating": signal.is_gating,
                    },
                )
            for verdict in rows.verdicts:  # the file's rulings stay; ours come beside them
                same = Verdict.objects.filter(trial=trial, scoring=1, signal=verdict.signal, index=verdict.index)
                same.update(detail=verdict.detail)


def with_counts(imported: Imported) -> Imported:
    """Return it with the counts of its run."""
    if imported.run is not None:
        counts = counted(imported.run)
        for name, count in counts.items():
            setattr(imported, name, count)
    imported.refused = len(imported.file.refused)
    return imported


def replayed_or_why(opened: ImportedRun, call: ImportedTrial, upstream: bool) -> Rescored | str:
    """Return a call's replay, or why there is none."""
    try:
        return rescore(opened, call, upstream=upstream)
    except CannotReplay as problem:
        return str(problem)
    except Exception as fault:  # its call is shown all the same
        _log.exception("replay of %s", call.place)
        return fault_here(fault)


def fault_here(fault: Exception) -> str:
    """Return how a defect of ours is told: the file is not to blame, and the log has where it was."""
    said = " ".join(str(fault).split())[:200]
    return f"a fault of Callboard's own, which its log has in full ({type(fault).__name__}: {said}). Please report it"
