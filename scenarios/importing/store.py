"""Reading a foreign file into rows: streaming, once a content, and all of it or none where it breaks off badly."""

import hashlib
import json
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from scenarios.domains import load
from scenarios.formats.imports.comparison import Rescored
from scenarios.formats.imports.detect import open_import
from scenarios.formats.imports.lint import Lint, LintFinding, result_vector
from scenarios.formats.imports.records import ImportedRun, ImportedTrial
from scenarios.formats.imports.source import DamagedFile
from scenarios.formats.imports.tasks import CannotReplay, domain_of, scenario_name, task_fingerprint, task_to_replay
from scenarios.importing import config, recordings
from scenarios.importing.again import NOT_ASKED, already, fault_here, replayed_or_why, with_counts
from scenarios.importing.files import DIED, Imported, State, refuse, register
from scenarios.importing.rows import TrialRows, rows_of
from scenarios.models import (
    Finding,
    ForeignResult,
    ImportedFile,
    Run,
    Scenario,
    SignalResult,
    Trial,
    TrialEvent,
    Verdict,
)
from scenarios.storable import storable

# Calls that are written in one transaction.
_CHUNK = 20
_MAX_FINDINGS = 500
# Runs with fewer calls than this may go alike in every call by chance.
_ALIKE_FROM = 10


_BEAT_S = 5
_log = logging.getLogger(__name__)


class _Stopped(Exception):
    """Somebody asked to stop, or took this import for dead."""


def import_path(
    path: Path,
    person: Any = None,
    *,
    name: str = "",
    replay: bool = False,
    upstream: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Imported:
    """Store the run that a file or folder holds; says what became of it, and raises for nothing that a file may hold.

    ``replay`` runs the tool calls again and recomputes the database verdict; ``upstream`` with tau2's own defects.
    The same content is stored once: a second import finds the first, and adds replays that it lacks.
    """
    title = storable(name or path.name)[:300]
    try:
        opened = open_import(path)
    except DamagedFile as problem:
        return refuse(ImportedFile(name=title, imported_by=person), str(problem))
    return store(opened, person, name=title, replay=replay, upstream=upstream, progress=progress)


def store(
    opened: ImportedRun,
    person: Any = None,
    *,
    name: str,
    file: ImportedFile | None = None,
    replay: bool = False,
    upstream: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Imported:
    """Store an opened run; see ``import_path``. ``file`` is the row to fill, where there is one already."""
    file, is_new = register(opened, person, name, file)
    if not is_new:
        return already(file, opened, replay=replay, upstream=upstream)
    storing = _Storing(opened, file, replay, upstream, progress)
    try:
        return storing.store(person)
    except Exception as fault:  # no file may end the others of its folder, or be left without a line
        _log.exception("import of %s", file.name)
        storing.withdraw()
        return refuse(ImportedFile.objects.get(pk=file.pk), fault_here(fault))
    except BaseException:
        storing.withdraw()
        ImportedFile.objects.filter(pk=file.pk).update(
            state=State.CANCELLED, reason="broke off", ended_at=timezone.now()
        )
        raise


@dataclass
class _Storing:
    """The state of one import while it goes on."""

    opened: ImportedRun
    file: ImportedFile
    replay: bool
    upstream: bool
    progress: Callable[[int], None] | None
    run: Run | None = None
    domain: str = ""
    scenarios: dict[str, int] = field(default_factory=dict)
    fingerprints: dict[str, str] = field(default_factory=dict)
    numbers: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    outcomes: dict[str, str] = field(default_factory=dict)
    trial_pks: list[int] = field(default_factory=list)
    damage: str = ""
    is_heard: bool = False  # a call has a recording
    beaten_at: float = 0.0

    def store(self, person: Any) -> Imported:
        lint = Lint(self.opened)
        why = ""
        try:
            for chunk in self._chunks(lint):
                self._write(chunk, person)
            why = self.damage
        except _Stopped as stopped:
            self.withdraw()
            reason = str(stopped)
            self._end(State.CANCELLED, reason)
            return Imported(self.file, "cancelled", reason)
        if self.run is None:
            reason = why or self._nothing()
            self._end(State.REFUSED, reason)
            return Imported(self.file, "refused", reason, refused=len(self.file.refused))
        self._close(lint)
        refused = len(self.opened.refused)
        if refused and not why:
            why = f"{refused} of its calls could not be read; the first: {self.opened.refused[0].text}"
        self._end(State.PARTLY if why else State.IMPORTED, why)
        return with_counts(Imported(self.file, "partly" if why else "imported", why, self.run))

    def withdraw(self) -> None:
        """Take out what was stored."""
        if self.run is not None:
            recordings.forget(self.run.pk)
            self.run.delete()
            self.run = None

    def _chunks(self, lint: Lint) -> Iterator[list[tuple[ImportedTrial, Rescored | str]]]:
        """Yield calls with their replays, some at a time; what was read before damage counts, which ends the file."""
        chunk: list[tuple[ImportedTrial, Rescored | str]] = []
        try:
            for call in self.opened.trials():
                replayed = replayed_or_why(self.opened, call, self.upstream) if self.replay else NOT_ASKED
                lint.see(call, replayed)
                self._beat()
                chunk.append((call, replayed))
                if len(chunk) == _CHUNK:
                    yield chunk
                    chunk = []
        except DamagedFile as problem:
            self.damage = str(problem)
        if chunk:
            yield chunk

    def _write(self, chunk: Sequence[tuple[ImportedTrial, Rescored | str]], person: Any) -> None:
        with transaction.atomic():
            if self.run is None:
                self.domain = self._domain_name(chunk[0][0])
                self.run = self._new_run(person)
            rows = [self._rows(call, replayed) for call, replayed in chunk]
            _write_rows(rows)
            self.trial_pks += [row.trial.pk for row in rows]
            self._sign_of_life(trial_count=len(self.trial_pks))
        for (call, _), row in zip(chunk, rows, strict=True):
            name = next(name for name, pk in self.scenarios.items() if pk == row.trial.scenario_id)
            self.is_heard |= recordings.keep_of(call, row.trial, name, self.opened.remarks)
            self._beat()
        if self.progress is not None:
            self.progress(len(self.trial_pks))

    def _beat(self) -> None:
        """Give a sign of life between two chunks, which may be far apart where calls are long."""
        if time.monotonic() - self.beaten_at > _BEAT_S:
            self._sign_of_life()

    def _sign_of_life(self, **columns: Any) -> None:
        self.beaten_at = time.monotonic()
        files = ImportedFile.objects.filter(pk=self.file.pk, state=State.IMPORTING)
        if not files.update(heartbeat_at=timezone.now(), **columns):
            raise _Stopped(DIED)
        if files.filter(stop_requested=True).exists():
            raise _Stopped("stopped by a person; nothing of it was kept")

    def _domain_name(self, call: ImportedTrial) -> str:
        try:
            return domain_of(self.opened, call)[0].name
        except CannotReplay:
            return config.slug(self.opened.domain_name)

    def _new_run(self, person: Any) -> Run:
        model = self.opened.agent.model or self.opened.agent.implementation or ""
        return Run.objects.create(
            title=storable(f"{self.file.name}{f' ({model})' if model and model not in self.file.name else ''}")[:200],
            domain=self.domain,
            config=config.config_of(self.opened, self.domain, {}, 1),
            fingerprint="",
            trial_count=0,
            launched_by=person,
            imported_from=self.file,
            is_rehearsal=bool(self.opened.facts.get("is_rehearsal")),
        )

    def _rows(self, call: ImportedTrial, replayed: Rescored | str) -> TrialRows:
        assert self.run is not None
        name = self._scenario_name(call, replayed)
        if name not in self.scenarios:
            self.scenarios[name] = self._scenario(name, call)
            self.fingerprints[name] = self._fingerprint(call)
        scenario = self.scenarios[name]
        number = self._number(scenario, call.trial)
        position = sum(map(len, self.numbers.values())) - 1
        rows = rows_of(self.run, scenario, number, position, call, replayed)
        self.outcomes[f"{name}#{number}"] = rows.trial.outcome
        return rows

    def _scenario_name(self, call: ImportedTrial, replayed: Rescored | str) -> str:
        if isinstance(replayed, Rescored):
            return replayed.replay.task.spec.name
        is_tau_bench = self.opened.format == "tau_bench"
        return str(storable(scenario_name(self.domain, call.task_id, is_tau_bench=is_tau_bench)))

    def _fingerprint(self, call: ImportedTrial) -> str:
        """Return the fingerprint of a call's task; of the file's own words where it is none that we can read."""
        try:
            return task_fingerprint(task_to_replay(self.opened, call).spec)
        except CannotReplay:
            definition = json.dumps(dict(call.task.definition) if call.task else {}, sort_keys=True, default=str)
            return hashlib.sha256(definition.encode("utf-8", "replace")).hexdigest()

    def _scenario(self, name: str, call: ImportedTrial) -> int:
        domain = load().get(self.domain)
        row, _ = Scenario.objects.get_or_create(
            name=name,
            defaults={
                "domain": self.domain,
                "fingerprint": "",
                "is_registered": False,
                "position": 100_000 + len(self.scenarios),
                "title": "" if domain else "known from imports only",
                "search_text": name.lower(),
            },
        )
        return row.pk

    def _number(self, scenario: int, trial: int | None) -> int:
        """Return the trial's number: the file's, which counts from 0, else the next that is free."""
        taken = self.numbers[scenario]
        wanted = trial + 1 if trial is not None and 0 <= trial < 1_000_000 else 0
        number = wanted if wanted and wanted not in taken else max(taken, default=0) + 1
        taken.add(number)
        return number

    def _close(self, lint: Lint) -> None:
        assert self.run is not None
        trials = max(max(numbers) for numbers in self.numbers.values())
        frozen = config.config_of(self.opened, self.domain, self.fingerprints, trials)
        if self.is_heard:
            frozen["channel"] = "voice"
        frozen["imported"]["result_vector"] = result_vector(self.outcomes)
        costs = list(self.run.trials.filter(cost__isnull=False).values_list("cost", flat=True))
        Run.objects.filter(pk=self.run.pk).update(
            config=frozen,
            fingerprint=config.fingerprint_of(frozen),
            trial_count=len(self.trial_pks),
            channel=frozen["channel"],
            cost=sum(cost or 0 for cost in costs) if costs else None,
        )
        self.run.refresh_from_db()
        found = [*lint.findings(), *self._alike()]
        Finding.objects.bulk_create(self._finding(one) for one in found[:_MAX_FINDINGS])

    def _alike(self) -> Iterator[LintFinding]:
        """Yield runs that went alike in every call though another model is named."""
        assert self.run is not None
        if len(set(self.outcomes.values())) < 2 or len(self.outcomes) < _ALIKE_FROM:
            return
        vector = self.run.config["imported"]["result_vector"]
        for other in Run.objects.filter(config__imported__result_vector=vector).exclude(pk=self.run.pk):
            if other.config["agent"]["model"] != self.run.config["agent"]["model"]:
                text = (
                    f"all {len(self.outcomes)} calls went as in run {other.pk} ({other.config['agent']['slug']}), "
                    "which names another model: one of the two may be a copy"
                )
                yield LintFinding("error", "identical_results", text)

    def _finding(self, found: LintFinding) -> Finding:
        return Finding(
            run=self.run,
            trial_id=self.trial_pks[found.position] if found.position is not None else None,
            severity=found.severity,
            code=found.code,
            place=storable(found.place)[:300],
            text=storable(found.text),
        )

    def _nothing(self) -> str:
        if self.opened.refused:
            return f"none of its {len(self.opened.refused)} calls could be read: {self.opened.refused[0].text}"
        return f"{self.file.name} holds no calls: the run never began, or its calls are in other files. Give those."

    def _end(self, state: str, reason: str) -> None:
        as_rows = [{"severity": one.severity, "place": one.place, "text": one.text} for one in self.opened.remarks]
        refused = [{"severity": one.severity, "place": one.place, "text": one.text} for one in self.opened.refused]
        file = self.file
        file.state, file.reason, file.ended_at = state, storable(reason), timezone.now()
        file.version = (self.opened.version or "")[:40]
        file.remarks, file.refused, file.trial_count = storable(as_rows), storable(refused), len(self.trial_pks)
        file.save()


def _write_rows(rows: Sequence[TrialRows]) -> None:
    Trial.objects.bulk_create([row.trial for row in rows])
    for row in rows:
        children: tuple[Any, ...] = (row.foreign, *row.events, *row.signals, *row.verdicts)
        for child in children:
            child.trial = row.trial
    ForeignResult.objects.bulk_create([row.foreign for row in rows])
    TrialEvent.objects.bulk_create([event for row in rows for event in row.events], batch_size=500)
    SignalResult.objects.bulk_create([signal for row in rows for signal in row.signals])
    Verdict.objects.bulk_create([verdict for row in rows for verdict in row.verdicts])
