"""Judge the calls of a run again from the command line: what would flip, and with --save that it counts."""

import os
import sys
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console

from bots.wake import wake_batch
from evalsite.judging_report import as_json, as_text
from evalsite.management.commands.serve import prepare
from evalsite.services import call_services
from evalsite.supervisor import Service, StartFailed, Supervisor
from scenarios.judging.choice import Choice, check_runs, make_batch, request_save, request_stop
from scenarios.judging.results import Progress, progress, result
from scenarios.judging.work import OPEN
from scenarios.models import JudgeBatch, Profile, Trial

DONE, ERROR, INCOMPLETE = 0, 1, 12
POLL_S = 0.3
WORKER_S = 5.0  # a worker that runs takes a batch within a fraction of this
OWN_WORKER_S = 60.0  # and one of our own within this


class Command(BaseCommand):
    """One batch for people, scripts and CI."""

    help = (
        "Judge the calls of a run again with a judge's profile as it is now. Without --save it is a dry run. Uses the "
        "running workers or starts its own. Exit codes: 0 every call has a ruling, 1 error or failed canaries, "
        "12 incomplete. Ctrl-C stops."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Which calls, by whom, and whether it is to count."""
        parser.add_argument("run", type=int, metavar="RUN", help="number of the run")
        parser.add_argument("--judge", required=True, metavar="NAME", help="profile of the judge that is to rule")
        parser.add_argument(
            "--scenario", default="", metavar="NAME", help="only this call; all of its claims are ruled on"
        )
        parser.add_argument("--trial", type=int, default=1, metavar="N", help="which call of --scenario (%(default)s)")
        parser.add_argument("--outcome", default="", help="only calls with this outcome")
        parser.add_argument("--flagged", action="store_true", help="only calls with a claim to be looked at")
        parser.add_argument("--self", action="store_true", dest="is_self", help="ask twice about each call")
        how = parser.add_mutually_exclusive_group()
        how.add_argument("--dry-run", action="store_true", help="list what would flip (the default)")
        how.add_argument("--save", action="store_true", help="store the rulings once the canaries have passed")
        parser.add_argument("--json", action="store_true", dest="is_json", help="print the result as JSON")

    def handle(self, *, is_json: bool, save: bool, is_self: bool, **options: Any) -> None:
        """Judge, report, save."""
        if save and is_self:
            raise CommandError("--self measures agreement and saves nothing; leave --save out")
        prepare()
        console = Console(stderr=True)
        batch = _batch(options, JudgeBatch.Kind.SELF if is_self else JudgeBatch.Kind.REJUDGE, console)
        so_far = _work(batch, console)
        refused = ""
        if save:
            try:
                request_save(batch, None)
            except ValueError as problem:
                refused = str(problem)
            else:
                _work(batch, console)
        report = as_json if is_json else as_text
        self.stdout.write(report(batch, so_far, result(batch)))
        if refused:
            raise CommandError(f"not saved: {refused}")
        if batch.state == JudgeBatch.State.ERROR or batch.canaries == JudgeBatch.Canaries.QUARANTINED:
            raise SystemExit(ERROR)
        if so_far.done < so_far.total:
            raise SystemExit(INCOMPLETE)


def _batch(options: dict[str, Any], kind: JudgeBatch.Kind, console: Console) -> JudgeBatch:
    judges = Profile.objects.filter(kind="judge", is_archived=False)
    profile = judges.filter(slug=options["judge"]).first()
    if profile is None:
        known = ", ".join(judges.values_list("slug", flat=True)) or "none"
        raise CommandError(f"no judge is called {options['judge']!r}; there are {known}")
    try:
        values = {"runs": [options["run"]], "outcome": options["outcome"], "flagged": options["flagged"]}
        check_runs(Choice.read(values))
        choice = Choice.read({**values, "trial": _trial(options) if options["scenario"] else None})
        calls = choice.trials().count()
        asked = f"{calls} call{'' if calls == 1 else 's'} with {choice.claim_count} claims in all"
        if kind == JudgeBatch.Kind.SELF:
            console.print(f"{asked}, each asked about twice")
        else:
            console.print(f"{asked}, and 7 canaries: one request a call rules on all its claims")
        return make_batch(kind, choice, profile.frozen(), None)
    except ValueError as problem:
        raise CommandError(str(problem)) from problem


def _trial(options: dict[str, Any]) -> int:
    """Return the primary key of the one call that was asked for; ValueError when the run has none such."""
    run, name, number = options["run"], options["scenario"], options["trial"]
    found = Trial.objects.filter(run=run, scenario__name=name, number=number).values_list("pk", flat=True).first()
    if found is None:
        raise ValueError(f"run {run} has no trial {number} of {name!r}")
    return found


def _work(batch: JudgeBatch, console: Console) -> Progress:
    """Have a worker work on the batch and wait for it; Ctrl-C asks it to stop."""
    wake_batch(batch.pk)
    own: Supervisor | None = None
    began, was_taken = time.monotonic(), False
    try:
        while True:
            try:
                batch.refresh_from_db()
                was_taken = was_taken or batch.lease is not None
                if batch.state not in OPEN:
                    return progress(batch)
                if own is not None:
                    own.watch()
                elif not was_taken and time.monotonic() > began + WORKER_S:
                    console.print("no worker is running: starting one for this batch")
                    own = _start(batch, console.print)
                if not was_taken and time.monotonic() > began + OWN_WORKER_S:
                    raise StartFailed(f"no worker took batch {batch.pk} within {OWN_WORKER_S:.0f} s")
                time.sleep(POLL_S)
            except KeyboardInterrupt:
                console.print("stopping; what was answered stays")
                request_stop(batch)
    except StartFailed as error:
        request_stop(batch)
        raise CommandError(str(error)) from error
    finally:
        if own is not None:
            own.stop()


def _start(batch: JudgeBatch, say: Callable[[str], object]) -> Supervisor:
    calls = call_services()
    own = Supervisor({**os.environ, **calls.variables}, settings.BASE_DIR, say)
    # Judging needs no party server; a stand-in judge needs its endpoint.
    own.start([service for service in calls.services if service.name.startswith("stand-in")])
    own.start([Service("judging", [sys.executable, "-m", "bots.tasks", str(batch.pk)], may_end=True)])
    return own
