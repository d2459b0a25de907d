"""Write a run in another tool's form."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from scenarios.formats.reference_run import FolderExists, export_folder
from scenarios.formats.run_records import run_export, trial_exports
from scenarios.models import Run, Trial


class Command(BaseCommand):
    """The reference system's run folder for its own tools, from any run that has ended trials."""

    help = "Write a run's ended trials as a folder of the reference system. Nothing is left behind on an error."

    def add_arguments(self, parser: CommandParser) -> None:
        """Which run, in which form, where to."""
        parser.add_argument("run", type=int, metavar="RUN", help="number of the run")
        parser.add_argument("--format", choices=["reference"], default="reference", help="default: %(default)s")
        parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder that gets the run folder")

    def handle(self, *args: Any, **options: Any) -> None:
        """Export, and say where it is and what was left out."""
        run = Run.objects.filter(pk=options["run"]).first()
        if run is None:
            raise CommandError(f"there is no run {options['run']}")
        ended = run.trials.filter(status__in=Trial.ENDED).count()
        if not ended:
            raise CommandError(f"run {run.pk} has no ended trial yet: nothing to export")
        try:
            folder = export_folder(run_export(run), trial_exports(run), options["out"])
        except (FolderExists, OSError) as error:
            raise CommandError(str(error)) from error
        still_open = run.trial_count - ended
        note = f"; {still_open} trials have not ended and are not in it" if still_open else ""
        self.stdout.write(f"{folder}: {ended} trials{note}")
