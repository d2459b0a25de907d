"""Write a run in another tool's form."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evalsite.exporting import chosen_trials, in_words
from evalsite.filters import TrialFilter
from scenarios.domains.base import SIGNALS
from scenarios.formats.exports.form import CannotExport, Export, write_file
from scenarios.formats.exports.registry import REFERENCE, RUN_FORMATS
from scenarios.formats.reference_run import FolderExists, export_folder
from scenarios.formats.run_records import export_of
from scenarios.models import Run, Trial
from scenarios.scoring.results import OUTCOMES


class Command(BaseCommand):
    """Ended trials of a run, or those that a filter chooses, in any of the forms that the run page offers."""

    help = "Write a run's ended trials in another tool's form. Nothing is left behind on an error."

    def add_arguments(self, parser: CommandParser) -> None:
        """Which run, which of its trials, in which form, where to."""
        parser.add_argument("run", type=int, metavar="RUN", help="number of the run")
        forms = "; ".join(f"{form.name}: {form.title} ({form.lacks})" for form in RUN_FORMATS.values())
        parser.add_argument(
            "--format", choices=list(RUN_FORMATS), default="reference", help=f"default: %(default)s. {_plain(forms)}"
        )
        parser.add_argument(
            "-o",
            "--out",
            type=Path,
            required=True,
            metavar="PATH",
            help="file to write, or a folder that gets it; for the reference form a folder that gets the run folder, "
            "or a name that ends in .zip; never replaces what is there",
        )
        parser.add_argument("--outcome", action="append", choices=OUTCOMES, default=[], help="only these; may repeat")
        parser.add_argument("--signal", choices=SIGNALS, default="", help="only trials that failed this signal")
        parser.add_argument("--tag", default="", help="only scenarios with this tag")
        parser.add_argument("--search", default="", metavar="WORDS", help="only scenarios with these words")

    def handle(self, *args: Any, **options: Any) -> None:
        """Export, and say where it is and what was left out."""
        run = Run.objects.select_related("imported_from").filter(pk=options["run"]).first()
        if run is None:
            raise CommandError(f"there is no run {options['run']}")
        form, out = RUN_FORMATS[options["format"]], options["out"]
        chosen = TrialFilter(signal=options["signal"], tag=options["tag"], q=options["search"])
        trials, words = chosen_trials(run, chosen, options["outcome"]), in_words(chosen, options["outcome"])
        count = trials.filter(status__in=Trial.ENDED).count()
        if not count:
            which = f" that is {words}" if words else " yet"
            raise CommandError(f"run {run.pk} has no ended trial{which}: nothing to export")
        export = export_of(run, form, trials=trials, chosen=words)
        try:
            written = (
                _folder(export, out) if form is REFERENCE and out.suffix != ".zip" else write_file(form, export, out)
            )
        except (FolderExists, CannotExport, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{written}: {count} trials{_notes(export)}")


def _folder(export: Export, out: Path) -> Path:
    return export_folder(export.run, export.trials(), out)


def _notes(export: Export) -> str:
    run = export.run
    notes = [
        f"only {export.chosen}" if export.chosen else "",
        f"{run.not_ended} trials have not ended and are not in it" if run.not_ended else "",
        "a rehearsal: a party or the judge is a stand-in" if run.is_rehearsal else "",
    ]
    return "".join(f"; {note}" for note in notes if note)


def _plain(text: str) -> str:
    """Return a help text in which nothing is taken for a placeholder."""
    return text.replace("%", "%%")
