"""Attribute failed calls by rule that were scored before, or since their attribution."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from scenarios import faults
from scenarios.models import Run

_AT_ONCE = 200


class Command(BaseCommand):
    """``manage.py attribute_faults [RUN...]``."""

    help = (
        "Say whose fault failed calls are, as far as their records decide it. Lanes do this for each call they end; "
        "this is for calls that were scored, imported or reviewed otherwise. Safe to repeat."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Which runs."""
        parser.add_argument("runs", nargs="*", type=int, metavar="RUN", help="numbers of runs; none: all of them")

    def handle(self, *args: Any, **options: Any) -> None:
        """Attribute, run by run; exit with 1 when a number is of no run."""
        runs = Run.objects.in_bulk(options["runs"]) if options["runs"] else Run.objects.in_bulk()
        if missing := sorted(set(options["runs"]) - set(runs)):
            raise CommandError(f"there is no run {', '.join(map(str, missing))}")
        total = 0
        for run in runs.values():
            wanted, decided = faults.due(run), 0
            for start in range(0, len(wanted), _AT_ONCE):
                decided += faults.attribute(wanted[start : start + _AT_ONCE])
                self.stderr.write(f"run {run.pk}: {min(start + _AT_ONCE, len(wanted))} of {len(wanted)}")
            if wanted:
                self.stdout.write(f"run {run.pk}: {len(wanted)} calls read, {decided} have a side now")
            total += len(wanted)
        if not total:
            self.stdout.write("nothing to attribute: every failed call is attributed as it is scored")
